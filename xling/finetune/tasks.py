"""The tasks: what their examples are, their layers on top of the encoder, losses, predictions and counts.

Tagging has a linear layer and a softmax on the first subword of each word: all subwords of a batch are scored, but only
first subwords have a label, and only they are read. Inference has a linear layer on the state of the first token, and
parsing a biaffine parser on word states (section 3.2 of the paper).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal

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
from xling.data.conllu import UPOS, find_cycle
from xling.data.ner import OUTSIDE, TYPES
from xling.data.nli import LABELS as NLI_LABELS
from xling.finetune import data, metrics
from xling.finetune.batches import Layout, Order, rounded
from xling.finetune.data import BadRecordError, Example, Labels, Record, Speller
from xling.finetune.metrics import Result
from xling.finetune.parsing import CLOSED, NUMBERS, PARTS, RELATIONS, ROOT, Biaffine, best_tree
from xling.finetune.settings import BiaffineSizes, Settings

IGNORED = -100  # a label that counts for nothing, as PyTorch has it
TAGS = (OUTSIDE, *(f"{mark}-{kind}" for kind in TYPES for mark in "BI"))
Arrays = tuple[NDArray[np.int64], ...]
Tensors = Sequence[Tensor]
Outputs = Sequence[NDArray[Any]]
Tests = Mapping[str, tuple[int, Sequence[Example]]]  # by language: its index in the encoder, its test set


class Task:
    """A task; unless it says otherwise, one label per word, a linear layer that predicts it, accuracy that scores it.

    `places` and `predict` never see a label; predictions have the shape of the labels they are compared with.
    """

    name: str
    key: str  # of the labels in a record
    labels: Sequence[str]
    golds = 1  # how many arrays `gold` returns
    columns: tuple[str, ...] = metrics.RIGHT  # of the counts an item is scored by
    baseline = "every word has the training set's most common label"  # what `guess` does, in words

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    def encode(self, record: Record, speller: Speller) -> Example:
        """Return a record as ids and labels."""
        words = data.words_of(record, "words")
        labels = data.labels_of(record, self.key, self.numbers, len(words))
        return Example(*speller.sentence(words), np.array(labels))

    def head(self, width: int) -> nn.Module:
        """Return the task's own layers, not initialised yet."""
        return nn.Linear(width, len(self.labels))

    def places(self, layout: Layout) -> Arrays:  # noqa: ARG002
        """Return where in a batch the states are that the task reads; nothing where it reads all of them."""
        return ()

    def gold(self, layout: Layout) -> Arrays:
        """Return the labels of a batch."""
        labels = np.full(layout.tokens.size, IGNORED, dtype=np.int64)
        labels[layout.places] = np.concatenate([example.labels for example in layout.examples])
        return (labels,)

    def vectors(self, states: Tensor, places: Tensors) -> Tensor:  # noqa: ARG002
        """Return what the linear layer reads of the encoder's states (rows, length, width)."""
        return states

    def loss(self, head: Any, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the mean loss of a batch."""
        return functional.cross_entropy(head(self.vectors(states, places)).flatten(0, -2), gold[0])

    def predict(self, head: Any, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return all that the predictions of a batch are read from."""
        return (head(self.vectors(states, places)).argmax(dim=-1),)

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return the prediction for each example of a batch."""
        return np.split(outputs[0].reshape(-1)[layout.places], np.cumsum(layout.counts)[:-1])

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the counts of one item: how many labels are right, of how many."""
        return int((example.labels == prediction).sum()), len(prediction)

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return what one would say without reading the text, from the training labels alone."""
        label = most_common([example.labels for example in train], len(self.labels))
        return lambda example: np.full(len(example.labels), label)


class Pos(Task):
    """The 17 universal parts of speech; not in the paper: a cheap fourth task on the treebanks of parsing."""

    name, key, labels = "pos", "upos", tuple(sorted(UPOS))


class Ner(Task):
    """BIO tags, scored by the F1 of spans."""

    name, key, labels = "ner", "tags", TAGS
    columns = metrics.SPANS

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        gold, predicted = ([TAGS[number] for number in labels.tolist()] for labels in (example.labels, prediction))
        return metrics.count_spans(gold, predicted)


class Xnli(Task):
    """Pairs of sentences. One that needs several windows is judged by the mean of their first states."""

    name, key, labels = "xnli", "label", NLI_LABELS
    baseline = "the majority class of the training set"

    def encode(self, record: Record, speller: Speller) -> Example:
        windows = speller.pair(data.words_of(record, "premise"), data.words_of(record, "hypothesis"))
        if "label" not in record:
            raise BadRecordError("no label")
        label = data.number_of(record["label"], "label", self.numbers)
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
    """Trees. Labels of an example are three rows: heads, relations, whether the word is scored."""

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
        """Return which words (n, w) exist; w is rounded up, as the length of a batch is."""
        most = rounded(int(layout.counts.max()), layout.rounding)
        exist: NDArray[np.bool_] = np.arange(most) < layout.counts[:, None]
        return exist

    def places(self, layout: Layout) -> Arrays:
        """Return where the states of root and words are (n, h), the root at the first `</s>`, and which exist."""
        exist = np.pad(self.words(layout), ((0, 0), (1, 0)), constant_values=True)
        places = np.repeat(layout.starts[:-1, None] * layout.length, exist.shape[1], axis=1)
        places[:, 1:][exist[:, 1:]] = layout.places
        return places, exist.astype(np.int64)

    def gold(self, layout: Layout) -> Arrays:
        """Return heads and relations (n, w)."""
        words = self.words(layout)
        labels = np.full((2, *words.shape), IGNORED, dtype=np.int64)
        labels[:, words] = np.concatenate([example.labels[:2] for example in layout.examples], axis=1)
        return labels[0], labels[1]

    def scored(self, parser: Biaffine, states: Tensor, places: Tensors) -> tuple[Tensor, Tensor, Tensor]:
        """Return the scores of arcs between words that exist, and words as dependents and heads of labels."""
        arc_dep, arc_head, label_dep, label_head = parser.views(states.flatten(0, 1)[places[0]])
        arcs = torch.where(places[1].bool()[:, None, :], parser.arcs(arc_dep, arc_head), CLOSED)
        return arcs, label_dep, label_head

    def loss(self, head: Biaffine, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the cross-entropy of heads plus that of relations given the gold head, each a mean over words."""
        (arcs, label_dep, label_head), (heads, relations) = self.scored(head, states, places), gold
        index = heads.clamp(min=0)[..., None].expand(-1, -1, label_head.shape[-1])
        labels = head.labels_at(label_dep, label_head.gather(1, index))
        arc_loss = functional.cross_entropy(arcs.flatten(0, 1), heads.flatten())
        return arc_loss + functional.cross_entropy(labels.flatten(0, 1), relations.flatten())

    def predict(self, head: Biaffine, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return log-probabilities of heads and the likeliest relation to each head: `root` to the root alone."""
        arcs, label_dep, label_head = self.scored(head, states, places)
        labels = head.labels(label_dep, label_head)
        labels[..., ROOT] = CLOSED
        best = labels.argmax(dim=-1)
        best[..., 0] = ROOT
        return functional.log_softmax(arcs, dim=-1), best

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return heads and relations of the best tree of each sentence."""
        trees = []
        for arcs, relations, words in zip(*outputs, layout.counts, strict=True):
            heads = best_tree(arcs[:words, : words + 1])
            trees.append(np.stack([heads, relations[np.arange(words), heads]]))
        return trees

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the words with right head and relation, with right head, and all; PUNCT and SYM are not scored."""
        same = (example.labels[:2] == prediction)[:, example.labels[2].astype(bool)]
        return int(same.all(axis=0).sum()), int(same[0].sum()), same.shape[1]

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return chains of words, to the side that is more often right in training."""
        relation = most_common([example.labels[1] for example in train], len(RELATIONS))

        def chain(example: Example, left: bool) -> Labels:
            words = len(example.rows)
            heads = np.arange(words) if left else np.arange(2, words + 2) % (words + 1)
            return np.stack([heads, np.where(heads == 0, ROOT, relation)])

        chains = [partial(chain, left=left) for left in (True, False)]
        return max(chains, key=lambda made: sum(self.count(example, made(example))[0] for example in train))


def make_task(name: str, biaffine: BiaffineSizes | None) -> Task:
    """Return a task by its name; parsing alone needs the sizes of its parser."""
    if name != "parsing":
        return {"xnli": Xnli, "ner": Ner, "pos": Pos}[name]()
    if biaffine is None:
        raise XlingError("no biaffine, which parsing needs")
    return Parsing(biaffine)


def read_set(path: Path, task: Task, vocabulary: Vocabulary, language: str, longest: int) -> list[Example]:
    """Read a task's file in one language."""
    return data.read_examples(path, partial(task.encode, speller=Speller(vocabulary, language, longest)))


def score(task: Task, counts: Counts) -> dict[str, float]:
    """Return every measure of a task, the deciding one first, from the counts of items (items, columns)."""
    total = counts.sum(axis=0)
    return {name: float(measure(total)) for name, measure in metrics.MEASURES[task.name].items()}


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


@record
class TaskFiles:
    """The data of a task in a plan: training and dev set in the source language, test sets by language."""

    task: Literal["xnli", "ner", "parsing", "pos"]
    train: Path
    dev: Path
    test: Annotated[dict[str, Path], Field(min_length=1)]


@dataclass(frozen=True)
class Material:
    """All that training may see: one language's training and dev sets, and how to train."""

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
        """The ids that occur in the training examples."""
        return np.unique(np.concatenate([window for example in self.train for window in example.windows]))

    def steps(self, batch: int) -> int:
        """Return how many batches an epoch has."""
        return -(-(self.settings.examples_per_epoch or len(self.train)) // batch)


def read_material(
    files: TaskFiles, settings: Settings, vocabularies: Mapping[str, Vocabulary], numbers: Mapping[str, int],
    source: str, longest: int, seed: int,
) -> tuple[Material, Tests]:  # fmt: skip
    """Read what trains, in the source language, and the test sets, which are used only for the final evaluation."""
    task = make_task(files.task, settings.biaffine)

    def read(path: Path, code: str) -> list[Example]:
        return read_set(path, task, vocabularies[code], code, longest)

    train, dev = read(files.train, source), read(files.dev, source)
    tests = {code: (numbers[code], read(path, code)) for code, path in files.test.items()}
    return Material(task, settings, numbers[source], longest, train, dev, seed), tests
