"""Dependency parsing with the biaffine parser of Dozat and Manning (2017) on word states (section 3.2 of the paper).

Shapes: n sentences, w words, h = w + 1 possible heads (root first), a and b the widths of arcs and labels, l labels.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from xling.data.conllu import UPOS, find_cycle
from xling.finetune.batches import Layout, rounded
from xling.finetune.data import BadRecordError, Example, Labels, Record, Speller, aligned, labels_of, words_of
from xling.finetune.metrics import ATTACHMENT, ATTACHMENT_SCORES, count_attachments
from xling.finetune.mst import best_tree
from xling.finetune.settings import BiaffineSizes
from xling.finetune.task import IGNORED, Arrays, Outputs, Task, Tensors, most_common

RELATIONS = (  # the 37 of Universal Dependencies v2
    *("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop"),
    *("csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark"),
    *("nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative"),
    "xcomp",
)
NUMBERS = {relation: number for number, relation in enumerate(RELATIONS)}
ROOT = NUMBERS["root"]
UNSCORED = ("PUNCT", "SYM")
PARTS = {part: int(part not in UNSCORED) for part in sorted(UPOS)}
CLOSED = -1e9  # the score of what cannot be
SLOPE = 0.1  # of the leaky rectifier in the authors' own parser


class Biaffine(nn.Module):
    """Scores of arcs and of labels. The four perceptrons are one product."""

    def __init__(self, width: int, sizes: BiaffineSizes, labels: int) -> None:
        super().__init__()
        self.sizes, self.parts = sizes, [sizes.arc, sizes.arc, sizes.label, sizes.label]
        self.hidden = nn.Linear(width, sum(self.parts))
        self.arc = nn.Parameter(torch.empty(sizes.arc + 1, sizes.arc))
        self.label = nn.Parameter(torch.empty(labels, sizes.label + 1, sizes.label + 1))

    def views(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return states (n, h, d) seen as dependents and heads of arcs, and of labels; the root is no dependent."""
        dropped = drop_alike(states, self.sizes.input_dropout, self.training)
        reduced = functional.leaky_relu(self.hidden(dropped), SLOPE)
        dropped = drop_alike(reduced, self.sizes.dropout, self.training)
        arc_dep, arc_head, label_dep, label_head = torch.split(dropped, self.parts, dim=-1)
        return arc_dep[:, 1:], arc_head, label_dep[:, 1:], label_head

    def arcs(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return [dependent; 1] U head for every pair, (n, w, h)."""
        return with_one(dependents) @ self.arc @ heads.transpose(1, 2)

    def labels_at(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return [dependent; 1] U_l [head; 1] of each word (n, w, b) with its own head (n, w, b): (n, w, l)."""
        return torch.einsum("nwi,lij,nwj->nwl", with_one(dependents), self.label, with_one(heads))

    def labels(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return the same for every pair, (n, w, h, l)."""
        return torch.einsum("nwi,lij,nhj->nwhl", with_one(dependents), self.label, with_one(heads))


def with_one(states: Tensor) -> Tensor:
    """Return states with a constant 1 appended, which makes a bilinear form affine."""
    return functional.pad(states, (0, 1), value=1.0)


def drop_alike(states: Tensor, rate: float, training: bool) -> Tensor:
    """Drop the same features of all words of a sentence, as the authors do."""
    if not training or rate == 0:
        return states
    return states * functional.dropout(states.new_ones(states.shape[0], 1, states.shape[2]), rate)


class Parsing(Task):
    """Trees. Labels of an example are three rows: heads, relations, whether the word is scored."""

    name, labels = "parsing", RELATIONS
    golds = 2
    columns = ATTACHMENT
    measures = ATTACHMENT_SCORES
    baseline = "every word hangs on its neighbour, left or right, with the training set's most common relation"

    def __init__(self, sizes: BiaffineSizes) -> None:
        self.sizes = sizes

    def encode(self, record: Record, speller: Speller) -> Example:
        words = words_of(record, "words")
        heads = _heads(record, len(words))
        relations = labels_of(record, "deprels", NUMBERS, len(words))
        scored = labels_of(record, "upos", PARTS, len(words))
        return Example(*speller.sentence(words), np.array([heads, relations, scored]))

    def head(self, width: int) -> nn.Module:
        return Biaffine(width, self.sizes, len(RELATIONS))

    def places(self, layout: Layout) -> Arrays:
        """Return where the states of root and words are (n, h), the root at the first `</s>`, and which exist."""
        exist = np.pad(_words(layout), ((0, 0), (1, 0)), constant_values=True)
        places = np.repeat(layout.starts[:-1, None] * layout.length, exist.shape[1], axis=1)
        places[:, 1:][exist[:, 1:]] = layout.places
        return places, exist.astype(np.int64)

    def gold(self, layout: Layout) -> Arrays:
        """Return heads and relations (n, w)."""
        words = _words(layout)
        labels = np.full((2, *words.shape), IGNORED, dtype=np.int64)
        labels[:, words] = np.concatenate([example.labels[:2] for example in layout.examples], axis=1)
        return labels[0], labels[1]

    def loss(self, head: nn.Module, states: Tensor, places: Tensors, gold: Tensors) -> Tensor:
        """Return the cross-entropy of heads plus that of relations given the gold head, each a mean over words."""
        (parser, arcs, label_dep, label_head), (heads, relations) = _scored(head, states, places), gold
        index = heads.clamp(min=0)[..., None].expand(-1, -1, label_head.shape[-1])
        labels = parser.labels_at(label_dep, label_head.gather(1, index))
        arc_loss = functional.cross_entropy(arcs.flatten(0, 1), heads.flatten())
        return arc_loss + functional.cross_entropy(labels.flatten(0, 1), relations.flatten())

    def predict(self, head: nn.Module, states: Tensor, places: Tensors) -> tuple[Tensor, ...]:
        """Return log-probabilities of heads and the likeliest relation to each head: `root` to the root alone."""
        parser, arcs, label_dep, label_head = _scored(head, states, places)
        labels = parser.labels(label_dep, label_head)
        labels[..., ROOT] = CLOSED
        best = labels.argmax(dim=-1)
        best[..., 0] = ROOT
        return functional.log_softmax(arcs, dim=-1), best

    def read(self, outputs: Outputs, layout: Layout) -> list[Labels]:
        """Return heads and relations of the best tree of each sentence."""
        trees = []
        for arcs, relations, example in zip(*outputs, layout.examples, strict=True):
            words = len(example.rows)
            heads = best_tree(arcs[:words, : words + 1])
            trees.append(np.stack([heads, relations[np.arange(words), heads]]))
        return trees

    def count(self, example: Example, prediction: Labels) -> tuple[int, ...]:
        """Return the words attached rightly with label, without, and all, punctuation and symbols left out."""
        return count_attachments(example.labels[:2], prediction, example.labels[2])

    def guess(self, train: Sequence[Example]) -> Callable[[Example], Labels]:
        """Return chains of words, to the side that is more often right in training."""
        relation = most_common([example.labels[1] for example in train], len(RELATIONS))
        chains = [partial(_chain, relation=relation, left=left) for left in (True, False)]
        return max(chains, key=lambda chain: sum(self.count(example, chain(example))[0] for example in train))


def _chain(example: Example, relation: int, left: bool) -> Labels:
    words = len(example.rows)
    heads = np.arange(words) if left else np.arange(2, words + 2) % (words + 1)
    return np.stack([heads, np.where(heads == 0, ROOT, relation)])


def _heads(record: Record, words: int) -> list[int]:
    heads = aligned(record, "heads", words)
    for place, head in enumerate(heads, start=1):
        if not isinstance(head, int) or isinstance(head, bool) or not 0 <= head <= words:
            raise BadRecordError(f"heads: {head!r} of word {place} is not in 0 to {words}")
    if heads.count(0) != 1 or find_cycle(heads):
        raise BadRecordError("heads: not one tree with one root")
    return heads


def _words(layout: Layout) -> NDArray[np.bool_]:
    """Return which words (n, w) exist; w is rounded up, as the length of a batch is."""
    most = rounded(int(layout.counts.max()), layout.rounding)
    exist: NDArray[np.bool_] = np.arange(most) < layout.counts[:, None]
    return exist


def _scored(head: nn.Module, states: Tensor, places: Tensors) -> tuple[Biaffine, Tensor, Tensor, Tensor]:
    """Return the parser, the scores of arcs between words that exist, and words as dependents and heads of labels."""
    assert isinstance(head, Biaffine)  # noqa: S101 (made by `Parsing.head`)
    arc_dep, arc_head, label_dep, label_head = head.views(states.flatten(0, 1)[places[0]])
    arcs = torch.where(places[1].bool()[:, None, :], head.arcs(arc_dep, arc_head), CLOSED)
    return head, arcs, label_dep, label_head
