"""Selection of the examples of each batch, and the memory layout of a batch.

Batches hold examples of similar length. Their order depends only on (seed, epoch), so a resumed run replays nothing.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.core.seeds import numpy_rng
from xling.finetune.data import Example

POOL = 50  # number of batches whose examples are sorted by length together
Order = NDArray[np.int64]


class Layout:
    """A batch of examples as one matrix of token ids with one window per row.

    The row length is rounded up, so few different shapes occur. `starts` holds the first row of each example, `counts`
    the number of hidden states that the task reads per example, and `places` their indices in the flattened matrix.
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
    """Return `size` rounded up to a multiple of `multiple`."""
    return -(-size // multiple) * multiple


def epoch_order(count: int, per_epoch: int, seed: int, epoch: int) -> Order:
    """Return the example numbers of an epoch: the next `per_epoch` (0: all) of repeated passes, each shuffled anew."""
    size = per_epoch or count
    first, last = epoch * size // count, ((epoch + 1) * size - 1) // count
    passes = np.concatenate([numpy_rng("order", seed, i).permutation(count) for i in range(first, last + 1)])
    start = epoch * size - first * count
    return passes[start : start + size]


def training_batches(lengths: Order, order: Order, size: int, seed: int, epoch: int) -> list[Order]:
    """Return the batches of an epoch in random order; examples are sorted by length within pools before batching."""
    pools = [order[start : start + size * POOL] for start in range(0, len(order), size * POOL)]
    ready = [pool[np.argsort(lengths[pool], kind="stable")] for pool in pools]
    batches = [pool[start : start + size] for pool in ready for start in range(0, len(pool), size)]
    return [batches[i] for i in numpy_rng("batches", seed, epoch).permutation(len(batches))]


def evaluation_batches(examples: Sequence[Example], budget: int) -> list[list[int]]:
    """Return the numbers of all examples, sorted by length, in batches of at most `budget` tokens including padding."""
    return by_length([example.length for example in examples], [len(example.windows) for example in examples], budget)


def by_length(lengths: Sequence[int], rows: Sequence[int], budget: int) -> list[list[int]]:
    """Return item numbers sorted by length, in batches whose rows times longest length are within `budget`."""
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
    """Return an array as a tensor on a device; a copy to a GPU is asynchronous."""
    made = torch.from_numpy(values)
    return made if device.type == "cpu" else made.pin_memory().to(device, non_blocking=True)
