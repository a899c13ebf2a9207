"""Sums of hidden states over words or sentences; text of any length is streamed, and only the sums are held in memory.

Text is cut into windows that fit the encoder. Every subword in a window has a weight, one over the number of subwords
in its word or sentence, and a row of the result to which its weighted state is added. Batches hold equal lengths.

Each batch is sorted by row and summed separately, then added to the totals. The totals thus receive one addition per
batch, for which float32 is precise enough: 3,000 batches of 64k subwords leave an error of about 1e-5, less than
float16 storage causes. The result does not depend on the order in which GPU threads finish.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.bpe.streams import END
from xling.model.encoder import Encoder

POOL = 8192  # windows that are sorted by length together
BATCH_TOKENS = {"cpu": 4096, "cuda": 65536}
ROUNDING = {"cpu": 1, "cuda": 8}  # lengths are rounded up to this multiple; padding slows a CPU more than small batches
NOWHERE = -1  # row of a subword that is not added to the result


class Window(NamedTuple):
    """Subword ids, and for each subword the row that its state is added to (or NOWHERE) and its weight."""

    ids: NDArray[np.int64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64]


class Batch(NamedTuple):
    """Tokens (b, s), each window between two `</s>` and padded with zeros, and the states to add, sorted by row."""

    tokens: NDArray[np.int64]
    places: NDArray[np.int64]  # flat positions of the states in tokens
    weights: NDArray[np.float32]
    rows: NDArray[np.int64]  # rows of the result, each listed once
    counts: NDArray[np.int64]  # number of states added to each row


def cut(whole: Window, longest: int) -> Iterator[Window]:
    """Yield windows of at most `longest` tokens, including a `</s>` at each end; cuts are made between any subwords."""
    room = longest - 2
    for start in range(0, len(whole.ids), room):
        part = slice(start, start + room)
        yield Window(whole.ids[part], whole.rows[part], whole.weights[part])


def batches(windows: Iterable[Window], device: str) -> Iterator[Batch]:
    """Yield all windows in batches of windows of nearly equal length."""
    rest, step = iter(windows), ROUNDING[device]
    while pool := sorted(islice(rest, POOL), key=lambda window: len(window.ids)):
        group: list[Window] = []
        for window in pool:
            length = -(-(len(window.ids) + 2) // step) * step
            shorter = bool(group) and length != -(-(len(group[0].ids) + 2) // step) * step
            if group and (shorter or (len(group) + 1) * length > BATCH_TOKENS[device]):
                yield lay_out(group)
                group = []
            group.append(window)
        yield lay_out(group)


def lay_out(windows: Sequence[Window]) -> Batch:
    """Return windows, which must be sorted by length, as one batch."""
    lengths = np.array([len(window.ids) for window in windows])
    width = int(lengths[-1]) + 2
    ids, rows, weights = (np.concatenate([window[part] for window in windows]) for part in range(3))
    owners = np.repeat(np.arange(len(windows)), lengths)
    inside = np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = owners * width + inside + 1
    tokens = np.zeros((len(windows), width), dtype=np.int64)  # 0 is <pad>
    tokens[:, 0] = tokens[np.arange(len(windows)), lengths + 1] = END
    tokens.reshape(-1)[places] = ids
    order = np.argsort(rows, kind="stable")
    order = order[np.searchsorted(rows[order], 0) :]  # drop NOWHERE
    found, counts = np.unique(rows[order], return_counts=True)
    return Batch(tokens, places[order], weights[order].astype(np.float32), found.astype(np.int64), counts)


def add_up(encoder: Encoder, language: int, windows: Iterable[Window], rows: int) -> Tensor:
    """Return the weighted sums of hidden states (layers + 1, rows, width), on the encoder's device."""
    device, shape = next(encoder.parameters()).device, encoder.config.shape
    totals = torch.zeros(shape.layers + 1, rows, shape.width, device=device)
    for batch in batches(windows, device.type):
        tokens, places, weights, owners, counts = (torch.from_numpy(part).to(device) for part in batch)
        if not len(owners):
            continue
        keep = None if device.type == "cpu" else tokens != 0  # on a CPU, all windows of a batch have one length
        for total, states in zip(totals, encoder.layer_states(tokens, language, keep), strict=True):
            picked = states.flatten(0, 1)[places] * weights[:, None]
            total[owners] += torch.segment_reduce(picked, "sum", lengths=counts)
    return totals
