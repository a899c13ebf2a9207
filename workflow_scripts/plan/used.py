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

Span = tuple[float, float]  # when a job ran: seconds since 1970


def used_by(job: Job, on_gpu: bool) -> Cost | None:
    """Return what a job has used, or None where there is no record of it.

    Of a benchmark only the wall time counts: the CPU time there is sampled, and for a short job often nothing.
    """
    if record := _provenance(job):
        return attempts(record)
    if job.benchmark and Path(job.benchmark).is_file():
        wall = read_benchmark(Path(job.benchmark))["wall"]
        return Cost(wall, wall * job.threads, wall * job.gpus if on_gpu else 0.0)
    return None


def _provenance(job: Job) -> Path | None:
    """Return the record of a training run, which stands beside its metrics; a study has a file of that name too."""
    files = {Path(path) for path in job.outputs}
    return next((p for p in files if p.name == PROVENANCE and p.with_name(METRICS) in files and p.is_file()), None)


def attempts(path: Path) -> Cost:
    """Return what the attempts of a run used together."""
    return total(cost for _, cost in _attempts(path))


def gpu_spans(job: Job, on_gpu: bool) -> list[Span]:
    """Return when a job had GPUs: the attempts of a training run, else the seconds before its benchmark file."""
    if record := _provenance(job):
        return [(start, start + cost.seconds) for start, cost in _attempts(record) if cost.gpu]
    used = used_by(job, on_gpu)
    if not used or not used.gpu:
        return []
    end = Path(str(job.benchmark)).stat().st_mtime
    return [(end - used.seconds, end)]


def covered(ran: Iterable[Span]) -> float:
    """Return for how long at least one of several jobs ran."""
    whole, reached = 0.0, float("-inf")
    for start, end in sorted(ran):
        whole += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return whole


def _attempts(path: Path) -> list[tuple[float, Cost]]:
    """Return when each attempt of a run began and what it used.

    A killed attempt could not write how long it took: it counts up to the last line of its metrics.
    """
    known, times, found = read_json(path)["attempts"], _metric_times(path.with_name(METRICS)), []
    for attempt, end in zip(known, [*(later["began"] for later in known[1:]), "9"], strict=True):
        seen = [time for time in times if attempt["began"] <= time < end]
        start, last = (datetime.fromisoformat(time) for time in (attempt["began"], [attempt["began"], *seen][-1]))
        seconds = attempt.get("seconds", (last - start).total_seconds())
        processes, cpu = int(attempt.get("processes", 1)), str(attempt.get("device", "")).startswith("CPU")
        used = Cost(seconds, seconds * processes, 0.0 if cpu else seconds * processes)
        found.append((start.timestamp(), used))
    return found


def _metric_times(path: Path) -> list[str]:
    """Return the UTC times of a run's metrics as text, which sorts as they do; a half-written line has none."""
    times = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        try:
            times.append(str(json.loads(line)["time"]))
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    return times


def read_benchmark(path: Path) -> dict[str, float]:
    """Return wall and processor seconds and peak memory (MB) of a job's last attempt from Snakemake's file."""
    rows = list(csv.DictReader(read_lines(path), delimiter="\t"))
    if not rows or "s" not in rows[0]:
        raise InputError(path, "not a benchmark of Snakemake's: no column 's'", line=1, fix="delete it")
    values = {key: [_number(row.get(column)) for row in rows] for key, column in COLUMNS.items()}
    return {key: max(found) if key == "memory" else sum(found) for key, found in values.items()}


def _number(text: str | None) -> float:
    """Snakemake writes NA or - where a job was over before it could be measured."""
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def unfinished(folders: Iterable[Path]) -> Cost:
    """Return what runs have used that are not finished: they keep their record where they resume from."""
    return total(attempts(folder / PROVENANCE) for folder in sorted(folders) if (folder / PROVENANCE).is_file())
