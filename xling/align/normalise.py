"""Iterative normalisation (Zhang et al. 2019; section 5.1): unit length, then five times centre and unit length.

The means found on the fitting vectors are kept, so that held-out vectors go through the same steps.
Shapes: n vectors (rows) of width d.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import XlingError

Matrix = NDArray[np.floating]
ROUNDS = 5  # the cited method's


@dataclass(frozen=True, slots=True)
class Normaliser:
    """The mean that each round took away."""

    means: NDArray[np.float64]  # (rounds, d)

    def __call__(self, vectors: Matrix) -> Matrix:
        """Return the vectors after the same rounds."""
        if vectors.shape[1] != self.means.shape[1]:
            raise XlingError(f"vectors of width {vectors.shape[1]}, but the means are of width {self.means.shape[1]}")
        result = unit_length(vectors)
        for mean in self.means:
            result -= mean.astype(result.dtype)
            _scale(result)
        return result


def fit_normaliser(vectors: Matrix) -> tuple[Normaliser, Matrix]:
    """Return the normaliser of these vectors, and the vectors normalised."""
    if len(vectors) == 0:
        raise XlingError("no vectors to normalise")
    result = unit_length(vectors)
    means = []
    for _ in range(ROUNDS):
        means.append(result.mean(axis=0, dtype=np.float64))
        result -= means[-1].astype(result.dtype)
        _scale(result)
    return Normaliser(np.array(means)), result


def unit_length(vectors: Matrix) -> Matrix:
    """Return a copy with rows of length one, in float32 at least; a row of zeros stays as it is."""
    result: Matrix = np.array(vectors, dtype=np.result_type(vectors.dtype, np.float32))
    _scale(result)
    return result


def _scale(rows: Matrix) -> None:
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1)[:, None]
