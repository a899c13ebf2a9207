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

Attempts = list[tuple[float, Cost]]  # when each began, in seconds since 1970, and what it used


def used_by(job: Job, on_gpu: bool) -> Attempts:
    """Return the recorded attempts of a job; of a benchmark only the wall time, because its CPU time is sampled."""
    if record := training_record(job):
        return attempts(record)
    if not job.benchmark or not Path(job.benchmark).is_file():
        return []
    path = Path(job.benchmark)
    wall = read_benchmark(path)["wall"]
    return [(path.stat().st_mtime - wall, Cost(wall, wall * job.threads, wall * job.gpus if on_gpu else 0.0))]


def training_record(job: Job) -> Path | None:
    """Return the record of a training run: beside its metrics, because a study has a file of that name too."""
    files = {Path(path) for path in job.outputs}
    found = [path for path in files if path.name == PROVENANCE and path.with_name(METRICS) in files and path.is_file()]
    return found[0] if found else None


def ran_on_gpu(jobs: Iterable[Job], otherwise: bool) -> bool:
    """Return whether the jobs of a study had GPUs, as far as its training runs tell: benchmarks say nothing of it."""
    told = [cost.gpu > 0 for job in jobs if (record := training_record(job)) for _, cost in attempts(record)]
    return any(told) if told else otherwise


def attempts(path: Path) -> Attempts:
    """Return the attempts of a training run from its provenance.json.

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
        seen = [time for time in times if attempt["began"] <= time < end]
        start, last = (datetime.fromisoformat(time) for time in (attempt["began"], [attempt["began"], *seen][-1]))
        seconds = attempt.get("seconds", (last - start).total_seconds())
        processes, cpu = int(attempt.get("processes", 1)), str(attempt.get("device", "")).startswith("CPU")
        used = Cost(seconds, seconds * processes, 0.0 if cpu else seconds * processes)
        found.append((start.timestamp(), used))
    return found


def covered(ran: Attempts) -> float:
    """Return for how long at least one of several jobs held a GPU."""
    whole, reached = 0.0, float("-inf")
    for start, end in sorted((start, start + cost.seconds) for start, cost in ran if cost.gpu):
        whole += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return whole


def read_benchmark(path: Path) -> dict[str, float]:
    """Return wall and processor seconds and peak memory (MB) of a job's last attempt from Snakemake's file."""
    rows = list(csv.DictReader(read_lines(path), delimiter="\t"))
    if not rows or "s" not in rows[0]:
        raise InputError(path, "not a benchmark of Snakemake's: no column 's'", line=1, fix="delete it")
    texts = {key: [row.get(column) for row in rows] for key, column in COLUMNS.items()}
    values = {key: [0.0 if text in UNMEASURED else float(text) for text in found] for key, found in texts.items()}
    return {key: max(found) if key == "memory" else sum(found) for key, found in values.items()}


def unfinished(folders: Iterable[Path]) -> Cost:
    """Return what runs have used that are not finished: they keep their record where they resume from."""
    records = [folder / PROVENANCE for folder in sorted(folders) if (folder / PROVENANCE).is_file()]
    return total(cost for path in records for _, cost in attempts(path))
