"""Work that is shared out over processes, or done ahead in a thread, and comes back in order."""

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
WAITING = 3  # items for each process: none is idle while more are read, and no more than these are in memory


class Share(Protocol):
    """As `map`, but the work may be done elsewhere."""

    def __call__(self, work: Callable[[Item], Made], items: Iterable[Item], /) -> Iterator[Made]:
        """Yield what is made of the items, in their order."""


@contextmanager
def workers(processes: int) -> Iterator[Share]:
    """Give a `map` that several processes work for, or this one alone."""
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
    """Yield what the workers make of the items, in their order; at most `ahead` of them are in memory."""
    waiting: deque[Future[Made]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def ahead(made: Iterator[Item], depth: int) -> Iterator[Item]:
    """Yield the items of an iterator that runs up to `depth` items ahead in a thread; its errors are raised here.

    A GPU then never waits for its next batch.
    """
    pool, end = ThreadPoolExecutor(1), object()
    try:
        waiting = deque(pool.submit(next, made, end) for _ in range(depth))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(pool.submit(next, made, end))
            yield cast(Item, item)
    finally:
        pool.shutdown(cancel_futures=True)
