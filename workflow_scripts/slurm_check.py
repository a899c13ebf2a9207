"""Check that the cluster fits the profile: python -m workflow_scripts.slurm_check

It queries SLURM without submitting anything, which takes seconds. It checks whether SLURM would accept every kind of
job of the study (account, partition, memory, GPUs), the time limits of partitions, and how long SLURM remembers jobs.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.config import REPOSITORY, read_config, read_yaml
from workflow_scripts.plan.jobs import Job, lay_out
from xling.core.errors import run

NEEDED = ("sbatch", "squeue", "sinfo", "scontrol", "scancel")
PROFILE = Path("profiles/slurm/config.yaml")
LONGEST_PAUSE = 180  # seconds between two queries of the executor for the states of jobs
PATIENCE = 20  # seconds to wait for an answer of a busy controller
SINFO = ["sinfo", "--noheader", "--format=%R|%a|%l"]
FLAGS = {
    "slurm_partition": "--partition={}",
    "slurm_account": "--account={}",
    "runtime": "--time={}",
    "mem_mb": "--mem={}M",
    "gpu": "--gpus={}",
    "gres": "--gres={}",
    "nodes": "--nodes={}",
    "qos": "--qos={}",
}

Request = Mapping[str, Any]


class Finding(NamedTuple):
    """The result of one check; `mark` is right, wrong or known (for information only)."""

    mark: str
    text: str


def ask(command: Sequence[str]) -> tuple[int, str]:
    """Return the exit code and output of a command; a command that does not answer in time has failed."""
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, (done.stdout + done.stderr).strip()


def minutes(text: str) -> float:
    """Convert a SLURM time limit (30:00, 12:00:00, 1-00:00:00, infinite) to minutes."""
    if not text[:1].isdecimal():
        return float("inf")
    days, _, clock = text.rpartition("-")
    parts = [*map(int, clock.split(":")), 0]
    hours, minute = parts[:2] if days or len(parts) == 4 else (0, parts[0])
    return (int(days or 0) * 24 + hours) * 60 + minute


def requests(jobs: Sequence[Job]) -> list[Request]:
    """Return the distinct resource requests of the jobs, the longest run time first."""
    asked = [{key: job.resources[key] for key in FLAGS if job.resources.get(key)} for job in jobs]
    for job, request in zip(jobs, asked, strict=True):
        if "gpu" in request and job.resources.get("gpu_model"):
            request["gpu"] = f"{job.resources['gpu_model']}:{request['gpu']}"
    unique = {str(one): one for one in asked if one}
    return sorted(unique.values(), key=lambda one: (-int(one.get("runtime", 0)), str(one)))


def check_request(request: Request, limits: Mapping[str, float]) -> Finding:
    """Check whether SLURM would run a job; many clusters accept too long a run time, but never start the job."""
    flags = [flag.format(request[key]) for key, flag in FLAGS.items() if key in request]
    name, asked = str(request.get("slurm_partition", "")), int(request.get("runtime", 0))
    if asked > limits.get(name, asked):
        fix = "set runtime in the class, or for training time_limits, in site.yaml"
        return Finding("wrong", f"{asked} minutes asked of partition {name}, which allows {limits[name]:.0f} ({fix})")
    if "slurm_account" not in request:
        return Finding("wrong", "no account is set (account in site.yaml): the executor's own guess is not reliable")
    code, said = ask(["sbatch", "--test-only", *flags, "--wrap=true"])
    reason = said.splitlines()[-1] if said else "no answer"
    return (
        Finding("wrong", f"{' '.join(flags)}: {reason}") if code else Finding("right", f"accepted: {' '.join(flags)}")
    )


def check_status(config: Mapping[str, str], profile: Mapping[str, Any]) -> Iterator[Finding]:
    """Check whether the profile's status command can monitor jobs, and how long finished jobs are remembered."""
    accounting = "slurmdbd" in config.get("AccountingStorageType", "")
    if profile.get("slurm-status-command", "sacct") == "sacct" and not accounting:
        yield Finding("wrong", "slurm-status-command: sacct would wait for ever without accounting (expected squeue)")
    age, text = config.get("MinJobAge", "").split(" ")[0], "finished jobs are remembered for {} s (MinJobAge)"
    if age.isdecimal() and int(age) >= LONGEST_PAUSE:
        yield Finding("right", text.format(age))
    elif age.isdecimal():
        why = f"less than {LONGEST_PAUSE} s: whether a job that ends unseen has succeeded is told by its files"
        yield Finding("known", f"{text.format(age)}, {why}")


def look(jobs: Sequence[Job], profile: Mapping[str, Any]) -> list[Finding]:
    """Return the results of all checks."""
    asked = requests(jobs)
    used = {str(one.get("slurm_partition", "")) for one in asked}
    states = [line.split("|") for line in ask(SINFO)[1].splitlines() if line.count("|") == 2]
    limits = {name: minutes(limit) for name, _, limit in states}
    down = sorted({name for name, state, _ in states if name in used and state != "up"})
    pairs = [line.partition("=") for line in ask(["scontrol", "show", "config"])[1].splitlines()]
    config = {key.strip(): value.strip() for key, _, value in pairs}
    return [
        Finding("right", f"{ask(['sbatch', '--version'])[1]}, cluster {config.get('ClusterName', 'unnamed')}"),
        *(Finding("wrong", f"partition {name} is not up") for name in down),
        *dict.fromkeys(check_request(one, limits) for one in asked),
        *check_status(config, profile),
    ]


def main() -> None:
    """Run all checks, print the results, and exit with status 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[])
    args = parser.parse_args()
    os.chdir(REPOSITORY)
    if absent := [name for name in NEEDED if shutil.which(name) is None]:
        sys.exit(f"wrong  no {', '.join(absent)} here: run this on the login node of the cluster")
    code, said = ask(["scontrol", "ping"])
    if code:
        sys.exit(f"wrong  the controller does not answer: {said}")
    # Building the list of jobs also reads and checks the site file.
    jobs = lay_out(read_config(REPOSITORY / "config.yaml", *args.configfile))
    findings = look(jobs, read_yaml(PROFILE))
    print("\n".join(f"{finding.mark:5}  {finding.text}" for finding in findings))
    sys.exit(any(finding.mark == "wrong" for finding in findings))


if __name__ == "__main__":
    run(main)
