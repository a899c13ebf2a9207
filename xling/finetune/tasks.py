"""The tasks by name: inference, named entities, parts of speech; parsing has a module of its own.

Inference has a linear layer on the state of the first token. Tagging has a linear layer and a softmax on the first
subword of each word: all subwords of a batch are scored, but only first subwords have a label, and only they are read
(section 3.2 of the paper).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.core.errors import XlingError
from xling.data.conllu import UPOS
from xling.data.ner import OUTSIDE, TYPES
from xling.data.nli import LABELS as NLI_LABELS
from xling.finetune.batches import Layout
from xling.finetune.data import BadRecordError, Example, Labels, Record, Speller, labels_of, number_of, words_of
from xling.finetune.metrics import SPAN_SCORES, SPANS, count_spans
from xling.finetune.parsing import Parsing
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import IGNORED, Arrays, Outputs, Task, Tensors

TAGS = (OUTSIDE, *(f"{mark}-{kind}" for kind in TYPES for mark in "BI"))


def make_task(name: str, biaffine: BiaffineSizes | None) -> Task:
    """Return a task; parsing alone needs the sizes of its parser."""
    if name == "parsing":
        if biaffine is None:
            raise XlingError("no biaffine, which parsing needs")
        return Parsing(biaffine)
    simple: dict[str, Callable[[], Task]] = {"xnli": Xnli, "ner": Ner, "pos": Pos}
    return simple[name]()


class Tagging(Task):
    """One label per word, which stands at the first subword; every place is scored."""

    key: str
    baseline = "every word has the training set's most common label"

    def encode(self, record: Record, speller: Speller) -> Example:
        words = words_of(record, "words")
        labels = labels_of(record, self.key, self.numbers, len(words))
        return Example(*speller.sentence(words), np.array(labels))

    def gold(self, layout: Layout) -> Arrays:
        labels = np.full(layout.tokens.size, IGNORED, dtype=np.int64)
        labels[layout.places] = np.concatenate([example.labels for example in layout.examples])
        return (labels,)

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:  # noqa: ARG002
        return functional.cross_entropy(head(states).flatten(0, 1), gold[0])

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:  # noqa: ARG002
        return (head(states).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        return np.split(outputs[0].reshape(-1)[layout.places], np.cumsum(layout.counts)[:-1])


class Ner(Tagging):
    """BIO tags, scored by the F1 of spans."""

    name, key, labels = "ner", "tags", TAGS
    columns = SPANS
    measures = SPAN_SCORES

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        gold, predicted = ([TAGS[number] for number in labels.tolist()] for labels in (example.labels, prediction))
        return count_spans(gold, predicted)


class Pos(Tagging):
    """The 17 universal parts of speech; not in the paper: a cheap fourth task on the treebanks of parsing."""

    name, key, labels = "pos", "upos", tuple(sorted(UPOS))


class Xnli(Task):
    """Pairs of sentences. One that needs several windows is judged by the mean of their first states."""

    name, labels = "xnli", NLI_LABELS
    baseline = "the majority class of the training set"

    def encode(self, record: Record, speller: Speller) -> Example:
        windows = speller.pair(words_of(record, "premise"), words_of(record, "hypothesis"))
        if "label" not in record:
            raise BadRecordError("no label")
        label = number_of(record["label"], "label", self.numbers)
        rows = np.arange(len(windows), dtype=np.int32)
        return Example(windows, rows, np.zeros_like(rows), np.array([label]))

    def places(self, layout: Layout) -> Arrays:
        """Return for each example the rows of its windows, filled up with its first, and how much each counts."""
        if layout.counts.max() == 1:
            return ()
        numbers = np.arange(layout.counts.max())
        shares = numbers < layout.counts[:, None]
        return layout.starts[:-1, None] + numbers * shares, shares.astype(np.int64)

    def gold(self, layout: Layout) -> Arrays:
        return (np.concatenate([example.labels for example in layout.examples]),)

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        return functional.cross_entropy(head(_vectors(states, places)), gold[0])

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        return (head(_vectors(states, places)).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        return np.split(outputs[0], len(layout.examples))


def _vectors(states: Tensor, places: Tensors) -> Tensor:
    first = states[:, 0]
    if not places:
        return first
    rows, shares = places
    weights = shares.to(first.dtype) / shares.sum(dim=1, keepdim=True)
    return torch.einsum("nk,nkd->nd", weights, first[rows])
