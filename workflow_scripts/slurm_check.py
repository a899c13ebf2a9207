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
from typing import Any

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

Resources = Mapping[str, Any]
Finding = tuple[str, str]  # right, wrong or known (for information only), and a text


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


def request(resources: Resources) -> tuple[str, ...]:
    """Return the flags of sbatch that ask for the resources of a job."""
    kind = f"{resources['gpu_model']}:" if resources.get("gpu_model") else ""
    asked = {**resources, "gpu": f"{kind}{resources['gpu']}"} if resources.get("gpu") else resources
    return tuple(flag.format(asked[key]) for key, flag in FLAGS.items() if asked.get(key))


def check_request(flags: tuple[str, ...], resources: Resources, limits: Mapping[str, float]) -> Finding:
    """Check whether SLURM would run a job; many clusters accept too long a run time, but never start the job."""
    name, asked = str(resources.get("slurm_partition", "")), int(resources.get("runtime", 0))
    if asked > limits.get(name, asked):
        fix = "set runtime in the class, or for training time_limits, in site.yaml"
        return "wrong", f"{asked} minutes asked of partition {name}, which allows {limits[name]:.0f} ({fix})"
    if not resources.get("slurm_account"):
        return "wrong", "no account is set (account in site.yaml): the executor's own guess is not reliable"
    code, said = ask(["sbatch", "--test-only", *flags, "--wrap=true"])
    reason = said.splitlines()[-1] if said else "no answer"
    return ("wrong", f"{' '.join(flags)}: {reason}") if code else ("right", f"accepted: {' '.join(flags)}")


def check_status(config: Mapping[str, str], profile: Mapping[str, Any]) -> Iterator[Finding]:
    """Check whether the profile's status command can monitor jobs, and how long finished jobs are remembered."""
    accounting = "slurmdbd" in config.get("AccountingStorageType", "")
    if profile.get("slurm-status-command", "sacct") == "sacct" and not accounting:
        yield "wrong", "slurm-status-command: sacct would wait for ever without accounting (expected squeue)"
    age, text = config.get("MinJobAge", "").split(" ")[0], "finished jobs are remembered for {} s (MinJobAge)"
    if age.isdecimal() and int(age) >= LONGEST_PAUSE:
        yield "right", text.format(age)
    elif age.isdecimal():
        why = f"less than {LONGEST_PAUSE} s: whether a job that ends unseen has succeeded is told by its files"
        yield "known", f"{text.format(age)}, {why}"


def look(jobs: Sequence[Job], profile: Mapping[str, Any]) -> list[Finding]:
    """Return the results of all checks."""
    kinds = {request(job.resources): job.resources for job in jobs}
    asked = sorted((kind for kind in kinds.items() if kind[0]), key=lambda kind: (-kind[1].get("runtime", 0), kind[0]))
    used = {resources.get("slurm_partition") for _, resources in asked}
    states = [line.split("|") for line in ask(SINFO)[1].splitlines() if line.count("|") == 2]
    limits = {name: minutes(limit) for name, _, limit in states}
    down = sorted({name for name, state, _ in states if name in used and state != "up"})
    pairs = [line.partition("=") for line in ask(["scontrol", "show", "config"])[1].splitlines()]
    config = {key.strip(): value.strip() for key, _, value in pairs}
    return [
        ("right", f"{ask(['sbatch', '--version'])[1]}, cluster {config.get('ClusterName', 'unnamed')}"),
        *(("wrong", f"partition {name} is not up") for name in down),
        *dict.fromkeys(check_request(*kind, limits) for kind in asked),
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
    print("\n".join(f"{mark:5}  {text}" for mark, text in findings))
    sys.exit(any(mark == "wrong" for mark, _ in findings))


if __name__ == "__main__":
    run(main)
