"""Work shared out over workers comes back in order, and no more of it lies in memory than asked for."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from xling.core.pool import in_order


@pytest.mark.parametrize("ahead", [1, 3, 50])
def test_results_are_in_order_and_few_items_are_taken_ahead(ahead: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(20):
            taken.append(item)
            yield item

    with ThreadPoolExecutor(2) as pool:
        for place, made in enumerate(in_order(pool, lambda item: item**2, items(), ahead)):
            assert made == place**2
            assert len(taken) <= place + ahead
    assert len(taken) == place + 1 == 20
