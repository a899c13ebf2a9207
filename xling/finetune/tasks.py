"""The tasks by name: inference, named entities, parts of speech; parsing has a module of its own.

Inference has a linear layer on the state of the first token. Tagging has a linear layer and a softmax on the first
subword of each word: all subwords of a batch are scored, but only first subwords have a label, and only they are read
(section 3.2 of the paper).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.core.errors import XlingError
from xling.core.stats import Measure
from xling.data.conllu import UPOS
from xling.data.ner import OUTSIDE, TYPES
from xling.data.nli import LABELS as NLI_LABELS
from xling.finetune.batches import Layout
from xling.finetune.data import BadRecordError, Example, Labels, Record, Speller, labels_of, number_of, words_of
from xling.finetune.metrics import ACCURACY, RIGHT, SPAN_SCORES, SPANS, count_right, count_spans
from xling.finetune.parsing import Parsing
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import IGNORED, Arrays, Outputs, Task, Tensors, most_common

NLI_NUMBERS = {label: number for number, label in enumerate(NLI_LABELS)}
TAGS = (OUTSIDE, *(f"{mark}-{kind}" for kind in TYPES for mark in "BI"))
NAMES = ("xnli", "ner", "parsing", "pos")


def make_task(name: str, biaffine: BiaffineSizes | None) -> Task:
    """Return a task; parsing alone needs the sizes of its parser."""
    if name == "parsing":
        if biaffine is None:
            raise XlingError("no biaffine, which parsing needs")
        return Parsing(biaffine)
    simple: dict[str, Callable[[], Task]] = {"xnli": Xnli, "ner": Ner, "pos": Pos}
    return simple[name]()


class Tagging:
    """One label per word, scored by accuracy."""

    golds = 1
    columns: tuple[str, ...] = RIGHT
    measures: Mapping[str, Measure] = ACCURACY
    baseline = "every word has the training set's most common label"

    def __init__(self, name: str, key: str, labels: Sequence[str]) -> None:
        self.name, self.key, self.labels = name, key, tuple(labels)
        self.numbers = {label: number for number, label in enumerate(labels)}

    def encode(self, record: Record, speller: Speller) -> Example:
        """Return a sentence and the numbers of its labels."""
        words = words_of(record, "words")
        labels = labels_of(record, self.key, self.numbers, len(words))
        return Example(*speller.sentence(words), np.array(labels))

    def head(self, width: int) -> nn.Module:
        """Return the classifier."""
        return nn.Linear(width, len(self.labels))

    def places(self, layout: Layout) -> Arrays:  # noqa: ARG002 (of the protocol)
        """Return nothing: every place is scored."""
        return ()

    def gold(self, layout: Layout) -> Arrays:
        """Return labels (rows, length) that stand at first subwords only."""
        labels = np.full(layout.tokens.size, IGNORED, dtype=np.int64)
        for number, example in enumerate(layout.examples):
            labels[layout.flat(number)] = example.labels
        return (labels,)

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:  # noqa: ARG002
        """Return the mean cross-entropy over words."""
        return functional.cross_entropy(head(states).flatten(0, 1), gold[0])

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:  # noqa: ARG002
        """Return the likeliest label at every place."""
        return (head(states).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the labels of the words of each sentence."""
        found = outputs[0].reshape(-1)
        return [found[layout.flat(number)] for number in range(len(layout.examples))]

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return how many words are right, of how many."""
        return count_right(example.labels, prediction)

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return the most common label for every word."""
        label = most_common([example.labels for example in train], len(self.labels))
        return lambda example: np.full(len(example.labels), label)


class Ner(Tagging):
    """BIO tags, scored by the F1 of spans."""

    columns: tuple[str, ...] = SPANS
    measures = SPAN_SCORES

    def __init__(self) -> None:
        super().__init__("ner", "tags", TAGS)

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the spans that are right, predicted and gold."""
        gold, predicted = ([TAGS[number] for number in labels.tolist()] for labels in (example.labels, prediction))
        return count_spans(gold, predicted)


class Pos(Tagging):
    """The 17 universal parts of speech; not in the paper: a cheap fourth task on the treebanks of parsing."""

    def __init__(self) -> None:
        super().__init__("pos", "upos", sorted(UPOS))


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
        label = number_of(record["label"], "label", NLI_NUMBERS)
        rows = np.arange(len(windows), dtype=np.int32)
        return Example(windows, rows, np.zeros_like(rows), np.array([label]))

    def head(self, width: int) -> nn.Module:
        """Return the classifier."""
        return nn.Linear(width, len(NLI_LABELS))

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
        label = np.array([most_common([example.labels for example in train], len(NLI_LABELS))])
        return lambda _: label


def _vectors(states: Tensor, places: Tensors) -> Tensor:
    first = states[:, 0]
    if not places:
        return first
    rows, shares = places
    weights = shares.to(first.dtype) / shares.sum(dim=1, keepdim=True)
    return torch.einsum("nk,nkd->nd", weights, first[rows])
