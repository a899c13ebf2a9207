"""Parallel work with results in input order: several worker processes, or one thread that runs ahead."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Protocol, TypeVar, cast

from xling.core.errors import XlingError

Item = TypeVar("Item")
Made = TypeVar("Made")
WAITING = 3  # queued items per process: enough to keep it busy while more are read, few enough for memory


class Share(Protocol):
    """A function like `map`, whose work may run in other processes."""

    def __call__(self, work: Callable[[Item], Made], items: Iterable[Item], /) -> Iterator[Made]:
        """Yield the results in the order of the items."""


@contextmanager
def workers(processes: int) -> Iterator[Share]:
    """Yield a function like `map` that uses this many processes, or `map` itself for one process."""
    if processes == 1:
        yield map
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
    try:
        yield lambda work, items: in_order(pool, work, items, processes * WAITING)
    except BrokenProcessPool:
        raise XlingError("a worker process died, perhaps for lack of memory (use fewer --processes)") from None
    finally:
        pool.shutdown(cancel_futures=True)


def in_order(pool: Executor, work: Callable[[Item], Made], items: Iterable[Item], ahead: int) -> Iterator[Made]:
    """Yield the results of the workers in the order of the items; at most `ahead` items are in memory."""
    waiting: deque[Future[Made]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def ahead(made: Iterator[Item], depth: int) -> Iterator[Item]:
    """Yield the items of an iterator that runs up to `depth` items ahead in a thread, and raise its errors.

    With batches prepared ahead, the GPU does not wait for them.
    """
    pool, end = ThreadPoolExecutor(1), object()
    try:
        waiting = deque(pool.submit(next, made, end) for _ in range(depth))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(pool.submit(next, made, end))
            yield cast(Item, item)
    finally:
        pool.shutdown(cancel_futures=True)
