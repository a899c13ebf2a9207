"""What jobs have used: all attempts of a training run, and for other jobs the last, from its benchmark file."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workflow_scripts.plan.jobs import Cost, Job, total
from xling.core.errors import InputError
from xling.core.io import read_json

PROVENANCE, METRICS = "provenance.json", "metrics.jsonl"

Span = tuple[float, float]  # when a job ran: seconds since 1970


def used_by(job: Job, on_gpu: bool) -> Cost | None:
    """Return what a job has used, or None where there is no record of it."""
    if record := _provenance(job):
        return attempts(record)
    if file := _benchmark(job):
        return benchmarked(file, job.threads, job.gpus if on_gpu else 0)
    return None


def _provenance(job: Job) -> Path | None:
    """Return the record of a training run, which stands beside its metrics; a study has a file of that name too."""
    outputs = [Path(path) for path in job.outputs]
    runs = {path.parent for path in outputs if path.name == METRICS}
    files = [path for path in outputs if path.name == PROVENANCE and path.parent in runs and path.is_file()]
    return files[0] if files else None


def _benchmark(job: Job) -> Path | None:
    return Path(job.benchmark) if job.benchmark and Path(job.benchmark).is_file() else None


def attempts(path: Path) -> Cost:
    """Return what the attempts of a run used together.

    A killed attempt could not write how long it took: it counts up to the last line of its metrics.
    """
    return total(_attempt(attempt, seconds) for attempt, seconds in _known_attempts(path))


def _attempt(attempt: dict[str, Any], seconds: float) -> Cost:
    processes = int(attempt.get("processes", 1))
    return Cost(seconds, seconds * processes, seconds * processes if _had_gpu(attempt) else 0.0)


def _had_gpu(attempt: dict[str, Any]) -> bool:
    return not str(attempt.get("device", "")).startswith("CPU")


def _known_attempts(path: Path) -> list[tuple[dict[str, Any], float]]:
    """Return the attempts of a run, each with its seconds."""
    known = read_json(path)["attempts"]
    ends = [attempt["began"] for attempt in known[1:]]
    times = _metric_times(path.with_name(METRICS))
    return [(one, _seconds(one, end, times)) for one, end in zip(known, [*ends, "9"], strict=True)]


def _seconds(attempt: dict[str, Any], next_began: str, times: Sequence[str]) -> float:
    if attempt.get("seconds") is not None:
        return float(attempt["seconds"])
    seen = [time for time in times if attempt["began"] <= time < next_began]
    return _between(attempt["began"], seen[-1]) if seen else 0.0


def gpu_spans(job: Job, on_gpu: bool) -> list[Span]:
    """Return when a job had GPUs: attempts of a training run, else the seconds before its benchmark file."""
    if record := _provenance(job):
        return _trained(record)
    file = _benchmark(job) if on_gpu and job.gpus else None
    return [_benchmark_span(file)] if file else []


def other_spans(jobs: Iterable[Job], on_gpu: bool) -> list[Span]:
    """Return when jobs of the same rules had GPUs that are not among those named: of other seeds, say.

    Their records stand beside those of the jobs; a rule without wildcards has one job alone.
    """
    named = list(jobs)
    runs = {record for job in named if (record := _provenance(job))}
    others = {path for record in runs for path in record.parent.parent.glob(f"*/{PROVENANCE}")} - runs
    held = [job for job in named if on_gpu and job.gpus and job.wildcards and not _provenance(job)]
    files = {file for job in held if (file := _benchmark(job))}
    beside = {path for file in files for path in file.parent.glob(f"*{file.suffix}")} - files
    return [*(span for record in sorted(others) for span in _trained(record)), *map(_benchmark_span, sorted(beside))]


def _trained(record: Path) -> list[Span]:
    return [_span(one["began"], seconds) for one, seconds in _known_attempts(record) if _had_gpu(one)]


def _benchmark_span(file: Path) -> Span:
    end = file.stat().st_mtime
    return end - benchmarked(file, 1, 1).seconds, end


def _span(began: str, seconds: float) -> Span:
    start = datetime.fromisoformat(began).timestamp()
    return start, start + seconds


def covered(ran: Iterable[Span]) -> float:
    """Return for how long at least one of several jobs ran."""
    whole, reached = 0.0, float("-inf")
    for start, end in sorted(ran):
        whole += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return whole


def divided(own: Iterable[Span], others: Iterable[Span]) -> float:
    """Return what is some jobs' own of the time that they ran, every moment divided evenly by all that ran then."""
    moves = sorted((time, mine, step) for spans, mine in ((own, 1), (others, 0)) for time, step in _ends(spans))
    whole, before, running, ours = 0.0, 0.0, 0, 0
    for time, mine, step in moves:
        whole += (time - before) * ours / running if running else 0.0
        before, running, ours = time, running + step, ours + step * mine
    return whole


def _ends(spans: Iterable[Span]) -> Iterator[tuple[float, int]]:
    for start, end in spans:
        yield from ((start, 1), (end, -1))


def _metric_times(path: Path) -> list[str]:
    """Return the UTC times of a run's metrics as text, which sorts as they do; a half-written line has none."""
    times = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        try:
            times.append(str(json.loads(line)["time"]))
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    return times


def _between(began: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def benchmarked(path: Path, threads: int, gpus: int) -> Cost:
    """Return what Snakemake's benchmark file says of a job's last attempt.

    Only its wall time: the CPU time there is sampled, and for a short job often nothing.
    """
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    try:
        seconds = sum(float(row["s"]) for row in rows)
    except (KeyError, ValueError):
        raise InputError(path, "not a benchmark of Snakemake", fix="delete it") from None
    return Cost(seconds, seconds * threads, seconds * gpus)


def unfinished(folders: Iterable[Path]) -> Cost:
    """Return what runs have used that are not finished: they keep their record where they resume from."""
    return total(attempts(folder / PROVENANCE) for folder in sorted(folders) if (folder / PROVENANCE).is_file())
