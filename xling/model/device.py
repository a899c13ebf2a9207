"""Devices: which one a process uses, in how many bits it computes, how work is spread over its threads."""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from xling.core.errors import EXIT_FAULT, XlingError

# What to do where GPUs are granted and do not work: by default fail; `any` takes the CPU then, `cpu` takes it always.
DEVICE, CHOICES = "XLING_DEVICE", ("", "any", "cpu")
BAD_NODES = "XLING_BAD_NODES"  # names the file to which a node is added, with the time, when its GPUs do not work
GRANTED = ("CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS")  # the first one that is set says it
NONE_GRANTED = ("", "-1", "NoDevFiles")  # what it is for a job without GPUs
Item = TypeVar("Item")
Result = TypeVar("Result")


class NoGpuError(XlingError):
    """GPUs that were granted and do not work: another node may have better ones."""

    exit_code = EXIT_FAULT


def local_device(kind: str) -> torch.device:
    """Return this process's device: its own GPU where there is one, unless the CPU is asked for.

    A job that was granted GPUs would take days on the CPU of a node whose GPUs do not work, so it fails there.
    """
    chosen, name = os.environ.get(DEVICE, ""), next((name for name in GRANTED if name in os.environ), GRANTED[0])
    granted = os.environ.get(name, "")
    if chosen not in CHOICES:
        raise XlingError(f"{DEVICE}={chosen}: expected any, cpu or nothing")
    if "cpu" in (kind, chosen) or (granted in NONE_GRANTED and not torch.cuda.is_available()):
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]  # says what is wrong; set_device of a torch without CUDA does not
        torch.cuda.set_device(device)
        torch.zeros(1, device=device)  # a GPU may be listed and yet not answer
    except (RuntimeError, AssertionError) as error:  # no driver, no such GPU, or a torch without CUDA
        node = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
        problem = f"{node}: {name}={granted}, but CUDA does not work: {str(error).splitlines()[0]}"
        if chosen != "any" or torch.cuda.is_available():
            if path := os.environ.get(BAD_NODES):
                with open(path, "a", encoding="utf-8") as handle:
                    handle.write(f"{time.time():.0f} {node}\n")
            raise NoGpuError(f"{problem} (exclude the node, or compute on a CPU with {DEVICE}=cpu)") from None
        logging.getLogger(__name__).warning("%s; using the CPU", problem)
        return torch.device("cpu")
    return device


def use_one_thread(device: torch.device) -> None:
    """On a CPU, use one thread: two processes of one thread are far faster than one of two on small models.

    On ARM, leave products of small matrices to BLAS too: oneDNN takes longer to look up how to multiply them than to do
    it, a quarter of the time of a model of width 32. torch reads the variable at its first product.
    """
    if device.type == "cpu":
        torch.set_num_threads(1)
        os.environ.setdefault("TORCH_MKLDNN_MATMUL_MIN_DIM", "256")


def generator(device: torch.device) -> torch.Generator:
    """Return torch's own random number generator of a device."""
    return torch.cuda.default_generators[device.index or 0] if device.type == "cuda" else torch.default_generator


def half_type() -> torch.dtype:
    """Return the 16-bit type of this machine's GPU: bf16, or fp16 where bf16 is not fast (a V100)."""
    return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16


def autocast_type(device: torch.device, training: bool) -> torch.dtype | None:
    """Return the type that products are computed in, or None for float32.

    Gradients in fp16 vanish without a loss scale, which only pretraining has, so other training uses float32 there.
    """
    if device.type != "cuda":
        return None
    half = half_type()
    return None if training and half == torch.float16 else half


def precision(device: torch.device) -> str:
    """Return the types that a device trains and evaluates in: a job resumes only where they are the same."""
    return " ".join(str(autocast_type(device, training) or torch.float32) for training in (True, False))


def autocast(device: torch.device, training: bool = False) -> torch.autocast:
    """Return the context that a model runs in on a device."""
    chosen = autocast_type(device, training)
    return torch.autocast("cuda", chosen, enabled=chosen is not None)


@contextmanager
def exact_products() -> Iterator[None]:
    """Compute float32 products without TF32 and sum 16-bit ones in float32; restore the caller's choice afterwards."""
    matmul = torch.backends.cuda.matmul
    before = torch.get_float32_matmul_precision(), matmul.allow_fp16_reduced_precision_reduction
    torch.set_float32_matmul_precision("highest")
    matmul.allow_fp16_reduced_precision_reduction = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        matmul.allow_fp16_reduced_precision_reduction = before[1]


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the results of some work in order; as many items run at once as torch has threads, one thread each.

    Splitting every operation over all threads instead makes each wait for the slowest, which costs most of the time on
    a busy machine.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return [work(item) for item in items]
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, items))
    finally:
        torch.set_num_threads(threads)
