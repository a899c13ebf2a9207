"""Is the cluster as the profile expects? python -m workflow_scripts.slurm_check

Asks SLURM itself, in seconds and without submitting anything: commands, account, partitions and their time limits,
GPUs, accounting, how long finished jobs are remembered, and whether the nodes are likely to see this folder. Writes
what it found as a site file to start from; a file that exists is never touched.
"""

import argparse
import getpass
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from workflow_scripts.config import REPOSITORY, nearest, read_config, read_yaml
from workflow_scripts.plan.jobs import Job, lay_out
from workflow_scripts.site import site_file
from xling.core.errors import run
from xling.core.io import write_text

NEEDED = ("sbatch", "squeue", "sinfo", "scontrol", "scancel")
PROFILE, FOUND = Path("profiles/slurm/config.yaml"), Path("profiles/slurm/site.found.yaml")
LONGEST_PAUSE = 180  # seconds between two questions of the executor for the states of jobs
LOCAL_KINDS = {"ext2/ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlayfs", "zfs", "apfs"}
PATIENCE = 20  # seconds for one answer of a busy controller
SINFO = ["sinfo", "--noheader", "--format=%P|%a|%l|%G|%D"]
ACCOUNTS = ["sacctmgr", "--noheader", "--parsable2", "show", "associations", "format=account"]
REQUEST = ("slurm_partition", "slurm_account", "runtime", "mem_mb", "gpu", "gpu_model", "gres", "nodes", "qos")
FLAGS = {"slurm_partition": "--partition", "slurm_account": "--account", "runtime": "--time", "qos": "--qos"}

Request = Mapping[str, Any]


@dataclass(frozen=True)
class Partition:
    """What SLURM says of a partition; no time limit is None."""

    name: str
    default: bool
    minutes: int | None
    up: bool = False
    gpus: Mapping[str, int] = field(default_factory=dict)
    nodes: int = 0


class Finding(NamedTuple):
    """One thing that was looked at: right, wrong, or only to be known."""

    mark: str
    text: str


def ask(command: Sequence[str]) -> tuple[int, str]:
    """Return exit code and all that a command said; one that does not answer in time has failed."""
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, (done.stdout + done.stderr).strip()


def minutes(text: str) -> int | None:
    """Return a time limit as SLURM writes it (30:00, 12:00:00, 1-00:00:00, infinite) in minutes."""
    if not text[:1].isdecimal():
        return None
    days, _, clock = text.rpartition("-")
    parts = [*map(int, clock.split(":")), 0]
    hours, minute = parts[:2] if days or len(parts) == 4 else (0, parts[0])
    return (int(days or 0) * 24 + hours) * 60 + minute


def partitions(text: str) -> dict[str, Partition]:
    """Read what SINFO prints: a line for each kind of node of a partition, the default one with a star.

    Generic resources are written as gpu:a100:4(S:0-1),gpu:2; GPUs without a name are counted under ``.
    """
    found: dict[str, Partition] = {}
    for fields in (line.strip().split("|") for line in text.splitlines()):
        if len(fields) == 5:
            (name, up, limit, gres, nodes), plain = fields, fields[0].rstrip("*")
            known = found.get(plain, Partition(plain, name != plain, minutes(limit)))
            gpus = {kind: int(number) for kind, number in re.findall(r"\bgpu:(?:([^:,(]+):)?(\d+)", gres)}
            more = known.nodes + int(nodes)
            found[plain] = replace(known, up=known.up or up == "up", gpus={**known.gpus, **gpus}, nodes=more)
    return found


def requests(jobs: Sequence[Job]) -> list[Request]:
    """Return what jobs ask of the cluster, every different request once, the longest first."""
    asked = [{key: job.resources[key] for key in REQUEST if job.resources.get(key)} for job in jobs]
    unique = {str(sorted(one.items())): one for one in asked if one}
    return sorted(unique.values(), key=lambda one: (-int(one.get("runtime", 0)), str(sorted(one.items()))))


def trial(request: Request) -> list[str]:
    """Return the command that asks whether a job would be accepted, without submitting it."""
    command = ["sbatch", "--test-only", *(f"{flag}={request[key]}" for key, flag in FLAGS.items() if key in request)]
    command += [f"--mem={request['mem_mb']}M"] if "mem_mb" in request else []
    command += [f"--nodes={request['nodes']}"] if int(request.get("nodes", 1)) > 1 else []
    if "gres" in request:
        command.append(f"--gres={request['gres']}")
    elif "gpu" in request:
        kind = f"{request['gpu_model']}:" if "gpu_model" in request else ""
        command.append(f"--gpus={kind}{request['gpu']}")
    return [*command, "--wrap=true"]


def check_request(request: Request, known: Mapping[str, Partition]) -> Finding:
    """Tell what is wrong with a request: its partition, its time, or what sbatch itself says.

    Many clusters accept a job that asks for too much time, and never start it.
    """
    name, asked = str(request.get("slurm_partition", "")), int(request.get("runtime", 0))
    if name and name not in known:
        return Finding("wrong", f"no partition {name!r} ({nearest(name, known)})")
    limit = known[name].minutes if name else None
    if limit is not None and asked > limit:
        fix = "set runtime in the class, or for training time_limits, in site.yaml"
        return Finding("wrong", f"{asked} minutes asked of partition {name}, which allows {limit} ({fix})")
    label = " ".join(f"{key.removeprefix('slurm_')}={value}" for key, value in request.items())
    code, said = ask(trial(request))
    reason = said.splitlines()[-1] if said else "no answer"
    return Finding("wrong", f"{label}: {reason}") if code else Finding("right", f"accepted: {label}")


def check_partition(
    partition: Partition, asked: Sequence[Request], retried: Sequence[Request], limits: Mapping[str, int]
) -> Iterator[Finding]:
    """Yield a partition's GPUs and state, and whether it would refuse twice the time, which a retry asks for."""
    name, allowed = partition.name, partition.minutes
    gpus = ", ".join(f"{number} {kind or 'unnamed'}" for kind, number in sorted(partition.gpus.items()))
    text = f"partition {name}: {partition.nodes} nodes, GPUs a node: {gpus or 'none'}"
    yield Finding("right", text) if partition.up else Finding("wrong", f"{text}, and it is not up")
    if not gpus and any({"gpu", "gres"} & set(one) for one in asked):
        yield Finding("wrong", f"partition {name}: SLURM knows of no GPUs there (partitions.gpu in site.yaml)")
    twice = 2 * max((int(one.get("runtime", 0)) for one in retried), default=0)
    if allowed is not None and min(twice, limits.get(name, twice)) > allowed:
        text = f"partition {name} allows {allowed} minutes, and a retry would ask it for up to {twice}"
        yield Finding("known", f"{text} (set time_limits in site.yaml)")


def check_status(config: Mapping[str, str], profile: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield whether jobs can be watched with the command that the profile names."""
    command, accounting = profile.get("slurm-status-command", "sacct"), config.get("AccountingStorageType", "")
    there = "slurmdbd" in accounting
    yield Finding("known", f"accounting: {'there' if there else 'none, so sacct says nothing'}")
    if command == "sacct" and not there:
        yield Finding("wrong", "slurm-status-command: sacct would wait for ever without accounting (expected squeue)")
    age, text = config.get("MinJobAge", "").split(" ")[0], "finished jobs are remembered for {} s (MinJobAge)"
    if age.isdecimal() and int(age) >= LONGEST_PAUSE:
        yield Finding("right", text.format(age))
    elif age.isdecimal():
        why = f"less than {LONGEST_PAUSE} s: whether a job that ends unseen has succeeded is told by its files"
        yield Finding("known", f"{text.format(age)}, {why}")


def check_account(name: str, accounts: Sequence[str]) -> Iterator[Finding]:
    """Yield whether an account is one of the user's, where SLURM keeps accounts."""
    if not name:
        yield Finding("wrong", "no account is set (account in site.yaml): the executor's own guess is not reliable")
    elif accounts and name not in accounts:
        yield Finding("wrong", f"account {name!r} is not yours ({nearest(name, accounts)})")
    elif accounts:
        yield Finding("right", f"account {name}")


def check_folder(path: Path) -> Finding:
    """Tell whether the nodes are likely to see a folder, by the kind of its file system."""
    code, kind = ask(["stat", "--file-system", "--format=%T", str(path)])
    if code:
        return Finding("known", f"{path}: kind of file system not known; the nodes must see it under the same path")
    if kind in LOCAL_KINDS:
        return Finding("known", f"{path} is on {kind}, often a disk of this machine: make sure that the nodes see it")
    return Finding("right", f"{path} is on {kind}, a file system that machines can share")


def site(known: Mapping[str, Partition], account: str) -> dict[str, Any]:
    """Return a site file's content from what was found: the partitions that allow the longest jobs."""
    up = sorted((one for one in known.values() if one.up), key=lambda one: (one.minutes or float("inf"), one.nodes))
    with_gpus = [one for one in up if one.gpus]
    without = [one for one in up if not one.gpus] or [one for one in up if one.default] or up
    names = {kind: some[-1].name for kind, some in (("cpu", without), ("gpu", with_gpus)) if some}
    limits = {name: known[name].minutes for name in names.values() if known[name].minutes is not None}
    asking = {"gpu_type": "", "gpu_syntax": "gpus", "classes": {}}
    return {"account": account, "partitions": names, "time_limits": limits, **asking}


def write_site(content: Mapping[str, Any], path: Path, about: str) -> Path:
    """Write a site file under a name that is free."""
    names = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    free = next(one for one in chain([path], names) if not one.exists())
    with write_text(free) as handle:
        handle.write(f"# Found by make slurm-check: {about}. Look it over, then: export XLING_SITE={free}\n")
        handle.write(yaml.safe_dump(dict(content), sort_keys=False))
    return free


def look(
    jobs: Sequence[Job], profile: Mapping[str, Any], limits: Mapping[str, int] | None = None
) -> tuple[list[Finding], dict[str, Any]]:
    """Return everything that was found, and a site file made from it; `limits` are those that the present one has."""
    known, asked = partitions(ask(SINFO)[1]), requests(jobs)
    retried = requests([job for job in jobs if job.rule not in profile.get("preemptible-rules", [])])
    pairs = [line.partition("=") for line in ask(["scontrol", "show", "config"])[1].splitlines()]
    config = {key.strip(): value.strip() for key, _, value in pairs}
    code, text = ask([*ACCOUNTS, f"user={getpass.getuser()}"])
    accounts = [] if code else sorted(set(text.split()))
    findings = [Finding("right", f"{ask(['sbatch', '--version'])[1]}, cluster {config.get('ClusterName', 'unnamed')}")]
    used = list(dict.fromkeys(str(request.get("slurm_account", "")) for request in asked))
    findings += [finding for name in used for finding in check_account(name, accounts)]
    for name in dict.fromkeys(str(one["slurm_partition"]) for one in asked if one.get("slurm_partition") in known):
        here, again = ([one for one in some if one.get("slurm_partition") == name] for some in (asked, retried))
        findings += check_partition(known[name], here, again, limits or {})
    findings += [
        *(check_request(one, known) for one in asked),
        *check_status(config, profile),
        check_folder(Path.cwd()),
    ]
    return findings, site(known, next(iter([name for name in used if name in accounts] or accounts or used), ""))


def main() -> None:
    """Look, say what was found, and leave with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[])
    parser.add_argument("--out", type=Path, default=FOUND, help="site file to write, under this name or the next free")
    args = parser.parse_args()
    os.chdir(REPOSITORY)
    if absent := [name for name in NEEDED if shutil.which(name) is None]:
        sys.exit(f"wrong  no {', '.join(absent)} here: run this on the login node of the cluster")
    code, said = ask(["scontrol", "ping"])
    if code:
        sys.exit(f"wrong  the controller does not answer: {said}")
    # Laying out the jobs reads the site file and tells its mistakes.
    jobs = lay_out(read_config(REPOSITORY / "config.yaml", *args.configfile))
    findings, found = look(jobs, read_yaml(PROFILE), read_yaml(site_file(REPOSITORY)).get("time_limits"))
    print("\n".join(f"{finding.mark:5}  {finding.text}" for finding in findings))
    print(f"\nwritten: {write_site(found, args.out, findings[0].text)}")
    sys.exit(any(finding.mark == "wrong" for finding in findings))


if __name__ == "__main__":
    run(main)
