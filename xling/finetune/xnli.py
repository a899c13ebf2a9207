"""Natural language inference: a linear layer on the first token's state (section 3.2 of the paper)."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.data.nli import LABELS
from xling.finetune.batches import Layout
from xling.finetune.data import BadRecordError, Example, Labels, Record, most_common, number_of, words_of
from xling.finetune.metrics import ACCURACY, RIGHT, count_right
from xling.finetune.task import Arrays, Outputs, Tensors
from xling.finetune.windows import Speller

NUMBERS = {label: number for number, label in enumerate(LABELS)}


class Xnli:
    """Pairs of sentences. One that needs several windows is judged by the mean of their first states."""

    name = "xnli"
    golds = 1
    columns: tuple[str, ...] = RIGHT
    measures = ACCURACY
    baseline = "the majority class of the training set"

    def encode(self, record: Record, speller: Speller) -> Example:
        """Return a pair as `</s> premise </s> hypothesis </s>` and the number of its label."""
        windows = speller.pair(words_of(record, "premise"), words_of(record, "hypothesis"))
        if "label" not in record:
            raise BadRecordError("no label")
        label = number_of(record["label"], "label", NUMBERS)
        rows = np.arange(len(windows), dtype=np.int32)
        return Example(windows, rows, np.zeros_like(rows), np.array([label]))

    def head(self, width: int) -> nn.Module:
        """Return the classifier."""
        return nn.Linear(width, len(LABELS))

    def places(self, layout: Layout) -> Arrays:
        """Return for each example the rows of its windows, filled up with its first, and how much each counts."""
        most = max(len(example.windows) for example in layout.examples)
        if most == 1:
            return ()
        rows = np.repeat(layout.starts[:-1, None], most, axis=1)
        shares = np.zeros_like(rows)
        for number, example in enumerate(layout.examples):
            rows[number, : len(example.windows)] = layout.starts[number] + example.rows
            shares[number, : len(example.windows)] = 1
        return rows, shares

    def gold(self, layout: Layout) -> Arrays:
        """Return the labels."""
        return (np.concatenate([example.labels for example in layout.examples]),)

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the mean cross-entropy."""
        return functional.cross_entropy(head(_vectors(states, places)), gold[0])

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return the likeliest labels."""
        return (head(_vectors(states, places)).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the label of each pair."""
        return [outputs[0][number : number + 1] for number in range(len(layout.examples))]

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return whether the label is right."""
        return count_right(example.labels, prediction)

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return the majority class."""
        label = np.array([most_common([example.labels for example in train], len(LABELS))])
        return lambda _: label


def _vectors(states: Tensor, places: Tensors) -> Tensor:
    first = states[:, 0]
    if not places:
        return first
    rows, shares = places
    weights = shares.to(first.dtype) / shares.sum(dim=1, keepdim=True)
    return torch.einsum("nk,nkd->nd", weights, first[rows])
