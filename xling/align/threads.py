"""Work spread over CPU threads by the piece, not within every operation."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the work's results in order; as many pieces run at once as torch has threads, each on one.

    No operation waits for all threads to finish it, which costs most of the time on a machine with other work.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return [work(item) for item in items]
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, items))
    finally:
        torch.set_num_threads(threads)
