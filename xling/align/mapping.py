"""Align two vector spaces: iterative normalisation, then an orthogonal map in closed form (section 5.1).

Normalisation (Zhang et al. 2019): scale to unit length; then, five times over, subtract the mean and rescale.
`normalise` also returns the means, so that held-out vectors can be normalised with the means of the vectors that a map
was fitted on.

The map (Smith et al. 2017): section 5.1 writes vectors as columns, W* = argmin ||W X - Y||_F = U V^T with
U S V^T = SVD(Y X^T). Here vectors are the rows of x = X^T and y = Y^T, both of shape (n, d). So Y X^T is y^T x, and
applying W to the rows gives x W^T.
"""

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import XlingError

Matrix = NDArray[np.floating]
Means = NDArray[np.float64]  # (rounds, d)
ROUNDS = 5  # as in Zhang et al. 2019


def normalise(vectors: Matrix, means: Means | None = None) -> tuple[Matrix, Means]:
    """Return normalised vectors and the mean subtracted in each round; if means are given, those are subtracted."""
    result = unit_length(vectors)
    used = []
    for number in range(ROUNDS):
        used.append(result.mean(axis=0, dtype=np.float64) if means is None else means[number])
        result -= used[-1].astype(result.dtype)
        _scale(result)
    return result, np.array(used)


def unit_length(vectors: Matrix) -> Matrix:
    """Return a copy with rows scaled to unit length, in at least float32; rows of zeros stay unchanged."""
    result: Matrix = np.array(vectors, dtype=np.result_type(vectors.dtype, np.float32))
    _scale(result)
    return result


def _scale(rows: Matrix) -> None:
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1)[:, None]


def map_pair(source: Matrix, target: Matrix, fit_source: Matrix, fit_target: Matrix) -> tuple[Matrix, Matrix]:
    """Normalise both sides and map source onto target; means and map are those of fit_*, with paired rows."""
    (x, source_means), (y, target_means) = normalise(fit_source), normalise(fit_target)
    return apply_map(procrustes(x, y), normalise(source, source_means)[0]), normalise(target, target_means)[0]


def procrustes(source: Matrix, target: Matrix) -> NDArray[np.float64]:
    """Return the orthogonal W (d, d) that minimises ||source W^T - target||_F."""
    if source.shape[1] != target.shape[1]:
        raise XlingError(f"an orthogonal map needs equal widths: source {source.shape[1]}, target {target.shape[1]}")
    u, _, vt = np.linalg.svd(target.T.astype(np.float64) @ source.astype(np.float64))
    return np.asarray(u @ vt, dtype=np.float64)


def apply_map(matrix: NDArray[np.float64], vectors: Matrix) -> Matrix:
    """Return W applied to each row, in the precision of the rows."""
    return np.asarray(vectors @ matrix.T.astype(vectors.dtype))
