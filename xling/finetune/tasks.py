"""The tasks: encoding of examples, layers on top of the encoder, losses, predictions and counts for scoring.

Tagging uses a linear layer and a softmax on the hidden state of the first subword of each word. The layer scores all
subwords of a batch, but only first subwords have a label, and other predictions are ignored. Inference uses a linear
layer on the first token, and parsing a biaffine parser on first subwords (section 3.2 of the paper).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError
from xling.core.records import record
from xling.core.stats import Counts
from xling.core.tasks import TaskName
from xling.data.tasks import NLI_LABELS, OUTSIDE, TYPES, UPOS, find_cycle
from xling.finetune import data, metrics
from xling.finetune.data import BadRecordError, Example, Labels, Layout, Order, Record, Speller
from xling.finetune.metrics import Result
from xling.finetune.parsing import CLOSED, NUMBERS, PARTS, RELATIONS, ROOT, Biaffine, best_tree
from xling.finetune.settings import BiaffineSizes, Settings
from xling.model.layers import rounded

IGNORED = -100  # label that the loss skips: cross_entropy's default ignore_index
TAGS = (OUTSIDE, *(f"{mark}-{kind}" for kind in TYPES for mark in "BI"))
Arrays = tuple[NDArray[np.int64], ...]
Tensors = Sequence[Tensor]
Outputs = Sequence[NDArray[Any]]
Tests = Mapping[str, tuple[int, Sequence[Example]]]  # language code: (index of the language in the encoder, test set)


class Task:
    """A task. By default each word has one label, a linear layer predicts it, and the measure is accuracy.

    `places` and `predict` never see a label. Predictions have the shape of the labels they are compared with.
    """

    name: str
    key: str  # key of the labels in a record
    labels: Sequence[str]
    golds = 1  # number of arrays that `gold` returns
    pick: Callable[[Tensor], Tensor] | None = None  # selects the positions (b, s, d) that the task reads, if not all
    columns: tuple[str, ...] = metrics.RIGHT  # names of the counts of an item
    baseline = "every word has the training set's most common label"  # description of `guess`

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    def encode(self, record: Record, speller: Speller) -> Example:
        """Convert a record to token ids and labels."""
        words = data.words_of(record, "words")
        labels = data.labels_of(record, self.key, self.numbers, len(words))
        return Example(*speller.sentence(words), np.array(labels))

    def head(self, width: int) -> nn.Module:
        """Return the layers of the task, not initialised yet."""
        return nn.Linear(width, len(self.labels))

    def places(self, layout: Layout) -> Arrays:  # noqa: ARG002
        """Return the positions in a batch of the hidden states that the task reads; none if it reads all of them."""
        return ()

    def gold(self, layout: Layout) -> Arrays:
        """Return the labels of a batch."""
        labels = np.full(layout.tokens.size, IGNORED, dtype=np.int64)
        labels[layout.places] = np.concatenate([example.labels for example in layout.examples])
        return (labels,)

    def vectors(self, states: Tensor, places: Tensors) -> Tensor:  # noqa: ARG002
        """Return the input of the linear layer, taken from the encoder's hidden states (rows, length, width)."""
        return states

    def loss(self, head: Any, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the mean loss of a batch."""
        return functional.cross_entropy(head(self.vectors(states, places)).flatten(0, -2), gold[0])

    def predict(self, head: Any, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return the output tensors of a batch, from which `read` makes the predictions."""
        return (head(self.vectors(states, places)).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the prediction for each example of a batch."""
        return np.split(outputs[0].reshape(-1)[layout.places], np.cumsum(layout.counts)[:-1])

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the counts of one item: the number of correct labels and the number of labels."""
        return int((example.labels == prediction).sum()), len(prediction)

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return the baseline: a predictor that knows the training labels but does not read the text."""
        label = most_common([example.labels for example in train], len(self.labels))
        return lambda example: np.full(len(example.labels), label)


class Pos(Task):
    """The 17 universal parts of speech: a cheap fourth task on the treebanks of parsing, which is not in the paper."""

    name, key, labels = "pos", "upos", tuple(sorted(UPOS))


class Ner(Task):
    """Named entities as BIO tags, scored by the F1 of spans."""

    name, key, labels = "ner", "tags", TAGS
    columns = metrics.SPANS

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        gold, predicted = ([TAGS[number] for number in labels.tolist()] for labels in (example.labels, prediction))
        return metrics.count_spans(gold, predicted)


class Xnli(Task):
    """Pairs of sentences; a pair with several windows is represented by the mean of their first hidden states."""

    name, key, labels = "xnli", "label", NLI_LABELS
    baseline = "the majority class of the training set"

    @staticmethod
    def pick(states: Tensor) -> Tensor:
        """Return the first states alone, (b, 1, d)."""
        return states[:, :1]

    def encode(self, record: Record, speller: Speller) -> Example:
        windows = speller.pair(data.words_of(record, "premise"), data.words_of(record, "hypothesis"))
        if "label" not in record:
            raise BadRecordError("no label")
        label = data.number_of(record["label"], "label", self.numbers)
        rows = np.arange(len(windows), dtype=np.int32)
        return Example(windows, rows, np.zeros_like(rows), np.array([label]))

    def places(self, layout: Layout) -> Arrays:
        """Return the rows of each example's windows, padded with its first row, and a mask of the rows to average."""
        if layout.counts.max() == 1:  # one window per example: nothing to average
            return ()
        numbers = np.arange(layout.counts.max())
        shares = numbers < layout.counts[:, None]
        return layout.starts[:-1, None] + numbers * shares, shares.astype(np.int64)

    def gold(self, layout: Layout) -> Arrays:
        return (np.concatenate([example.labels for example in layout.examples]),)

    def vectors(self, states: Tensor, places: Tensors) -> Tensor:
        first = states[:, 0]
        if not places:
            return first
        rows, shares = places
        weights = shares.to(first.dtype) / shares.sum(dim=1, keepdim=True)
        return torch.einsum("nk,nkd->nd", weights, first[rows])

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        return np.split(outputs[0], len(layout.examples))


class Parsing(Task):
    """Dependency trees; the labels of an example have three rows: heads, relations, and whether the word is scored."""

    name, labels = "parsing", RELATIONS
    golds = 2
    columns = metrics.ATTACHMENT
    baseline = "every word hangs on its neighbour, left or right, with the training set's most common relation"

    def __init__(self, sizes: BiaffineSizes) -> None:
        self.sizes = sizes

    def encode(self, record: Record, speller: Speller) -> Example:
        words = data.words_of(record, "words")
        heads = data.aligned(record, "heads", len(words))
        for place, head in enumerate(heads, start=1):
            if not isinstance(head, int) or isinstance(head, bool) or not 0 <= head <= len(words):
                raise BadRecordError(f"heads: {head!r} of word {place} is not in 0 to {len(words)}")
        if heads.count(0) != 1 or find_cycle(heads):
            raise BadRecordError("heads: not one tree with one root")
        relations = data.labels_of(record, "deprels", NUMBERS, len(words))
        scored = data.labels_of(record, "upos", PARTS, len(words))
        return Example(*speller.sentence(words), np.array([heads, relations, scored]))

    def head(self, width: int) -> nn.Module:
        return Biaffine(width, self.sizes, len(RELATIONS))

    def words(self, layout: Layout) -> NDArray[np.bool_]:
        """Return the mask (n, w) of the words that exist; w is rounded up like the row length of a batch."""
        most = rounded(int(layout.counts.max()), layout.rounding)
        exist: NDArray[np.bool_] = np.arange(most) < layout.counts[:, None]
        return exist

    def places(self, layout: Layout) -> Arrays:
        """Return the positions (n, h) of the root and the words, and a mask; the root is at the first `</s>`."""
        exist = np.pad(self.words(layout), ((0, 0), (1, 0)), constant_values=True)
        places = np.repeat(layout.starts[:-1, None] * layout.length, exist.shape[1], axis=1)
        places[:, 1:][exist[:, 1:]] = layout.places
        return places, exist.astype(np.int64)

    def gold(self, layout: Layout) -> Arrays:
        """Return the gold heads and relations, each (n, w)."""
        words = self.words(layout)
        labels = np.full((2, *words.shape), IGNORED, dtype=np.int64)
        labels[:, words] = np.concatenate([example.labels[:2] for example in layout.examples], axis=1)
        return labels[0], labels[1]

    def scored(self, parser: Biaffine, states: Tensor, places: Tensors) -> tuple[Tensor, Tensor, Tensor]:
        """Return the arc scores, with nonexistent heads excluded, and the label dependents and label heads."""
        arc_dep, arc_head, label_dep, label_head = parser.views(states.flatten(0, 1)[places[0]])
        arcs = torch.where(places[1].bool()[:, None, :], parser.arcs(arc_dep, arc_head), CLOSED)
        return arcs, label_dep, label_head

    def loss(self, head: Biaffine, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the sum of two mean losses per word: cross-entropy of heads, and of relations given the gold head."""
        (arcs, label_dep, label_head), (heads, relations) = self.scored(head, states, places), gold
        index = heads.clamp(min=0)[..., None].expand(-1, -1, label_head.shape[-1])
        labels = head.labels_at(label_dep, label_head.gather(1, index))
        arc_loss = functional.cross_entropy(arcs.flatten(0, 1), heads.flatten())
        return arc_loss + functional.cross_entropy(labels.flatten(0, 1), relations.flatten())

    def predict(self, head: Biaffine, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return log-probabilities of heads and the likeliest relation to each head; only the root gets `root`."""
        arcs, label_dep, label_head = self.scored(head, states, places)
        labels = head.labels(label_dep, label_head)
        labels[..., ROOT] = CLOSED
        best = labels.argmax(dim=-1)
        best[..., 0] = ROOT
        return functional.log_softmax(arcs, dim=-1), best

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the heads and relations of the best tree of each sentence."""
        trees = []
        for arcs, relations, words in zip(*outputs, layout.counts, strict=True):
            heads = best_tree(arcs[:words, : words + 1])
            trees.append(np.stack([heads, relations[np.arange(words), heads]]))
        return trees

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the numbers of words with correct head and relation, with correct head, and scored at all."""
        same = (example.labels[:2] == prediction)[:, example.labels[2].astype(bool)]
        return int(same.all(axis=0).sum()), int(same[0].sum()), same.shape[1]

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return a baseline that attaches each word to its left or right neighbour, whichever is better in training."""
        relation = most_common([example.labels[1] for example in train], len(RELATIONS))

        def chain(example: Example, left: bool) -> Labels:
            words = len(example.rows)
            heads = np.arange(words) if left else np.arange(2, words + 2) % (words + 1)
            return np.stack([heads, np.where(heads == 0, ROOT, relation)])

        chains = [partial(chain, left=left) for left in (True, False)]
        return max(chains, key=lambda made: sum(self.count(example, made(example))[0] for example in train))


def make_task(name: str, biaffine: BiaffineSizes | None) -> Task:
    """Return a task by its name; only parsing needs `biaffine`, the sizes of the parser."""
    if name != "parsing":
        return {"xnli": Xnli, "ner": Ner, "pos": Pos}[name]()
    if biaffine is None:
        raise XlingError("no biaffine, which parsing needs")
    return Parsing(biaffine)


def read_set(path: Path, task: Task, vocabulary: Vocabulary, language: str, longest: int) -> list[Example]:
    """Read a data file of a task in one language."""
    return data.read_examples(path, partial(task.encode, speller=Speller(vocabulary, language, longest)))


def score(task: Task, counts: Counts) -> dict[str, float]:
    """Return every measure of a task, the main measure first, from the counts (items, columns)."""
    total = counts.sum(axis=0)
    return {name: float(measure(total)) for name, measure in metrics.MEASURES[task.name].items()}


def count_items(task: Task, examples: Sequence[Example], predictions: Sequence[Labels]) -> Counts:
    """Return the counts (items, columns) of predictions."""
    rows = [task.count(example, found) for example, found in zip(examples, predictions, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(task.columns))


def scored(task: Task, counts: Counts) -> Result:
    """Return all measures, and the counts as one line of numbers per column, for a bootstrap."""
    columns = zip(task.columns, counts.T.tolist(), strict=True)
    items = {name: " ".join(map(str, column)) for name, column in columns}
    return {"measures": score(task, counts), "items": items, "columns": list(task.columns)}


def most_common(labels: Sequence[Labels], classes: int) -> int:
    """Return the most frequent label; ties go to the lowest number."""
    return int(np.bincount(np.concatenate(labels), minlength=classes).argmax())


@record
class TaskFiles:
    """The data of a task in a plan: training and dev set in the source language, test sets by language."""

    task: TaskName
    train: Path
    dev: Path
    test: Annotated[dict[str, Path], Field(min_length=1)]


@dataclass(frozen=True)
class Material:
    """Everything that training may use: the training and dev sets of one language, and the settings."""

    task: Task
    settings: Settings
    language: int
    longest: int
    train: Sequence[Example]
    dev: Sequence[Example]
    seed: int

    @cached_property
    def lengths(self) -> Order:
        """The lengths of the training examples."""
        return np.array([example.length for example in self.train])

    @cached_property
    def words(self) -> Order:
        """The token ids that occur in the training examples."""
        return np.unique(np.concatenate([window for example in self.train for window in example.windows]))

    def steps(self, batch: int) -> int:
        """Return the number of batches per epoch."""
        return -(-(self.settings.examples_per_epoch or len(self.train)) // batch)


def read_material(
    files: TaskFiles, settings: Settings, vocabularies: Mapping[str, Vocabulary], numbers: Mapping[str, int],
    source: str, longest: int, seed: int,
) -> tuple[Material, Tests]:  # fmt: skip
    """Read the training and dev sets in the source language, and the test sets for the final evaluation."""
    task = make_task(files.task, settings.biaffine)

    def read(path: Path, code: str) -> list[Example]:
        return read_set(path, task, vocabularies[code], code, longest)

    train, dev = read(files.train, source), read(files.dev, source)
    tests = {code: (numbers[code], read(path, code)) for code, path in files.test.items()}
    return Material(task, settings, numbers[source], longest, train, dev, seed), tests
