"""The orthogonal map between two spaces, in closed form (Smith et al. 2017; section 5.1).

The paper writes vectors as columns: W* = argmin ||W X - Y||_F = U V^T with U S V^T = SVD(Y X^T).
Here vectors are rows, x = X^T and y = Y^T of shape (n, d), so that Y X^T is y^T x, and W applied to rows is x W^T.
"""

import numpy as np
from numpy.typing import NDArray

from xling.align.normalise import Matrix, fit_normaliser
from xling.core.errors import XlingError


def map_pair(source: Matrix, target: Matrix, fit_source: Matrix, fit_target: Matrix) -> tuple[Matrix, Matrix]:
    """Return both sides (rows) normalised, and the source mapped onto the target, as fitted on another set of pairs."""
    _check_pairs(fit_source, fit_target)
    source_normaliser, x = fit_normaliser(fit_source)
    target_normaliser, y = fit_normaliser(fit_target)
    return apply_map(procrustes(x, y), source_normaliser(source)), target_normaliser(target)


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
