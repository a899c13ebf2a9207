"""Which points of the grid count: the best by English dev, nothing of another language (section 3.2 of the paper)."""

from collections.abc import Mapping, Sequence

import numpy as np

from xling.core.errors import XlingError


def select(dev: Mapping[int, float], best: int) -> list[int]:
    """Return the numbers of the best points by their dev score, best first; of equals the lower number."""
    if best > len(dev):
        raise XlingError(f"the score is the mean of {best} grid points, but there are {len(dev)}")
    return sorted(dev, key=lambda number: (-dev[number], number))[:best]


def mean_scores(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over points."""
    return {name: float(np.mean([one[name] for one in scores])) for name in scores[0]}
