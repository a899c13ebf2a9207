"""The user's cluster: account, partitions, the syntax of GPU requests, and the requests of each class of jobs."""

import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from workflow_scripts.config import ConfigError, read_yaml
from xling.core.records import Count, find_problems, key, nearest, optional, record

EXIT_BAD_SITE = 2
VARIABLE = "XLING_SITE"
AVOIDED_FOR = 24 * 3600  # seconds that jobs avoid a node after its GPUs failed
FILE = Path("profiles/slurm/site.yaml")
PATIENT = Path("profiles/slurm/bin")  # wrappers of sbatch and other commands that wait for an unavailable controller


@record
class Partitions:
    """The partitions of jobs without and with a GPU, as {cpu: small, gpu: a100}."""

    cpu: str = ""
    gpu: str = ""


@record
class Requests:
    """What a class of jobs asks for where it differs from the usual, as {runtime: 2880}."""

    partition: str = optional()
    qos: str = optional()
    constraint: str = optional()
    mem_mb: Count = optional()
    runtime: Count = optional()
    gpu: Count = optional()
    nodes: Count = optional()
    cpus_per_task: Count = optional()


@record
class Site:
    """The content of a site file: options of the cluster that the executor needs besides memory and time."""

    account: str = ""
    partitions: Partitions = Field(default_factory=Partitions)
    gpu_type: str = ""
    gpu_syntax: Literal["gpus", "gres"] = "gpus"
    classes: dict[str, Requests] = key(
        "A class and what it asks for, as {gpu-long: {runtime: 2880}}.", default_factory=dict
    )
    time_limits: dict[str, Count] = key(
        "Minutes that a partition allows, by its name, as {a100: 1440}.", default_factory=dict
    )

    def requests(self, name: str, usual: Mapping[str, Any]) -> dict[str, Any]:
        """Return the resources that a class of jobs requests; without a cluster, Snakemake ignores most of them."""
        own = asdict(self.classes[name]) if name in self.classes else {}
        asked = {**usual, **{key: value for key, value in own.items() if value is not None}}
        gpus, nodes = int(asked.pop("gpu", 0)), int(asked.get("nodes", 1))
        if gpus % nodes:
            raise ConfigError([f"classes.{name}: {gpus} GPUs cannot be shared out evenly over {nodes} nodes"])
        partition = asked.pop("partition", self.partitions.gpu if gpus else self.partitions.cpu)
        wanted = {**asked, "slurm_partition": partition, "slurm_account": self.account}
        kind, a_node = f"{self.gpu_type}:" if self.gpu_type else "", gpus // nodes
        if gpus and self.gpu_syntax == "gres":
            wanted |= {"gpu": 0, "gres": f"gpu:{kind}{a_node}"}
        elif gpus:
            spread = f"--gpus-per-node={kind}{a_node}" if nodes > 1 else ""
            wanted |= {"gpu": gpus, "gpu_model": self.gpu_type, "slurm_extra": spread}
        if nodes > 1:  # otherwise the executor uses one node only, or starts a task for each GPU
            wanted |= {"tasks": nodes, "tasks_per_gpu": 0, "mpi": "srun"}
        return {key: value for key, value in wanted.items() if value != ""}

    def minutes(self, requests: Mapping[str, Any], attempt: int, resumes: bool) -> int:
        """Return the minutes that an attempt requests; for a job that cannot resume they grow with each attempt.

        The partition's limit applies, but a job that cannot resume never gets less than its class requests.
        """
        first = int(requests["runtime"])
        limit = self.time_limits.get(requests.get("slurm_partition", ""), sys.maxsize)
        return min(first, limit) if resumes else max(first, min(first * attempt, limit))


def read_site(path: Path, classes: Mapping[str, Any]) -> Site:
    """Read and check a site file; a key without a value counts as absent."""
    known = {key: value for key, value in read_yaml(path).items() if value is not None}
    problems = find_problems(Site, known)
    if not problems:
        site = Site(**known)
        own = [requests.partition for requests in site.classes.values()]
        names = sorted(filter(None, {site.partitions.cpu, site.partitions.gpu, *own}))
        problems += [f"classes.{n}: no such class ({nearest(n, classes)})" for n in site.classes if n not in classes]
        unused = [name for name in site.time_limits if name not in names]
        problems += [f"time_limits.{name}: no job goes to such a partition ({', '.join(names)})" for name in unused]
    if problems:
        ways = {f"partitions.{name}: unknown key": f"; for one class: classes.{name}.partition" for name in classes}
        raise ConfigError(f"{path}: {problem}{ways.get(problem.split(' (')[0], '')}" for problem in problems)
    return site


def list_bad_nodes(results: Path) -> Path:
    """Return the file in which jobs list nodes with broken GPUs; also set the variable that tells jobs its path."""
    path = (results / "bad-nodes.txt").absolute()
    os.environ["XLING_BAD_NODES"] = str(path)
    return path


def extra_flags(requests: Mapping[str, Any], bad: Path) -> str:
    """Return the sbatch flags of a class, and the flag that excludes nodes whose GPUs failed recently.

    The file has one line per failure: seconds since 1970, and the node (written by xling.model.device).
    """
    lines = [line.split() for line in bad.read_text(encoding="utf-8").splitlines()] if bad.is_file() else []
    pairs = [(float(line[0]), line[1]) for line in lines if len(line) == 2 and line[0].isdecimal()]
    nodes = sorted({node for when, node in pairs if time.time() - when < AVOIDED_FOR})
    return " ".join([*requests.get("slurm_extra", "").split(), *([f"--exclude={','.join(nodes)}"] if nodes else [])])


def set_path(root: Path) -> None:
    """Put this interpreter first in the PATH of jobs, then the wrappers of SLURM commands if the machine has SLURM."""
    patient = [str(root / PATIENT)] if shutil.which("sbatch") else []
    places = [str(Path(sys.executable).parent), *patient, *os.environ.get("PATH", "").split(os.pathsep)]
    os.environ["PATH"] = os.pathsep.join(dict.fromkeys(places))


def load_site(root: Path, classes: Mapping[str, Mapping[str, Any]]) -> Site:
    """Read the site file that XLING_SITE names, or that of the profile; print problems and exit if there are any."""
    try:
        site = read_site(Path(os.environ.get(VARIABLE) or root / FILE), classes)
        for name, usual in classes.items():
            site.requests(name, usual)
        return site
    except ConfigError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(EXIT_BAD_SITE)
