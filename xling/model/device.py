"""Devices: the device of a process, its precision, work over threads, and GPU work without the cost of launches."""

import gc
import logging
import os
import socket
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

from xling.core.errors import EXIT_FAULT, XlingError

# If GPUs are granted but do not work, the default is to fail; `any` falls back to the CPU. `cpu` always uses the CPU.
DEVICE, CHOICES = "XLING_DEVICE", ("", "any", "cpu")
BAD_NODES = "XLING_BAD_NODES"  # variable with the path of a file that lists nodes whose GPUs do not work, with the time
GRANTED = ("CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS")  # the first variable that is set counts
NONE_GRANTED = ("", "-1", "NoDevFiles")  # its values for a job without GPUs
Item = TypeVar("Item")
Result = TypeVar("Result")


class NoGpuError(XlingError):
    """GPUs were granted but do not work; the job may succeed on another node."""

    exit_code = EXIT_FAULT


def local_device(kind: str) -> torch.device:
    """Return the device of this process: its own GPU if there is one, unless the CPU is requested.

    If GPUs were granted but do not work, this raises NoGpuError, because such a job would take days on a CPU.
    """
    chosen, name = os.environ.get(DEVICE, ""), next((name for name in GRANTED if name in os.environ), GRANTED[0])
    granted = os.environ.get(name, "")
    if chosen not in CHOICES:
        raise XlingError(f"{DEVICE}={chosen}: expected any, cpu or nothing")
    if "cpu" in (kind, chosen) or (granted in NONE_GRANTED and not torch.cuda.is_available()):
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]  # if torch lacks CUDA, set_device has no clear error
        torch.cuda.set_device(device)
        torch.zeros(1, device=device)  # a GPU may be listed but not respond
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
    """On a CPU, use one thread: for small models, two processes with one thread are far faster than one with two.

    On ARM, also leave products of small matrices to BLAS: oneDNN takes longer to choose a kernel than to multiply (a
    quarter of the run time of a model of width 32). torch reads the environment variable at its first product.
    """
    if device.type == "cpu":
        torch.set_num_threads(1)
        os.environ.setdefault("TORCH_MKLDNN_MATMUL_MIN_DIM", "256")


def generator(device: torch.device) -> torch.Generator:
    """Return torch's default random number generator of a device."""
    return torch.cuda.default_generators[device.index or 0] if device.type == "cuda" else torch.default_generator


def half_type() -> torch.dtype:
    """Return the 16-bit type for this machine's GPU: bf16, or fp16 if the GPU only emulates bf16 (as a V100 does)."""
    return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16


def autocast_type(device: torch.device, training: bool) -> torch.dtype | None:
    """Return the autocast type for products, or None for float32.

    fp16 gradients underflow without a loss scale. Only pretraining has one, so other training replaces fp16 by float32.
    """
    if device.type != "cuda":
        return None
    half = half_type()
    return None if training and half == torch.float16 else half


def precision(device: torch.device) -> str:
    """Return the types used for training and evaluation on a device; a job resumes only if they are unchanged."""
    return " ".join(str(autocast_type(device, training) or torch.float32) for training in (True, False))


def autocast(device: torch.device, training: bool = False) -> torch.autocast:
    """Return the autocast context in which a model runs on a device."""
    chosen = autocast_type(device, training)
    return torch.autocast("cuda", chosen, enabled=chosen is not None)


@contextmanager
def exact_products() -> Iterator[None]:
    """Compute float32 products without TF32 and sum 16-bit products in float32; restore the old settings on exit."""
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
    """Apply `work` to items in parallel, with one thread per item, and return the results in order.

    Splitting every operation over all threads instead would make each operation wait for the slowest thread, which
    takes most of the time on a busy machine.
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


class Replay:
    """Runs GPU work, identified by keys: the first call runs eagerly, the second is captured, later ones are replayed.

    The eager run compiles and warms up, and a function that runs only once is never captured. Without `captures`, as on
    a CPU, everything runs eagerly. With `empty_cache`, the memory of the eager run is freed before the capture.
    """

    def __init__(self, captures: bool, empty_cache: bool = False) -> None:
        self.captures, self.empty_cache = captures, empty_cache
        self.graphs: dict[Hashable, torch.cuda.CUDAGraph | None] = {}
        self.pool = torch.cuda.graph_pool_handle() if captures else None

    def __call__(self, key: Hashable, work: Callable[[], None]) -> None:
        """Run `work`; calls with the same key must always read and write the same memory."""
        if not self.captures or key not in self.graphs:
            self.graphs[key] = None
            work()
            return
        graph = self.graphs[key]
        if graph is None:
            if self.empty_cache:
                torch.cuda.empty_cache()
            graph = self.graphs[key] = torch.cuda.CUDAGraph()
            with captured(graph, self.pool):
                work()
        graph.replay()


@contextmanager
def captured(graph: torch.cuda.CUDAGraph, pool: Any) -> Iterator[None]:
    """Capture the GPU work of a block in a CUDA graph.

    Python's garbage collector is off during the capture: if it freed the graphs of an earlier model, CUDA would abort
    the capture. Other threads may make CUDA calls, because the next batch is prepared while the current one trains. The
    capture uses the current CUDA stream, because cuBLAS has scratch memory per stream, and graphs of two streams that
    are replayed at the same time must not share it. If that is the default stream, torch's capture stream is used.
    """
    current, collects = torch.cuda.current_stream(), gc.isenabled()
    stream = None if current == torch.cuda.default_stream() else current
    gc.disable()
    try:
        with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
            yield
    finally:
        if collects:
            gc.enable()
