"""Record GPU work once, to be replayed: a CUDA graph that nothing else of the process can spoil."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def captured(graph: torch.cuda.CUDAGraph, pool: Any) -> Iterator[None]:
    """Capture what is done inside into the graph.

    Python's collector stays away meanwhile: if it frees the graphs of an earlier model just then, CUDA gives up the
    capture. Other threads may go on, since a batch is made while the one before it is trained on.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            yield
    finally:
        if collects:
            gc.enable()
