"""The orthogonal map between two spaces, in closed form (Smith et al. 2017; section 5.1).

The paper writes vectors as columns: W* = argmin ||W X - Y||_F = U V^T with U S V^T = SVD(Y X^T).
Here vectors are rows, x = X^T and y = Y^T of shape (n, d), so that Y X^T is y^T x, and W applied to rows is x W^T.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xling.align.normalise import Matrix, Normaliser, fit_normaliser
from xling.core.errors import XlingError


@dataclass(frozen=True, slots=True)
class Alignment:
    """How vectors of two encoders become comparable: each side's normaliser, and the map from source to target."""

    source: Normaliser
    target: Normaliser
    matrix: NDArray[np.float64]  # W, (d, d)

    def map_source(self, vectors: Matrix) -> Matrix:
        """Return source vectors (rows) normalised and carried into the target space."""
        return apply_map(self.matrix, self.source(vectors))


def fit_alignment(source: Matrix, target: Matrix) -> Alignment:
    """Return the alignment that fits pairs of vectors, row by row."""
    _check_pairs(source, target)
    source_normaliser, x = fit_normaliser(source)
    target_normaliser, y = fit_normaliser(target)
    return Alignment(source_normaliser, target_normaliser, procrustes(x, y))


def procrustes(source: Matrix, target: Matrix) -> NDArray[np.float64]:
    """Return the orthogonal W (d, d) for which source W^T is nearest to target, row by row."""
    _check_pairs(source, target)
    u, _, vt = np.linalg.svd(target.T.astype(np.float64) @ source.astype(np.float64))
    return np.asarray(u @ vt, dtype=np.float64)


def apply_map(matrix: NDArray[np.float64], vectors: Matrix) -> Matrix:
    """Return W applied to each row, in the precision of the rows."""
    return np.asarray(vectors @ matrix.T.astype(vectors.dtype))


def _check_pairs(source: Matrix, target: Matrix) -> None:
    if len(source) != len(target) or len(source) == 0:
        raise XlingError(f"a map is fitted on pairs: {len(source)} source and {len(target)} target vectors")
    if source.shape[1] != target.shape[1]:
        raise XlingError(f"an orthogonal map needs one width: {source.shape[1]} at the source, {target.shape[1]}")
    for name, vectors in (("source", source), ("target", target)):
        if not np.isfinite(vectors).all():
            raise XlingError(f"the {name} vectors hold a number that is not finite")
