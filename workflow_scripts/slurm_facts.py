"""What SLURM's own commands say of a cluster: partitions, limits, GPUs, settings, accounts."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PATIENCE = 20  # seconds for one answer of a busy controller
SINFO = ["sinfo", "--noheader", "--format=%P|%a|%l|%G|%D"]


@dataclass(frozen=True)
class Partition:
    """What SLURM says of a partition; no time limit is None."""

    name: str
    default: bool
    up: bool
    minutes: int | None
    gpus: Mapping[str, int]
    nodes: int


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
    """Read what SINFO prints: a line for each kind of node of a partition, the default one with a star."""
    found: dict[str, Partition] = {}
    for line in text.splitlines():
        fields = line.strip().split("|")
        if len(fields) != 5:
            continue
        name, up, limit, gres, nodes = fields
        plain = name.rstrip("*")
        known = found.get(plain, Partition(plain, name != plain, False, minutes(limit), {}, 0))
        gpus = {**known.gpus, **gpus_of(gres)}
        found[plain] = Partition(
            plain, known.default, known.up or up == "up", known.minutes, gpus, known.nodes + int(nodes)
        )
    return found


def gpus_of(gres: str) -> dict[str, int]:
    """Read a node's generic resources (gpu:a100:4(S:0-1),gpu:2): GPUs by type, `` where it has no name."""
    found: dict[str, int] = {}
    for item in gres.replace("(null)", "").split(","):
        words = item.split("(")[0].split(":")
        if words[0] == "gpu" and words[-1].isdecimal():
            found[words[1] if len(words) > 2 else ""] = int(words[-1])
    return found


def settings(text: str) -> dict[str, str]:
    """Read `scontrol show config`."""
    pairs = [line.partition("=") for line in text.splitlines() if "=" in line]
    return {key.strip(): value.strip() for key, _, value in pairs}


def accounts_of(user: str) -> list[str]:
    """Return the user's accounts, none where SLURM keeps none."""
    wanted = ["--noheader", "--parsable2", "show", "associations", f"user={user}", "format=account"]
    code, text = ask(["sacctmgr", *wanted])
    return sorted({line.strip() for line in text.splitlines() if line.strip()}) if not code else []
