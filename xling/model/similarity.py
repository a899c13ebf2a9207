"""Linear centred kernel alignment (Kornblith et al. 2019; section 5.2 of the paper), streamed over examples.

CKA(X, Y) = ||Y^T X||_F^2 / (||X^T X||_F ||Y^T Y||_F) with centred columns; the formula printed in the paper leaves
out the centring that its source does first. Shapes: n sentences, d and e the widths of the two encoders.

Only sums over examples are kept. Products of a block are made in the precision of the states (float32 for float16),
because a block is short, and added up in float64. The true mean is known at the end only: a block is shifted by
the mean of the first one, so that little is left to correct, and the correction is made in float64.
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
Layer = tuple[int, int]  # side (0 left, 1 right) and number
BLOCK = 1024  # rows of a block: long enough for fast products, short enough for exact ones


def linear_cka(left: Matrix, right: Matrix) -> float:
    """Return how alike two sets of vectors of the same n sentences are, in [0, 1]."""
    return cka_matrix([left], [right])[0][0]


def cka_matrix(left: Sequence[Matrix], right: Sequence[Matrix]) -> list[list[float]]:
    """Return CKA of every layer on the left (rows) with every layer on the right."""
    stream = CkaStream(len(left), len(right))
    for start in range(0, max(map(len, (*left, *right))), BLOCK):
        stream.add(*([layer[start : start + BLOCK] for layer in side] for side in (left, right)))
    return stream.matrix()


class CkaStream:
    """CKA of the layers of two encoders from blocks of the same sentences."""

    def __init__(self, left: int, right: int) -> None:
        self.shape, self.examples = (left, right), 0
        self.layers = [(0, i) for i in range(left)] + [(1, i) for i in range(right)]
        self.pairs = [((0, i), (1, j)) for i in range(left) for j in range(right)]
        self.shifts: dict[Layer, Matrix] = {}
        self.sums: dict[Layer, Double] = {}
        self.products: dict[tuple[Layer, Layer], Double] = {}

    def add(self, left: Sequence[Matrix], right: Sequence[Matrix]) -> None:
        """Take in a block of sentences, one matrix per layer on each side."""
        blocks = dict(zip(self.layers, (*left, *right), strict=True))
        counts = {len(block) for block in blocks.values()}
        if len(counts) > 1:
            raise XlingError(f"CKA compares the same sentences: blocks of {sorted(counts)} vectors")
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
            for side in (0, 1):  # fresh threads for each: which product a thread does first decides last bits
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
        """Return the Frobenius norm of the product of two layers, centred by the true means."""
        return float(np.linalg.norm(self.products[a, b] - np.outer(self.sums[a], self.sums[b]) / self.examples))
