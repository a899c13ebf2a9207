"""GPU work without launch overhead: recorded once as a CUDA graph, then replayed."""

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


class Replay:
    """Runs functions identified by keys: the first call runs eagerly, the second is captured, later ones are replayed.

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
