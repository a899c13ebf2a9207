"""Start a trainer on the GPUs of a job: python -m workflow_scripts.launch --nodes 1 MODULE --flag …

In a SLURM allocation the launcher gives the trainer a deadline; elsewhere it waits for free GPUs. It uses torchrun for
several GPUs, and srun with torchrun for several nodes. The trainer replaces the launcher process, so it receives all
signals and sets the exit code. A trainer that stops at the deadline exits with 75 (1 under torchrun). The job then
counts as failed and is submitted again.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from workflow_scripts.gpu_slots import take
from xling.core.errors import XlingError, run
from xling.core.log import log_to_stderr

GRACE_SHARE, GRACE_LEAST, GRACE_MOST = 0.02, 5.0, 120.0  # time to save before the end: share, bounds in seconds
ASKS, PAUSE = 5, 10.0  # a busy controller may not answer at once
PORTS = 20000, 10000  # first port, number of ports: jobs that share a node use different ports
TORCHRUN = "torch.distributed.run"
NUMBERED = f'exec "$0" -m {TORCHRUN} --node-rank="$SLURM_NODEID" "$@"'
ONE_PER_NODE = ["--ntasks-per-node=1", "--kill-on-bad-exit=1", "--cpu-bind=none"]

Ask = Callable[[Sequence[str]], str]


class Allocation(NamedTuple):
    """A SLURM allocation; the trainer must exit by `deadline` (seconds since 1970), if there is one."""

    job: int
    deadline: float | None
    nodes: str


def ask(command: Sequence[str]) -> str:
    """Return the output of a SLURM command, with times in seconds since 1970; empty if there is no answer."""
    environment = os.environ | {"SLURM_TIME_FORMAT": "%s"}
    for attempt in range(ASKS if shutil.which(command[0]) else 0):
        if attempt:
            time.sleep(PAUSE)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
        log_to_stderr(__name__).warning("%s: %s", " ".join(command), done.stderr.strip() or "no answer")
    return ""


def allocation(environment: Mapping[str, str], ask: Ask = ask) -> Allocation | None:
    """Return the allocation that this process runs in, or None outside SLURM."""
    job = environment.get("SLURM_JOB_ID", "")
    if not job.isdigit():
        return None
    said = ask(["squeue", "--noheader", "--jobs", job, "--format", "%S|%e|%N"])
    start, end, nodes = said.split("|") if said.count("|") == 2 else ("", "", "")
    began, ends = moment(start), moment(end)
    if began is None or ends is None:
        return Allocation(int(job), None, nodes)
    return Allocation(int(job), ends - min(max(GRACE_SHARE * (ends - began), GRACE_LEAST), GRACE_MOST), nodes)


def moment(text: str) -> float | None:
    """Convert a time written by SLURM to seconds since 1970; return None for an unknown time."""
    try:
        return float(text) if text.isdecimal() else datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def command(module: list[str], gpus: int, nodes: int, given: Allocation | None, ask: Ask = ask) -> list[str]:
    """Return the command that trains on `nodes` nodes with `gpus` GPUs each."""
    each = [f"--nproc-per-node={gpus}", "-m", *module]
    if given is not None and nodes > 1:
        hosts = ask(["scontrol", "show", "hostnames", given.nodes]).split()
        if len(hosts) != nodes:
            raise XlingError(f"{nodes} nodes wanted, SLURM names {len(hosts)}: {given.nodes or 'it does not answer'}")
        port = PORTS[0] + given.job % PORTS[1]
        meeting = [f"--nnodes={nodes}", f"--master-addr={hosts[0]}", f"--master-port={port}"]
        return ["srun", f"--nodes={nodes}", *ONE_PER_NODE, "sh", "-c", NUMBERED, sys.executable, *meeting, *each]
    if gpus > 1:
        return [sys.executable, "-m", TORCHRUN, "--standalone", *each]
    return [sys.executable, "-m", *module]


def main() -> None:
    """Read the command line and replace this process with the trainer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1, help="of the allocation; one where there is no SLURM")
    parser.add_argument("--gpus", type=int, default=0, help="to take of this machine, where there is no SLURM")
    parser.add_argument("module", nargs=argparse.REMAINDER, help="the module that trains, and its flags")
    args = parser.parse_args()
    given, module = allocation(os.environ), args.module
    if given:
        until = "no limit known"
        if given.deadline:
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(given.deadline))
            module = [*module, f"--deadline={given.deadline:.0f}"]
        log_to_stderr(__name__).info("SLURM job %d on %s, to leave by: %s", given.job, given.nodes, until)
    else:
        take(os.environ, args.gpus)
    gpus = len([gpu for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu])
    started = command(module, max(1, gpus), args.nodes, given)
    os.execvp(started[0], started)  # noqa: S606 (no shell is wanted)


if __name__ == "__main__":
    run(main)
