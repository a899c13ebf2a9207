"""What jobs have used: all attempts of a training run, and for other jobs the last, from its benchmark file."""

import csv
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from workflow_scripts.plan.jobs import Cost, Job, total
from xling.core.errors import InputError
from xling.core.io import read_json, read_lines

PROVENANCE, METRICS = "provenance.json", "metrics.jsonl"
COLUMNS = {"wall": "s", "cpu": "cpu_time", "memory": "max_rss"}  # of Snakemake's benchmark files
UNMEASURED = (None, "", "NA", "-")  # what Snakemake writes if a job was over before it could be measured


def used_by(job: Job, on_gpu: bool) -> Cost | None:
    """Return what a job has used, None without a record; of a benchmark the wall time, because CPU time is sampled."""
    if record := training_record(job):
        return total(attempts(record))
    if not job.benchmark or not Path(job.benchmark).is_file():
        return None
    wall = read_benchmark(Path(job.benchmark))["wall"]
    return Cost(wall, wall * job.threads, wall * job.gpus if on_gpu else 0.0)


def training_record(job: Job) -> Path | None:
    """Return the record of a training run: beside its metrics, because a study has a file of that name too."""
    files = {Path(path) for path in job.outputs}
    found = [path for path in files if path.name == PROVENANCE and path.with_name(METRICS) in files and path.is_file()]
    return found[0] if found else None


def ran_on_gpu(jobs: Iterable[Job], otherwise: bool) -> bool:
    """Return whether the jobs of a study had GPUs, as far as its training runs tell: benchmarks say nothing of it."""
    told = [total(attempts(record)).gpu > 0 for job in jobs if (record := training_record(job))]
    return any(told) if told else otherwise


def attempts(path: Path) -> list[Cost]:
    """Return what each attempt of a training run used, from its provenance.json.

    A killed attempt could not write how long it took: it counts up to the last whole line of its metrics. Times are UTC
    as text, which sorts as they do.
    """
    metrics, times = path.with_name(METRICS), list[str]()
    for line in metrics.read_text(encoding="utf-8").splitlines() if metrics.is_file() else []:
        try:
            times.append(str(json.loads(line)["time"]))
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    known, found = read_json(path)["attempts"], []
    for attempt, end in zip(known, [*(later["began"] for later in known[1:]), "9"], strict=True):
        seen = [attempt["began"], *(time for time in times if attempt["began"] <= time < end)]
        began, last = (datetime.fromisoformat(time) for time in (seen[0], seen[-1]))
        seconds = attempt.get("seconds", (last - began).total_seconds())
        held, on_cpu = seconds * int(attempt.get("processes", 1)), str(attempt.get("device", "")).startswith("CPU")
        found.append(Cost(seconds, held, 0.0 if on_cpu else held))
    return found


def read_benchmark(path: Path) -> dict[str, float]:
    """Return wall and processor seconds and peak memory (MB) of a job's last attempt from Snakemake's file."""
    rows = list(csv.DictReader(read_lines(path), delimiter="\t"))
    if not rows or "s" not in rows[0]:
        raise InputError(path, "not a benchmark of Snakemake's: no column 's'", line=1, fix="delete it")
    texts = {key: [row.get(column) for row in rows] for key, column in COLUMNS.items()}
    values = {key: [0.0 if text in UNMEASURED else float(text) for text in found] for key, found in texts.items()}
    return {key: max(found) if key == "memory" else sum(found) for key, found in values.items()}


def unfinished(folder: Path) -> Cost:
    """Return what the runs that resume from a folder have used so far."""
    return total(used for path in sorted(folder.glob(f"*/{PROVENANCE}")) for used in attempts(path))
