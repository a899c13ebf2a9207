"""The jobs of a target, from a dry run of Snakemake, so that what is done is left out, and what a job costs."""

import contextlib
import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
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
        return Cost(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    return sum(costs, Cost())


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

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(getattr(record, "event", None), "value", None) == "job_info":
            self.jobs.append(_job(record))
        if record.levelno >= logging.ERROR:
            self.errors.append(str(record.getMessage()).strip())
        return record.levelno >= logging.ERROR


def _job(record: Any) -> Job:
    return Job(
        number=record.jobid,
        rule=record.rule_name,
        wildcards=dict(record.wildcards or {}),
        inputs=tuple(map(str, record.input or ())),
        outputs=tuple(map(str, record.output or ())),
        threads=record.threads,
        resources=dict(record.resources.items()),
        benchmark=record.benchmark,
    )


def dependencies(jobs: Iterable[Job]) -> dict[int, set[int]]:
    """Return for each job the jobs whose files it reads."""
    jobs = list(jobs)
    maker = {path: job.number for job in jobs for path in job.outputs}
    return {job.number: {maker[path] for path in job.inputs if path in maker} - {job.number} for job in jobs}


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """Return jobs so that each rule comes after the rules it depends on, one rule after the other."""
    needs = dependencies(jobs)
    level: dict[int, int] = {}
    for number in TopologicalSorter(needs).static_order():
        level[number] = 1 + max((level[other] for other in needs[number]), default=0)
    of_rule: dict[str, int] = {}
    for job in jobs:
        of_rule[job.rule] = max(level[job.number], of_rule.get(job.rule, 0))
    return sorted(jobs, key=lambda job: (of_rule[job.rule], job.rule, job.number))


def longest_chain(jobs: Sequence[Job], costs: Mapping[int, Cost]) -> tuple[float, list[Job]]:
    """Return the seconds that no number of machines can save, and the jobs that take them, first to last."""
    by_number, needs = {job.number: job for job in jobs}, dependencies(jobs)
    ends: dict[int, float] = {}
    before: dict[int, int | None] = {}
    for number in TopologicalSorter(needs).static_order():
        last = max(sorted(needs[number]), key=lambda other: ends[other], default=None)
        before[number] = last
        ends[number] = costs[number].seconds + (ends[last] if last is not None else 0.0)
    chain: list[Job] = []
    step = max(sorted(ends), key=lambda number: ends[number], default=None)
    total = ends[step] if step is not None else 0.0
    while step is not None:
        chain.append(by_number[step])
        step = before[step]
    return total, chain[::-1]
