"""GPU work without the cost of launching it: recorded once as a CUDA graph, then replayed."""

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


class Replay:
    """Does pieces of work, each known by a key: eagerly the first time, captured the second, replayed from then on.

    The eager run compiles and warms up, and work that comes once is never captured. Without `captures`, as on a CPU,
    everything runs eagerly. With `empty_cache` the memory of the eager run is freed for the captured one.
    """

    def __init__(self, captures: bool, empty_cache: bool = False) -> None:
        self.captures, self.empty_cache = captures, empty_cache
        self.graphs: dict[Hashable, torch.cuda.CUDAGraph | None] = {}
        self.pool = torch.cuda.graph_pool_handle() if captures else None

    def __call__(self, key: Hashable, work: Callable[[], None]) -> None:
        """Do some work, which must always read and write the same memory under the same key."""
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

    Python's garbage collector is off meanwhile: if it freed the graphs of an earlier model during the capture, CUDA
    would abort it. Other threads may work on, because a batch is made while the one before it trains. Work of a stream
    is captured on that stream, because cuBLAS has scratch memory for each: graphs of two streams, replayed at the same
    time, must not share it. The default stream cannot be captured, so its work is captured on one of torch's own.
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
