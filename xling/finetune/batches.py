"""Which examples make a batch, and how a batch lies in memory.

Batches hold examples of nearly one length. The order belongs to (seed, epoch), so a resumed run replays nothing.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.core.seeds import numpy_rng
from xling.finetune.data import Example

POOL = 50  # batches whose examples are sorted by length together
Order = NDArray[np.int64]


class Layout:
    """How the windows of some examples lie in one matrix of tokens; sizes are rounded up to limit their variety.

    `starts` has the first row of each example, `counts` how many states each is judged by, and `places` where those
    states are, counted through all rows, example after example.
    """

    def __init__(self, examples: Sequence[Example], rounding: int, longest: int) -> None:
        self.examples, self.rounding = examples, rounding
        windows = [window for example in examples for window in example.windows]
        sizes = np.array([len(window) for window in windows])
        self.length = min(rounded(int(sizes.max()), rounding), longest)
        self.tokens = np.zeros((len(windows), self.length), dtype=np.int64)  # 0 is <pad>
        self.tokens[np.arange(self.length) < sizes[:, None]] = np.concatenate(windows)
        self.starts = np.cumsum([0] + [len(example.windows) for example in examples])
        self.counts = np.array([len(example.rows) for example in examples])
        rows = np.repeat(self.starts[:-1], self.counts) + np.concatenate([example.rows for example in examples])
        self.places: Order = rows * self.length + np.concatenate([example.places for example in examples])


def rounded(size: int, multiple: int) -> int:
    """Return the next multiple."""
    return -(-size // multiple) * multiple


def epoch_order(count: int, per_epoch: int, seed: int, epoch: int) -> Order:
    """Return the examples of an epoch: passes over all of them, each in an order of its own, cut at `per_epoch`."""
    size = per_epoch or count
    first, last = epoch * size // count, ((epoch + 1) * size - 1) // count
    passes = np.concatenate([numpy_rng("order", seed, i).permutation(count) for i in range(first, last + 1)])
    start = epoch * size - first * count
    return passes[start : start + size]


def training_batches(lengths: Order, order: Order, size: int, seed: int, epoch: int) -> list[Order]:
    """Return the batches of an epoch: sorted by length within pools of the random order, then shuffled."""
    pools = [order[start : start + size * POOL] for start in range(0, len(order), size * POOL)]
    ready = [pool[np.argsort(lengths[pool], kind="stable")] for pool in pools]
    batches = [pool[start : start + size] for pool in ready for start in range(0, len(pool), size)]
    return [batches[i] for i in numpy_rng("batches", seed, epoch).permutation(len(batches))]


def evaluation_batches(examples: Sequence[Example], budget: int) -> list[list[int]]:
    """Return the numbers of all examples, sorted by length, in batches of at most so many tokens, padding included."""
    return by_length([example.length for example in examples], [len(example.windows) for example in examples], budget)


def by_length(lengths: Sequence[int], rows: Sequence[int], budget: int) -> list[list[int]]:
    """Return the numbers of items of this length and so many rows, sorted, in batches within a budget of tokens."""
    batches: list[list[int]] = []
    total = 0
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not batches or (total + rows[number]) * lengths[number] > budget:
            batches.append([])
            total = 0
        batches[-1].append(number)
        total += rows[number]
    return batches


def tensor(values: NDArray[np.int64], device: torch.device) -> Tensor:
    """Return an array as a tensor on a device, sent there without waiting for it."""
    made = torch.from_numpy(values)
    return made if device.type == "cpu" else made.pin_memory().to(device, non_blocking=True)
