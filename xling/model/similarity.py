"""Linear centred kernel alignment (Kornblith et al. 2019; section 5.2 of the paper), computed block by block.

CKA(X, Y) = ||Y^T X||_F^2 / (||X^T X||_F ||Y^T Y||_F) with centred columns; the formula in the paper omits the centring
that Kornblith et al. apply first. X has shape (n, d) and Y (n, e): n sentences, encoders of widths d and e.

Only sums over examples are kept. The products of a block are computed in the precision of the hidden states (float32
for float16), which is enough for short blocks, and summed in float64. The true mean is known only at the end, so each
block is shifted by the mean of the first block; the remaining correction is small and is made in float64.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.core.errors import XlingError
from xling.model.device import exact_products, side_by_side

Matrix = NDArray[np.floating]
Double = NDArray[np.float64]
Layer = tuple[int, int]  # side (0 left, 1 right) and layer number
BLOCK = 1024  # rows per block: enough for fast products, few enough for float32 to be precise


def linear_cka(left: Matrix, right: Matrix) -> float:
    """Return the CKA, in [0, 1], of two sets of vectors of the same n sentences."""
    return cka_matrix([left], [right])[0][0]


def cka_matrix(left: Sequence[Matrix], right: Sequence[Matrix]) -> list[list[float]]:
    """Return CKA of every layer on the left (rows) with every layer on the right."""
    stream = CkaStream(len(left), len(right))
    for start in range(0, max(map(len, (*left, *right))), BLOCK):
        stream.add(*([layer[start : start + BLOCK] for layer in side] for side in (left, right)))
    return stream.matrix()


class CkaStream:
    """Accumulates the CKA of the layers of two encoders from blocks of the same sentences."""

    def __init__(self, left: int, right: int) -> None:
        self.shape, self.examples = (left, right), 0
        self.layers = [(0, i) for i in range(left)] + [(1, i) for i in range(right)]
        self.pairs = [((0, i), (1, j)) for i in range(left) for j in range(right)]
        self.shifts: dict[Layer, Matrix] = {}
        self.sums: dict[Layer, Double] = {}
        self.products: dict[tuple[Layer, Layer], Double] = {}

    def add(self, left: Sequence[Matrix], right: Sequence[Matrix]) -> None:
        """Add a block of sentences, given as one matrix per layer on each side."""
        blocks = dict(zip(self.layers, (*left, *right), strict=True))
        counts = {len(block) for block in blocks.values()}
        if len(counts) > 1:
            raise XlingError(f"CKA compares the same sentences in every layer; these layers have {sorted(counts)}")
        if not self.examples:
            for layer, block in blocks.items():
                self.shifts[layer] = block.mean(axis=0, dtype=np.result_type(block.dtype, np.float32))
                self.sums[layer] = np.zeros(block.shape[1])
            pairs = [*self.pairs, *((layer, layer) for layer in self.layers)]
            self.products = {(a, b): np.zeros((len(self.sums[a]), len(self.sums[b]))) for a, b in pairs}
        self.examples += counts.pop()
        states: dict[Layer, Tensor] = {}

        def add_layer(layer: Layer) -> None:
            states[layer] = torch.from_numpy(blocks[layer] - self.shifts[layer])
            self.sums[layer] += states[layer].sum(dim=0, dtype=torch.float64).numpy()
            add_product((layer, layer))

        def add_product(pair: tuple[Layer, Layer]) -> None:
            self.products[pair] += (states[pair[0]].T @ states[pair[1]]).numpy()

        with exact_products():
            # New threads per side: rounding in a thread depends on its first product, so a side could change the other.
            for side in (0, 1):
                side_by_side(add_layer, [layer for layer in self.layers if layer[0] == side])
            side_by_side(add_product, self.pairs)

    def matrix(self) -> list[list[float]]:
        """Return CKA of every layer on the left (rows) with every layer on the right."""
        return [[self._score(i, j) for j in range(self.shape[1])] for i in range(self.shape[0])]

    def _score(self, i: int, j: int) -> float:
        left, right = (0, i), (1, j)
        own = self._norm(left, left) * self._norm(right, right)
        if not own > 0:
            raise XlingError(f"CKA is undefined: all vectors of layer {i} or {j} are the same")
        return min(1.0, self._norm(left, right) ** 2 / own)

    def _norm(self, a: Layer, b: Layer) -> float:
        """Return the Frobenius norm of the product of two layers after centring with the true means."""
        return float(np.linalg.norm(self.products[a, b] - np.outer(self.sums[a], self.sums[b]) / self.examples))
