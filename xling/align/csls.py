"""Retrieval by CSLS (Conneau et al. 2018), the measure of Figures 4a and 4b.

CSLS(x, y) = 2 cos(x, y) - r_T(x) - r_S(y), where r is the mean cosine to the K nearest vectors of the other side.
r_T(x) is the same for every candidate of x, so it cannot change what is found: two products over the n x m matrix are
enough where the formula suggests three, one for r_S and one for the search. There r_S is one more column of the
vectors, because cos - r_S / 2 = (x, 1) · (y, -r_S / 2): it costs no pass of its own.
"""

import numpy as np
from numpy.typing import NDArray

from xling.align.search import Found, Matrix, fast_half, search

NEIGHBOURS = 10  # K (section 5.1.1 of the paper)


def cosine_search(queries: Matrix, candidates: Matrix, k: int, device: str = "cpu") -> Found:
    """Return the k candidates of highest cosine; all vectors are of unit length."""
    return search(queries, candidates, k, device, fast_half(device, len(candidates)))


def mean_similarity(vectors: Matrix, others: Matrix, device: str = "cpu") -> NDArray[np.float32]:
    """Return r: the mean cosine of each vector to its K nearest among the others, or to all where there are fewer."""
    scores = cosine_search(vectors, others, min(NEIGHBOURS, len(others)), device).scores
    return np.asarray(scores.mean(axis=1))


def csls_search(
    source: Matrix, target: Matrix, k: int, queries: NDArray[np.int64] | None = None, device: str = "cpu"
) -> Found:
    """Return for each source vector, or for those named, the k targets with the highest CSLS; all of unit length.

    The scores are 2 cos - r_S: r_T, the same for all candidates of a query, is left out.
    """
    penalty = mean_similarity(target, source, device)
    asked = source if queries is None else source[queries]
    x = np.hstack([asked, np.ones((len(asked), 1), np.float32)], dtype=np.float32)
    y = np.hstack([target, -penalty[:, None] / 2], dtype=np.float32)
    found = search(x, y, k, device, fast_half(device, len(y)))
    return Found(2 * found.scores, found.indices)
