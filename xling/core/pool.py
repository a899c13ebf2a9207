"""Work that is shared out over processes, or done ahead in a thread, and comes back in order."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


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
    ready: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(depth)
    gone = threading.Event()

    def put(item: Item | None, error: BaseException | None) -> None:
        while not gone.is_set():
            try:
                return ready.put((item, error), timeout=0.2)
            except queue.Full:
                continue
        return None

    def fill() -> None:
        try:
            for item in made:
                put(item, None)
                if gone.is_set():
                    return
            put(None, StopIteration())
        except BaseException as error:
            put(None, error)

    threading.Thread(target=fill, daemon=True).start()
    try:
        while True:
            item, error = ready.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        gone.set()
