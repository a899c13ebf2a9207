"""Work of other processes and threads comes back in order, with its errors, and little of it lies in memory."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from xling.core import pool


@pytest.mark.parametrize("depth", [1, 3, 50])
def test_results_are_in_order_and_few_items_are_taken_ahead(depth):
    taken: list[int] = []

    def items():
        for item in range(20):
            taken.append(item)
            yield item

    with ThreadPoolExecutor(2) as executor:
        for place, made in enumerate(pool.in_order(executor, lambda item: item**2, items(), depth)):
            assert made == place**2
            assert len(taken) <= place + depth
    assert len(taken) == place + 1 == 20
    assert list(pool.ahead(iter(range(50)), depth)) == list(range(50))


def test_errors_of_a_thread_come_where_they_happened_and_one_that_stops_early_leaves_no_thread():
    def broken():
        yield 1
        raise ValueError("no more text")

    before = set(threading.enumerate())
    made, endless = pool.ahead(broken(), 2), pool.ahead(iter(range(10**9)), 2)
    assert (next(made), next(endless)) == (1, 0)
    with pytest.raises(ValueError, match="no more text"):
        next(made)
    endless.close()
    give_up = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < give_up:
        time.sleep(0.01)
    assert set(threading.enumerate()) - before == set()
