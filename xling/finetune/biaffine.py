"""The biaffine parser of Dozat and Manning (2017) on the states of words (section 3.2 of the paper).

Shapes: n sentences, w words, h = w + 1 possible heads (root first), a and b the widths of arcs and labels, l labels.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.finetune.settings import BiaffineSizes

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
