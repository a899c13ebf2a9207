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
BLOCK = 1024  # rows of a block: long enough for fast products, short enough for exact ones


def linear_cka(left: Matrix, right: Matrix) -> float:
    """Return how alike two sets of vectors of the same n sentences are, in [0, 1]."""
    stream = CkaStream(1, 1)
    if len(left) != len(right):
        raise XlingError(f"CKA compares the same sentences: {len(left)} vectors on the left, {len(right)} on the right")
    for start in range(0, len(left), BLOCK):
        stream.add([left[start : start + BLOCK]], [right[start : start + BLOCK]])
    return stream.layerwise()["L0"]


class CkaStream:
    """CKA of the layers of two encoders from blocks of the same sentences."""

    def __init__(self, left: int, right: int, every_pair: bool = False) -> None:
        self.sides = [_Side(left), _Side(right)]
        equal = [(layer, layer) for layer in range(min(left, right))]
        pairs = [(i, j) for i in range(left) for j in range(right)] if every_pair else equal
        self.cross: dict[tuple[int, int], Double | None] = dict.fromkeys(pairs)
        self.shape = (left, right)

    def add(self, left: Sequence[Matrix], right: Sequence[Matrix]) -> None:
        """Take in a block of sentences, one matrix a layer on each side."""
        counts = {len(block) for block in (*left, *right)}
        if len(counts) > 1:
            raise XlingError(f"CKA compares the same sentences: blocks of {sorted(counts)} vectors")
        pairs = list(self.cross)
        with exact_products():
            x, y = self.sides[0].add(left), self.sides[1].add(right)
            sums = side_by_side(lambda pair: _plus(self.cross[pair], x[pair[0]], y[pair[1]]), pairs)
        self.cross.update(zip(pairs, sums, strict=True))

    def layerwise(self) -> dict[str, float]:
        """Return L0, L1, … and their average, the rows of Figure 7."""
        if self.shape[0] != self.shape[1]:
            raise XlingError(f"layer by layer needs as many layers on both sides: {self.shape[0]}, {self.shape[1]}")
        scores = [self._score(layer, layer) for layer in range(self.shape[0])]
        return {f"L{layer}": score for layer, score in enumerate(scores)} | {"AVER": float(np.mean(scores))}

    def matrix(self) -> list[list[float]]:
        """Return CKA of every layer on the left (rows) with every layer on the right."""
        return [[self._score(i, j) for j in range(self.shape[1])] for i in range(self.shape[0])]

    def _score(self, i: int, j: int) -> float:
        left, right = self.sides
        shared = _norm(_corrected(self.cross[i, j], left.sums[i], right.sums[j], left.examples))
        own = left.norm(i) * right.norm(j)
        if not own > 0:
            raise XlingError(f"CKA is undefined: all vectors of layer {i} or {j} are the same")
        return min(1.0, shared**2 / own)


class _Side:
    """What is summed of one encoder: shifted states, and their products with themselves."""

    def __init__(self, layers: int) -> None:
        self.examples = 0
        self.shifts: list[Matrix] = []
        self.sums: list[Double] = [np.zeros(1)] * layers
        self.squares: list[Double | None] = [None] * layers

    def add(self, blocks: Sequence[Matrix]) -> list[Tensor]:
        """Take in a block of every layer and return them shifted."""
        if not self.shifts:
            self.shifts = [block.mean(axis=0, dtype=np.result_type(block.dtype, np.float32)) for block in blocks]
        self.examples += len(blocks[0])
        return side_by_side(lambda layer: self._add(layer, blocks[layer]), range(len(blocks)))

    def _add(self, layer: int, block: Matrix) -> Tensor:
        state = torch.from_numpy(block - self.shifts[layer])
        self.sums[layer] = self.sums[layer] + state.sum(dim=0, dtype=torch.float64).numpy()
        self.squares[layer] = _plus(self.squares[layer], state, state)
        return state

    def norm(self, layer: int) -> float:
        return _norm(_corrected(self.squares[layer], self.sums[layer], self.sums[layer], self.examples))


def _plus(total: Double | None, left: Tensor, right: Tensor) -> Double:
    product = (left.T @ right).numpy()
    if total is None:
        return product.astype(np.float64)
    total += product
    return total


def _corrected(total: Double | None, left: Double, right: Double, examples: int) -> Double:
    if total is None:
        raise XlingError("CKA needs at least one sentence")
    return np.asarray(total - np.outer(left, right) / examples)


def _norm(product: Double) -> float:
    return float(np.linalg.norm(product))
