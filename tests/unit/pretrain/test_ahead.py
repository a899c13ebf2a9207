"""Batches made ahead: the same items in order, errors passed on, no thread left behind."""

import threading
import time
from collections.abc import Iterator

import pytest

from xling.core.pool import ahead


def test_items_come_in_order() -> None:
    assert list(ahead(iter(range(50)), 3)) == list(range(50))


def test_errors_come_where_they_happened() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("no more text")

    made = ahead(broken(), 2)
    assert next(made) == 1
    with pytest.raises(ValueError, match="no more text"):
        next(made)


def test_one_that_stops_early_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    made = ahead(iter(range(10**9)), 2)
    assert next(made) == 0
    made.close()  # type: ignore[attr-defined]
    give_up = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < give_up:
        time.sleep(0.01)
    assert set(threading.enumerate()) - before == set()
