"""The user's cluster: account, partitions, how GPUs are asked for, and what each class of jobs requests there."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.config import ConfigError, read_yaml

EXIT_BAD_SITE = 2
VARIABLE = "XLING_SITE"
FILE = Path("profiles/slurm/site.yaml")
KEYS = ("account", "partitions", "time_limits", "gpu_type", "gpu_syntax", "classes")
TEXTS = ("account", "gpu_type")
TABLES = {
    "partitions": "cpu and gpu with a partition's name each, as {cpu: small, gpu: a100}",
    "time_limits": "a partition's name and minutes, as {a100: 1440}",
    "classes": "a class and what it asks for, as {gpu-long: {runtime: 2880}}",
}
KINDS = ("cpu", "gpu")  # of jobs, which have a partition each
NUMBERS = ("mem_mb", "runtime", "gpu", "nodes", "cpus_per_task")
NAMES = ("partition", "qos", "constraint")
SYNTAXES = ("gpus", "gres")


@dataclass(frozen=True)
class Site:
    """What the executor must be told beyond memory and time."""

    account: str = ""
    partitions: Mapping[str, str] = field(default_factory=dict)
    gpu_type: str = ""
    gpu_syntax: str = "gpus"
    classes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    time_limits: Mapping[str, int] = field(default_factory=dict)  # minutes that a partition allows, by its name

    def requests(self, name: str, usual: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a class of jobs asks of this cluster; without a cluster nobody looks at most of it."""
        asked = {**usual, **self.classes.get(name, {})}
        gpus, nodes = int(asked.pop("gpu", 0)), int(asked.get("nodes", 1))
        if gpus % nodes:
            raise ConfigError([f"classes.{name}: {gpus} GPUs cannot be shared out evenly over {nodes} nodes"])
        partition = asked.pop("partition", self.partitions.get("gpu" if gpus else "cpu", ""))
        wanted = {**asked, "slurm_partition": partition, "slurm_account": self.account}
        wanted |= self._gpus(gpus, nodes) | (_one_task_a_node(nodes) if nodes > 1 else {})
        return {key: value for key, value in wanted.items() if value != ""}

    def minutes(self, requests: Mapping[str, Any], attempt: int, resumes: bool) -> int:
        """Return the time that an attempt asks for: more each time where a job cannot resume, up to the limit.

        A job that resumes can do with less than it asks for; another is never cut, so that SLURM refuses it instead.
        """
        first = int(requests["runtime"])
        limit = self.time_limits.get(str(requests.get("slurm_partition", "")))
        if resumes:
            return first if limit is None else min(first, limit)
        return first * attempt if limit is None else max(first, min(first * attempt, limit))

    def _gpus(self, gpus: int, nodes: int) -> dict[str, Any]:
        if not gpus:
            return {}
        kind, a_node = f"{self.gpu_type}:" if self.gpu_type else "", gpus // nodes
        if self.gpu_syntax == "gres":
            return {"gpu": 0, "gres": f"gpu:{kind}{a_node}"}
        spread = f"--gpus-per-node={kind}{a_node}" if nodes > 1 else ""
        return {"gpu": gpus, "gpu_model": self.gpu_type, "slurm_extra": spread}


def _one_task_a_node(nodes: int) -> dict[str, Any]:
    """Return what keeps the executor from binding the whole job to one node, or starting a task for each GPU."""
    return {"tasks": nodes, "tasks_per_gpu": 0, "mpi": "srun"}


def read_site(path: Path, classes: Mapping[str, Any]) -> Site:
    """Read a site file and refuse what it cannot mean."""
    known = {key: value for key, value in read_yaml(path).items() if value is not None}
    problems = _wrong_kinds(known) or _problems(known, classes)
    if problems:
        raise ConfigError(f"{path}: {problem}" for problem in problems)
    return Site(**known)


def _wrong_kinds(known: Mapping[str, Any]) -> list[str]:
    texts = {key: value for key, value in known.items() if key in TEXTS and not isinstance(value, str)}
    tables = {key: value for key, value in known.items() if key in TABLES and not isinstance(value, dict)}
    problems = [f"{key} is {value!r}, expected text (a number in quotes)" for key, value in texts.items()]
    return problems + [f"{key} is {value!r}, expected {TABLES[key]}" for key, value in tables.items()]


def _problems(known: Mapping[str, Any], classes: Mapping[str, Any]) -> list[str]:
    problems = [f"unknown key {key!r} (known: {', '.join(KEYS)})" for key in known if key not in KEYS]
    if known.get("gpu_syntax", "gpus") not in SYNTAXES:
        problems.append(f"gpu_syntax is {known['gpu_syntax']!r}, expected one of {', '.join(SYNTAXES)}")
    problems += _partition_problems(known.get("partitions", {}), classes)
    for name, requests in known.get("classes", {}).items():
        problems += [f"classes.{name}: {problem}" for problem in _class_problems(name, requests, classes)]
    return problems or _limit_problems(known)


def _partition_problems(partitions: Mapping[str, Any], classes: Mapping[str, Any]) -> list[str]:
    ways = {name: f"; for one class: classes.{name}.partition" for name in classes}
    unknown = [name for name in partitions if name not in KINDS]
    problems = [f"partitions.{name}: unknown (known: {', '.join(KINDS)}{ways.get(name, '')})" for name in unknown]
    wrong = {name: partitions[name] for name in KINDS if not isinstance(partitions.get(name, ""), str)}
    return problems + [f"partitions.{name} is {value!r}, expected a partition's name" for name, value in wrong.items()]


def _limit_problems(known: Mapping[str, Any]) -> list[str]:
    limits, own = known.get("time_limits", {}), known.get("classes", {}).values()
    names = {*known.get("partitions", {}).values(), *(one["partition"] for one in own if "partition" in one)}
    wrong = {name: value for name, value in limits.items() if type(value) is not int or value < 1}
    problems = [f"time_limits.{name} is {value!r}, expected minutes, above 0" for name, value in wrong.items()]
    unknown = [f"time_limits.{name}: no job goes to such a partition" for name in limits if name not in names]
    return problems + [f"{problem} ({', '.join(sorted(names))})" for problem in unknown]


def _class_problems(name: str, requests: Any, classes: Mapping[str, Any]) -> list[str]:
    if name not in classes:
        return [f"no such class (known: {', '.join(classes)})"]
    if not isinstance(requests, dict):
        return [f"expected keys and values, found {requests!r}"]
    known = (*NUMBERS, *NAMES)
    problems = [f"unknown key {key!r} (known: {', '.join(known)})" for key in requests if key not in known]
    numbers = {key: value for key, value in requests.items() if key in NUMBERS}
    wrong = {key: value for key, value in numbers.items() if type(value) is not int or value < 1}
    problems += [f"{key} is {value!r}, expected a whole number above 0" for key, value in wrong.items()]
    texts = {key: value for key, value in requests.items() if key in NAMES and not isinstance(value, str)}
    return problems + [f"{key} is {value!r}, expected text" for key, value in texts.items()]


def site_file(root: Path) -> Path:
    """Return the file that XLING_SITE names, else the profile's own."""
    return Path(os.environ.get(VARIABLE) or root / FILE)


def load_site(root: Path, classes: Mapping[str, Mapping[str, Any]]) -> Site:
    """Return the user's site; on a problem say it in one line and leave."""
    try:
        site = read_site(site_file(root), classes)
        for name, usual in classes.items():
            site.requests(name, usual)
        return site
    except ConfigError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(EXIT_BAD_SITE)
