"""Hand out the GPUs of one machine: python -m workflow_scripts.gpu_slots MODULE --flag …

Snakemake counts GPUs (`--resources gpu=4`) but does not say which one a job may use. Here a job locks a file that
stands for a slot on a GPU, sets CUDA_VISIBLE_DEVICES and runs MODULE in the same process. XLING_GPU_SHARE=4 gives every
GPU four slots, for small jobs. The slot is free again when the process ends, even if it was killed. This module does
nothing without a GPU, or in a SLURM job, which has its own GPUs. If CUDA_VISIBLE_DEVICES is not set and the GPUs turn
out not to work, the job uses the CPU with a warning, unless XLING_DEVICE is set.
"""

import fcntl
import os
import re
import runpy
import sys
import tempfile
import time
from collections.abc import Mapping, MutableMapping, Sequence
from itertools import product
from pathlib import Path

from xling.core.errors import XlingError, run

# The same names as in xling.model.device, which is not imported here because it imports torch.
VISIBLE, SHARE, DEVICE = "CUDA_VISIBLE_DEVICES", "XLING_GPU_SHARE", "XLING_DEVICE"
SECONDS_BETWEEN_LOOKS = 0.5
DEVICES = Path("/dev")


def take(environment: MutableMapping[str, str], count: int = 1, folder: Path | None = None) -> list[int]:
    """Wait for a slot on each of `count` GPUs and make them the only visible ones; return the open locks.

    The locks are inherited through exec and held until the process ends or closes them.
    """
    share = environment.get(SHARE, "")
    if share and (not share.isdecimal() or int(share) == 0):
        raise XlingError(f"{SHARE}={share}: expected a whole number from 1 up")
    pool = [] if "SLURM_JOB_ID" in environment and not share else devices(environment)
    if not pool or not count:
        return []
    if count > len(pool):
        raise XlingError(f"{count} GPUs wanted, {len(pool)} here ({', '.join(pool)})")
    place = folder or slot_folder(environment)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    while len(taken := try_slots(place, pool, int(share or 1), count)) < count:
        for lock in taken.values():
            os.close(lock)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if VISIBLE not in environment:
        environment.setdefault(DEVICE, "any")
    environment[VISIBLE] = ",".join(taken)
    return list(taken.values())


def devices(environment: Mapping[str, str]) -> list[str]:
    """Return the GPUs to hand out: those in CUDA_VISIBLE_DEVICES if it is set, otherwise all GPUs of the machine."""
    if VISIBLE in environment:
        return [name.strip() for name in environment[VISIBLE].split(",") if name.strip()]
    found = [path for path in DEVICES.glob("nvidia*") if re.fullmatch("nvidia[0-9]+", path.name)]
    return [str(number) for number in range(len(found))]


def slot_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the lock files: local to this machine, one per user."""
    base = Path(environment.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    return base / f"xling-gpus-{os.getuid()}"


def try_slots(folder: Path, pool: Sequence[str], share: int, count: int) -> dict[str, int]:
    """Lock up to `count` GPUs without waiting, starting with the least used; return the locks by GPU."""
    taken: dict[str, int] = {}
    for slot, name in product(range(share), pool):
        if name in taken or len(taken) == count:
            continue
        path = folder / f"{re.sub('[^A-Za-z0-9-]', '_', name)}.{slot}"
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        os.set_inheritable(lock, True)
        taken[name] = lock
    return taken


def main() -> None:
    """Take a slot, then run the module on the command line."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    take(os.environ)
    module, sys.argv = sys.argv[1], sys.argv[1:]
    sys.path.insert(0, "")
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    run(main)
