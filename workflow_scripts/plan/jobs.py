"""The jobs of a target, from a dry run of Snakemake, so that what is done is left out, and what a job costs."""

import contextlib
import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from xling.core.errors import XlingError


@dataclass(frozen=True)
class Job:
    """One job of the DAG."""

    number: int
    rule: str
    wildcards: Mapping[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    threads: int = 1
    resources: Mapping[str, Any] = field(default_factory=dict)
    benchmark: str | None = None

    @property
    def gpus(self) -> int:
        """The GPUs that it asks for in all: `gpu`, or `gres` (gpu:2, gpu:a100:2) on each of its nodes."""
        if self.resources.get("gpu"):
            return int(self.resources["gpu"])
        words = str(self.resources.get("gres") or "").split(":")
        if words[0] != "gpu":
            return 0
        return (int(words[-1]) if words[-1].isdecimal() else 1) * int(self.resources.get("nodes") or 1)


@dataclass(frozen=True)
class Cost:
    """Wall seconds of a job, seconds of cores and of GPUs, bytes that stay on disk and bytes to fetch."""

    seconds: float = 0.0
    cpu: float = 0.0
    gpu: float = 0.0
    disk: float = 0.0
    download: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Return both together."""
        return Cost(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def total(costs: Iterable[Cost | None]) -> Cost:
    """Return the sum of the costs that are known."""
    return sum((cost for cost in costs if cost), Cost())


def dry_run(arguments: Sequence[str]) -> list[Job]:
    """Return the jobs that `snakemake --dry-run` with these arguments would run."""
    from snakemake import cli
    from snakemake.logging import logger

    listener = _Listener()
    logger.addFilter(listener)
    code: Any = 0
    try:
        # Snakemake says on standard output what it has to say, and a plan is printed there.
        with contextlib.redirect_stdout(sys.stderr):
            cli.main(["--dry-run", "--nolock", *arguments])
    except SystemExit as left:
        code = left.code
    finally:
        logger.removeFilter(listener)
    if code:
        raise XlingError(listener.errors[-1] if listener.errors else "Snakemake could not lay out the jobs (see above)")
    return listener.jobs


class _Listener(logging.Filter):
    """Hears every event that Snakemake logs, keeps the jobs and lets only errors through."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[Job] = []
        self.errors: list[str] = []

    def filter(self, record: Any) -> bool:
        if getattr(getattr(record, "event", None), "value", None) == "job_info":
            inputs, outputs = (tuple(map(str, found or ())) for found in (record.input, record.output))
            about = (dict(record.wildcards or {}), inputs, outputs, record.threads, dict(record.resources.items()))
            self.jobs.append(Job(record.jobid, record.rule_name, *about, record.benchmark))
        if record.levelno >= logging.ERROR:
            self.errors.append(str(record.getMessage()).strip())
        return bool(record.levelno >= logging.ERROR)


def dependencies(jobs: Iterable[Job]) -> dict[int, set[int]]:
    """Return for each job the jobs whose files it reads."""
    jobs = list(jobs)
    maker = {path: job.number for job in jobs for path in job.outputs}
    return {job.number: {maker[path] for path in job.inputs if path in maker} - {job.number} for job in jobs}


def by_rule(jobs: Sequence[Job]) -> dict[str, list[Job]]:
    """Return jobs by rule; each rule comes after the rules that it depends on."""
    needs = dependencies(jobs)
    level: dict[int, int] = {}
    for number in TopologicalSorter(needs).static_order():
        level[number] = 1 + max((level[other] for other in needs[number]), default=0)
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(job.rule, []).append(job)
    return dict(sorted(found.items(), key=lambda item: (max(level[job.number] for job in item[1]), item[0])))


def longest_chain(jobs: Sequence[Job], seconds: Mapping[int, float]) -> tuple[float, list[Job]]:
    """Return the seconds that no number of machines can save, and the jobs that take them, first to last."""
    by_number, needs = {job.number: job for job in jobs}, dependencies(jobs)
    chains: dict[int, tuple[float, list[Job]]] = {}
    for number in TopologicalSorter(needs).static_order():
        longest = max((chains[other] for other in sorted(needs[number])), key=lambda chain: chain[0], default=(0.0, []))
        chains[number] = (longest[0] + seconds[number], [*longest[1], by_number[number]])
    return max((chains[number] for number in sorted(chains)), key=lambda chain: chain[0], default=(0.0, []))
