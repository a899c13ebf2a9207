"""What a task is to the trainer, and the parts that tasks share."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xling.core.seeds import numpy_rng
from xling.core.stats import Measure
from xling.finetune.batches import Layout
from xling.finetune.data import Example, Labels, Record
from xling.finetune.windows import Speller

IGNORED = -100  # a label that counts for nothing, as PyTorch has it
Arrays = tuple[NDArray[np.int64], ...]
Tensors = Sequence[Tensor]
Outputs = Sequence[NDArray[Any]]


class Task(Protocol):
    """A task: what its examples are, its layers on top of the encoder, its loss, its predictions, its score.

    `places` and `predict` never see a label; predictions have the shape of the labels they are compared with.
    """

    name: str
    golds: int  # how many arrays `gold` returns
    columns: tuple[str, ...]  # of the counts an item is scored by
    measures: Mapping[str, Measure]  # from sums of counts; the first decides
    baseline: str  # what `guess` does, in words

    def encode(self, record: Record, speller: Speller) -> Example:
        """Return a record as ids and labels."""

    def head(self, width: int) -> nn.Module:
        """Return the task's own layers, weights not drawn yet."""

    def places(self, layout: Layout) -> Arrays:
        """Return where in a batch the states are that the task reads."""

    def gold(self, layout: Layout) -> Arrays:
        """Return the labels of a batch."""

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the mean loss of a batch from the encoder's states (rows, length, width)."""

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return all that the predictions of a batch are read from."""

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the prediction for each example of a batch."""

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the counts of one item."""

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return what one would say without reading the text, from the training labels alone."""


def score(task: Task, counts: NDArray[Any]) -> dict[str, float]:
    """Return every measure of a task from the counts of items (items, columns)."""
    total = counts.sum(axis=0)
    return {name: float(measure(total)) for name, measure in task.measures.items()}


def main_score(task: Task, counts: NDArray[Any]) -> float:
    """Return the measure that decides."""
    return next(iter(score(task, counts).values()))


def count_items(task: Task, examples: Sequence[Example], predictions: Sequence[Labels]) -> NDArray[np.int64]:
    """Return the counts (items, columns) of predictions."""
    rows = [task.count(example, found) for example, found in zip(examples, predictions, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(task.columns))


def initialise_head(head: nn.Module, seed: int) -> None:
    """Draw linear layers as PyTorch does, uniform within 1 / sqrt(inputs), each from a generator of its own name.

    Biases start at zero, and so do the biaffine forms, as their authors have it.
    """
    for name, parameter in head.named_parameters():
        bound = 1 / math.sqrt(parameter.shape[-1]) if name.endswith("weight") else 0.0
        drawn = numpy_rng("head", seed, name).uniform(-bound, bound, tuple(parameter.shape))
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(drawn))
