"""Dependency parsing (section 3.2): the biaffine parser of Dozat and Manning (2017) on hidden states, and tree search.

Shapes: n sentences, w words, h = w + 1 possible heads (root first), b the width of the label scorer, l labels.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from xling.data.tasks import UPOS, find_cycle
from xling.finetune.settings import BiaffineSizes

RELATIONS = (  # the 37 relations of Universal Dependencies v2
    *("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop"),
    *("csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark"),
    *("nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative"),
    "xcomp",
)
NUMBERS = {relation: number for number, relation in enumerate(RELATIONS)}
ROOT = NUMBERS["root"]
UNSCORED = ("PUNCT", "SYM")
PARTS = {part: int(part not in UNSCORED) for part in sorted(UPOS)}
CLOSED = -1e9  # score of an impossible arc or label
SLOPE = 0.1  # negative slope of the leaky ReLU in the authors' implementation
Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]


class Biaffine(nn.Module):
    """Scores arcs and labels; one linear layer computes the four perceptrons together."""

    def __init__(self, width: int, sizes: BiaffineSizes, labels: int) -> None:
        super().__init__()
        self.sizes, self.parts = sizes, [sizes.arc, sizes.arc, sizes.label, sizes.label]
        self.hidden = nn.Linear(width, sum(self.parts))
        self.arc = nn.Parameter(torch.empty(sizes.arc + 1, sizes.arc))
        self.label = nn.Parameter(torch.empty(labels, sizes.label + 1, sizes.label + 1))

    def views(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the states (n, h, d) projected to arc dependents, arc heads, label dependents and label heads."""
        dropped = drop_alike(states, self.sizes.input_dropout, self.training)
        reduced = functional.leaky_relu(self.hidden(dropped), SLOPE)
        dropped = drop_alike(reduced, self.sizes.dropout, self.training)
        arc_dep, arc_head, label_dep, label_head = torch.split(dropped, self.parts, dim=-1)
        return arc_dep[:, 1:], arc_head, label_dep[:, 1:], label_head  # the root is no dependent

    def arcs(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return the arc scores [dependent; 1] U head of every pair: (n, w, h)."""
        return with_one(dependents) @ self.arc @ heads.transpose(1, 2)

    def labels_at(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return the label scores [dependent; 1] U_l [head; 1] of each word (n, w, b) and its head (n, w, b)."""
        return torch.einsum("nwi,lij,nwj->nwl", with_one(dependents), self.label, with_one(heads))

    def labels(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return the label scores of every pair of dependent and head: (n, w, h, l)."""
        return torch.einsum("nwi,lij,nhj->nwhl", with_one(dependents), self.label, with_one(heads))


def with_one(states: Tensor) -> Tensor:
    """Return vectors with a constant 1 appended, which makes a bilinear form affine."""
    return functional.pad(states, (0, 1), value=1.0)


def drop_alike(states: Tensor, rate: float, training: bool) -> Tensor:
    """Apply dropout with the same mask to all words of a sentence, as the authors do."""
    if not training or rate == 0:
        return states
    return states * functional.dropout(states.new_ones(states.shape[0], 1, states.shape[2]), rate)


def best_tree(scores: NDArray[Any]) -> Ints:
    """Return the head of each word, 0 for the root, from scores (words, words + 1) of heads; column 0 is the root.

    The tree is an exact maximum spanning arborescence with one root arc. If the best tree has several root arcs, the
    search is repeated with a penalty on every root arc that no choice of other arcs can compensate. Any word may be the
    head of any other, so a tree with a single root arc always exists, and the repeated search returns the best one.
    """
    weights = np.full((len(scores) + 1, len(scores) + 1), -np.inf)  # (head, dependent); no arc to itself or to the root
    weights[:, 1:] = np.asarray(scores, dtype=np.float64).T
    np.fill_diagonal(weights, -np.inf)
    heads = _arborescence(weights)
    if np.count_nonzero(heads[1:] == 0) > 1:
        finite = weights[np.isfinite(weights)]
        weights[0] -= 1.0 + len(weights) * (finite.max() - finite.min())
        heads = _arborescence(weights)
    return heads[1:]


def _arborescence(weights: Matrix) -> Ints:
    """Return the head of each node in the best tree with any number of root arcs (Chu-Liu/Edmonds algorithm).

    Each node takes its best head. A cycle is contracted to one node, the last of a smaller graph, which is solved
    recursively. The cycle is then expanded: it loses only the arc into the node at which the tree enters it.
    """
    heads: Ints = weights.argmax(axis=0)
    start = find_cycle(heads[1:].tolist())
    if not start:
        return heads
    around = [start]
    while (node := int(heads[around[-1]])) != start:
        around.append(node)
    cycle, outside = np.array(around), np.setdiff1d(np.arange(len(weights)), around)
    gain = weights[outside[:, None], cycle] - weights[heads[cycle], cycle]  # from entering the cycle at this node
    away = weights[cycle[:, None], outside]
    small = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    small[:-1, :-1] = weights[outside[:, None], outside]
    small[:-1, -1] = gain.max(axis=1)
    small[-1, :-1] = away.max(axis=0)
    *others, into = _arborescence(small)
    from_cycle = np.array(others) == len(outside)
    heads[outside] = np.where(from_cycle, cycle[away.argmax(axis=0)], outside[np.where(from_cycle, 0, others)])
    heads[cycle[gain[into].argmax()]] = outside[into]
    return heads
