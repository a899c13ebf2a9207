"""The time that jobs have used: all attempts for a training run, otherwise the last one, from its benchmark file."""

import csv
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from workflow_scripts.plan.jobs import Cost, Job, total
from xling.core.errors import InputError
from xling.core.io import read_json, read_lines

PROVENANCE, METRICS = "provenance.json", "metrics.jsonl"
COLUMNS = {"wall": "s", "cpu": "cpu_time", "memory": "max_rss"}  # columns of Snakemake's benchmark files
UNMEASURED = (None, "", "NA", "-")  # values that Snakemake writes if a job ended before it was measured


def used_by(job: Job, on_gpu: bool) -> Cost | None:
    """Return the cost of a job, None without a record; it ignores the CPU time of a benchmark, which is sampled."""
    if record := training_record(job):
        return total(attempts(record))
    if not job.benchmark or not Path(job.benchmark).is_file():
        return None
    wall = read_benchmark(Path(job.benchmark))["wall"]
    return Cost(wall, wall * job.threads, wall * job.gpus if on_gpu else 0.0)


def training_record(job: Job) -> Path | None:
    """Return the provenance.json of a training run; it has metrics beside it, unlike that of the study."""
    files = {Path(path) for path in job.outputs}
    found = [path for path in files if path.name == PROVENANCE and path.with_name(METRICS) in files and path.is_file()]
    return found[0] if found else None


def ran_on_gpu(jobs: Iterable[Job], otherwise: bool) -> bool:
    """Return whether the training runs among the jobs used GPUs, or `otherwise` if there are none."""
    told = [total(attempts(record)).gpu > 0 for job in jobs if (record := training_record(job))]
    return any(told) if told else otherwise


def attempts(path: Path) -> list[Cost]:
    """Return the cost of each attempt of a training run, from its provenance.json.

    A killed attempt did not record its duration, so it counts up to the last complete line of its metrics. Times are
    UTC text, which sorts in the order of time.
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
    """Return the wall seconds, CPU seconds and peak memory (MB) of a job's last attempt, from its benchmark file."""
    rows = list(csv.DictReader(read_lines(path), delimiter="\t"))
    if not rows or "s" not in rows[0]:
        raise InputError(path, "not a benchmark of Snakemake's: no column 's'", line=1, fix="delete it")
    texts = {key: [row.get(column) for row in rows] for key, column in COLUMNS.items()}
    values = {key: [0.0 if text in UNMEASURED else float(text) for text in found] for key, found in texts.items()}
    return {key: max(found) if key == "memory" else sum(found) for key, found in values.items()}


def unfinished(folder: Path) -> Cost:
    """Return the cost so far of the unfinished training runs in a folder."""
    return total(used for path in sorted(folder.glob(f"*/{PROVENANCE}")) for used in attempts(path))
