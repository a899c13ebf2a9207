"""The jobs of a target, from Snakemake's own DAG, the cost of a job, and the time that finished jobs have used.

The time of a training run counts all its attempts. That of other jobs is in their benchmark files: the last attempt.
"""

import csv
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.config import REPOSITORY, Config, read_yaml
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json, read_lines

CORES = 1024  # a large number, so that Snakemake does not reduce the threads of jobs to this machine's cores
PROVENANCE, METRICS = "provenance.json", "metrics.jsonl"
COLUMNS = {"wall": "s", "cpu": "cpu_time", "memory": "max_rss"}  # columns of Snakemake's benchmark files
UNMEASURED = (None, "", "NA", "-")  # values that Snakemake writes if a job ended before it was measured


@dataclass(frozen=True)
class Job:
    """One job of the DAG; `needs` are the numbers of the jobs that it depends on, `left` means that it must run."""

    number: int
    rule: str
    wildcards: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    needs: frozenset[int] = frozenset()
    left: bool = True
    threads: int = 1
    resources: Mapping[str, Any] = field(default_factory=dict)
    benchmark: str | None = None
    passing: bool = False  # Snakemake deletes its outputs after their last use

    @property
    def gpus(self) -> int:
        """The number of GPUs that the job asks for: `gpu`, or `gres` (gpu:2, gpu:a100:2) times the number of nodes."""
        if self.resources.get("gpu"):
            return int(self.resources["gpu"])
        words = str(self.resources.get("gres") or "").split(":")
        if words[0] != "gpu":
            return 0
        return (int(words[-1]) if words[-1].isdecimal() else 1) * int(self.resources.get("nodes") or 1)


class Cost(NamedTuple):
    """Wall, core and GPU seconds of a job, and bytes: kept on disk, downloaded, and on disk temporarily."""

    seconds: float = 0.0
    cpu: float = 0.0
    gpu: float = 0.0
    disk: float = 0.0
    download: float = 0.0
    passing: float = 0.0


UNKNOWN = Cost(*6 * [float("nan")])  # a sum with UNKNOWN is NaN too


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum of several costs."""
    return Cost(*map(sum, zip(*costs, strict=True)))


def open_dag(config: Config, targets: Iterable[str] = (), snakefile: Path = REPOSITORY / "Snakefile") -> Any:
    """Return Snakemake's DAG of all jobs for the targets, finished or not, as `snakemake --dry-run` builds it."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings import types

    triggers = read_yaml(REPOSITORY / "profiles/default/config.yaml")["rerun-triggers"]
    wanted = types.DAGSettings(
        targets=frozenset(targets),
        force_incomplete=True,
        rerun_triggers=types.RerunTrigger.parse_choices_set(triggers),
    )
    logging.disable(logging.WARNING)
    try:
        with SnakemakeApi(types.OutputSettings(quiet={types.Quietness.ALL}, dryrun=True)) as api:
            opened = api.workflow(
                resource_settings=types.ResourceSettings(cores=CORES),
                config_settings=types.ConfigSettings(config=dict(config)),
                snakefile=snakefile,
            )
            opened.dag(wanted)
            workflow = opened._workflow  # the public API does not give access to jobs
            workflow._prepare_dag(forceall=False, ignore_incomplete=False, lock_warn_only=True, nolock=True)
            workflow._build_dag()
            return workflow.dag
    except Exception as error:
        raise XlingError(f"Snakemake could not lay out the jobs: {error}") from None
    finally:
        logging.disable(logging.NOTSET)


def lay_out(config: Config, targets: Iterable[str] = ()) -> list[Job]:
    """Return all jobs for the targets; each job comes after the jobs that it depends on."""
    dag = open_dag(config, targets)
    return [
        Job(
            dag.jobid(job),
            job.rule.name,
            dict(job.wildcards_dict),
            tuple(map(str, job.output)),
            frozenset(dag.jobid(other) for other in dag.job_dependencies(job)),
            dag.needrun(job),
            job.threads,
            dict(job.resources.items()),
            str(job.benchmark) if job.benchmark else None,
            bool(job.temp_output),
        )
        for level in dag.toposorted()
        for job in sorted(level, key=lambda job: (job.rule.name, dag.jobid(job)))
    ]


def longest_chain(jobs: Sequence[Job], seconds: Mapping[int, float]) -> tuple[float, list[Job]]:
    """Return the longest chain of dependent jobs and its seconds, the shortest time on any number of machines.

    Jobs that are not in `seconds` take no time.
    """
    chains: dict[int, tuple[float, list[Job]]] = {}
    longest: tuple[float, list[Job]] = (0.0, [])
    for job in jobs:
        before = [chains[other] for other in sorted(job.needs) if other in chains]
        time, chain = max(before, key=lambda one: one[0], default=(0.0, []))
        chains[job.number] = (time + seconds.get(job.number, 0.0), [*chain, job])
        longest = max(longest, chains[job.number], key=lambda one: one[0])
    return longest


def used_by(jobs: Sequence[Job], gpus_here: bool) -> list[Cost | None]:
    """Return the cost of each job, None without a record; it ignores the CPU time of a benchmark, which is sampled.

    A job that asks for GPUs used them if the training runs among the jobs did or, without any, if there are GPUs here.
    """
    trained = {job.number: total(attempts(record)) for job in jobs if (record := training_record(job))}
    on_gpu = any(cost.gpu > 0 for cost in trained.values()) if trained else gpus_here
    found: dict[int, Cost] = {}
    for job in jobs:
        if job.benchmark and Path(job.benchmark).is_file():
            wall = read_benchmark(Path(job.benchmark))["wall"]
            found[job.number] = Cost(wall, wall * job.threads, wall * job.gpus if on_gpu else 0.0)
    return [(found | trained).get(job.number) for job in jobs]


def training_record(job: Job) -> Path | None:
    """Return the provenance.json of a training run; it has metrics beside it, unlike that of the study."""
    files = {Path(path) for path in job.outputs}
    found = [path for path in files if path.name == PROVENANCE and path.with_name(METRICS) in files and path.is_file()]
    return found[0] if found else None


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
