"""Several trainings of one small model on one GPU at once: python -m bench.at_once --out at-once.json [--counts 1 4 12]

Each count is measured with as many processes that take turns, as many processes under NVIDIA's MPS, and as many CUDA
streams of one process. Speeds are tokens per second of all trainings together; compilation is not counted.
"""

import argparse
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from queue import Empty
from threading import BrokenBarrierError
from typing import Any

import torch

from bench.finetune import mps
from bench.pretrain import SIZES, make_run, make_trainer, say, wait, write_random
from xling.core.errors import run
from xling.core.io import write_json
from xling.model.device import local_device
from xling.pretrain.loop import Trainer
from xling.pretrain.record import device_name, utc

MICRO_BATCHES = 2  # as in presets/mini.yaml with presets/overlays/mini-next.yaml
WARM_UP = 24
WAIT = 300.0  # seconds until processes that do not answer are given up


def training(size: str, device: torch.device, data: Path) -> tuple[Trainer, Iterator[Any]]:
    """Return a trainer of Default and its updates, `mini`'s tokens in each."""
    made = make_run(size, (False, 0), MICRO_BATCHES)
    tokens = made.pretrain.micro_batch_tokens // MICRO_BATCHES
    trainer = make_trainer(replace(made, pretrain=replace(made.pretrain, micro_batch_tokens=tokens)), device, data)
    return trainer, iter(trainer.batches_to_do())


def one_process(size: str, device: torch.device, data: Path, seconds: float, barrier: Any, done: Any) -> None:
    """Train for some seconds once all processes are ready, and report the number of updates."""
    try:
        trainer, updates = training(size, device, data)
        for _ in range(WARM_UP):
            trainer.update(*next(updates))
        wait(device)
        barrier.wait(WAIT)
        done.put(updates_in(seconds, [(trainer, updates, None)], device))
        barrier.wait(WAIT)  # so that all end together
    except BaseException:
        barrier.abort()
        raise


def updates_in(seconds: float, trainings: list[tuple[Trainer, Iterator[Any], Any]], device: torch.device) -> float:
    """Return the updates per second of trainings in turn, each on a CUDA stream of its own where one is given."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        for trainer, updates, stream in trainings:
            with torch.cuda.stream(stream) if stream else nullcontext():
                trainer.update(*next(updates))
                trainer.engine.pace()
            count += 1
    wait(device)
    return count / (time.perf_counter() - began)


def by_processes(count: int, size: str, device: torch.device, data: Path, seconds: float) -> float | None:
    """Return the updates per second of so many processes together, or None if they do not work."""
    context = multiprocessing.get_context("spawn")
    barrier, done = context.Barrier(1 + count), context.Queue()
    known = size, device, data, seconds, barrier, done
    children = [context.Process(target=one_process, args=known) for _ in range(count)]
    for child in children:
        child.start()
    speeds: list[float] = []
    try:
        barrier.wait(WAIT)
        speeds = [done.get(timeout=WAIT) for _ in children]
        if shutil.which("nvidia-smi") and count > 1:
            say(subprocess.run(["nvidia-smi"], capture_output=True, text=True, check=False).stdout[-1500:])
        barrier.wait(WAIT)
    except (BrokenBarrierError, Empty):
        say("  the processes do not work")
    for child in children:
        child.join(WAIT if speeds else 1.0)
        child.kill()
    return sum(speeds) if len(speeds) == count else None


def by_streams(count: int, size: str, device: torch.device, data: Path, seconds: float) -> float:
    """Return the updates per second of so many trainings in this process."""
    trainings = []
    for _ in range(count):
        stream = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]
        with torch.cuda.stream(stream) if stream else nullcontext():
            trainer, updates = training(size, device, data)
            for _ in range(WARM_UP):
                trainer.update(*next(updates))
            wait(device)
        trainings.append((trainer, updates, stream))
    return updates_in(seconds, trainings, device)


def main() -> None:
    """Measure every way with every count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=["narrow", "tiny"], default="narrow")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--counts", nargs="+", type=int, default=[1, 4, 12])
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement, compilation aside")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    device, (*_, length, streams, _) = local_device(args.device), SIZES[args.shape]
    ways: dict[str, Any] = {"processes": nullcontext}
    if device.type == "cuda":
        ways["processes with MPS"] = mps
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        for code in ("en", "fr"):  # written once, not by each process
            write_random(data / f"{code}-{SIZES[args.shape][2]}", code, SIZES[args.shape][2])
        known = args.shape, device, data, args.seconds
        for how, way in ways.items():
            for count in args.counts:
                with way():
                    rows.append({"how": how, "at_once": count, "updates_s": by_processes(count, *known)})
                say(str(rows[-1]))
        for count in args.counts:
            rows.append({"how": "streams of one process", "at_once": count, "updates_s": by_streams(count, *known)})
            say(str(rows[-1]))
    for row in rows:
        row["tokens_s"] = row["updates_s"] and row["updates_s"] * length * streams
        say(f"{row['how']}, {row['at_once']} at once: {row['tokens_s'] or 0:,.0f} tokens/s")
    about = {"date": utc(), "device": device_name(device), "torch": torch.__version__, "cores": os.cpu_count()}
    write_json(args.out, {**about, "shape": args.shape, "rows": rows})


if __name__ == "__main__":
    run(main)
