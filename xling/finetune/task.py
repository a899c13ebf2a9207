"""What a task is to the trainer, and the parts that tasks share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xling.bpe.vocabulary import Vocabulary
from xling.core.seeds import numpy_rng
from xling.core.stats import Counts, Measure
from xling.finetune.batches import Layout
from xling.finetune.data import Example, Labels, Record, Speller, read_examples
from xling.finetune.metrics import ACCURACY, RIGHT, Result, count_right

IGNORED = -100  # a label that counts for nothing, as PyTorch has it
Arrays = tuple[NDArray[np.int64], ...]
Tensors = Sequence[Tensor]
Outputs = Sequence[NDArray[Any]]


class Task(ABC):
    """A task: what its examples are, its layers on top of the encoder, its loss, its predictions, its score.

    `places` and `predict` never see a label; predictions have the shape of the labels they are compared with. Unless a
    task says otherwise, an example has one label per item, a linear layer predicts it, and accuracy scores it.
    """

    name: str
    labels: Sequence[str]
    golds = 1  # how many arrays `gold` returns
    columns: tuple[str, ...] = RIGHT  # of the counts an item is scored by
    measures: Mapping[str, Measure] = ACCURACY  # from sums of counts; the first decides
    baseline: str  # what `guess` does, in words

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    @abstractmethod
    def encode(self, record: Record, speller: Speller) -> Example:
        """Return a record as ids and labels."""

    def head(self, width: int) -> nn.Module:
        """Return the task's own layers, not initialised yet."""
        return nn.Linear(width, len(self.labels))

    def places(self, layout: Layout) -> Arrays:  # noqa: ARG002
        """Return where in a batch the states are that the task reads; nothing where it reads all of them."""
        return ()

    @abstractmethod
    def gold(self, layout: Layout) -> Arrays:
        """Return the labels of a batch."""

    @abstractmethod
    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the mean loss of a batch from the encoder's states (rows, length, width)."""

    @abstractmethod
    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return all that the predictions of a batch are read from."""

    @abstractmethod
    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the prediction for each example of a batch."""

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the counts of one item."""
        return count_right(example.labels, prediction)

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return what one would say without reading the text, from the training labels alone."""
        label = most_common([example.labels for example in train], len(self.labels))
        return lambda example: np.full(len(example.labels), label)


def read_set(path: Path, task: Task, vocabulary: Vocabulary, language: str, longest: int) -> list[Example]:
    """Read a task's file in one language."""
    return read_examples(path, partial(task.encode, speller=Speller(vocabulary, language, longest)))


def score(task: Task, counts: Counts) -> dict[str, float]:
    """Return every measure of a task, the deciding one first, from the counts of items (items, columns)."""
    total = counts.sum(axis=0)
    return {name: float(measure(total)) for name, measure in task.measures.items()}


def count_items(task: Task, examples: Sequence[Example], predictions: Sequence[Labels]) -> Counts:
    """Return the counts (items, columns) of predictions."""
    rows = [task.count(example, found) for example, found in zip(examples, predictions, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(task.columns))


def scored(task: Task, counts: Counts) -> Result:
    """Return all measures, and one line of numbers per column: what a bootstrap needs."""
    columns = zip(task.columns, counts.T.tolist(), strict=True)
    items = {name: " ".join(map(str, column)) for name, column in columns}
    return {"measures": score(task, counts), "items": items, "columns": list(task.columns)}


def most_common(labels: Sequence[Labels], classes: int) -> int:
    """Return the label seen most often, the first of those if several are."""
    return int(np.bincount(np.concatenate(labels), minlength=classes).argmax())


def initialise_head(head: nn.Module, seed: int) -> None:
    """Initialise linear layers as PyTorch does, uniform within 1 / sqrt(inputs), each from a generator of its own name.

    Biases start at zero, and so do the biaffine forms, as their authors have it.
    """
    for name, parameter in head.named_parameters():
        bound = 1 / math.sqrt(parameter.shape[-1]) if name.endswith("weight") else 0.0
        values = numpy_rng("head", seed, name).uniform(-bound, bound, tuple(parameter.shape))
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values))
