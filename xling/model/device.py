"""Devices: which one a process uses, in how many bits it computes, how work is spread over its threads."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def local_device(kind: str) -> torch.device:
    """Return this process's device: its own GPU where there is one, unless the CPU is asked for."""
    if kind == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
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
