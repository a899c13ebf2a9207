"""Work done ahead in a thread of its own, so that a GPU never waits for its next batch."""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Item = TypeVar("Item")


def ahead(made: Iterator[Item], depth: int) -> Iterator[Item]:
    """Yield the items of an iterator that runs up to `depth` items ahead; its errors are raised here."""
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
