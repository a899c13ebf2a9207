"""How far a score would move with other test items: percentile bootstrap intervals."""

import numpy as np
from numpy.typing import NDArray

from xling.core.seeds import numpy_rng
from xling.finetune.metrics import Counts, Measure, Scores

RESAMPLES = 1000
CHUNK = 1 << 22  # numbers drawn at a time


def interval(counts: Counts, measure: Measure, level: float = 0.95, *parts: object) -> tuple[float, float]:
    """Return the interval that holds `level` of the resampled scores; `parts` name the random numbers.

    Counts (points, items, columns) are of the same items at each selected point, so a resample takes the same items of
    all points, and its score is their mean, as the score itself is.
    """
    found = resampled(counts, measure, RESAMPLES, numpy_rng("bootstrap", *parts))
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled(counts: Counts, measure: Measure, resamples: int, rng: np.random.Generator) -> Scores:
    """Return the mean score over points of so many samples of items, drawn with replacement."""
    points, items, columns = counts.shape
    flat = counts.transpose(1, 0, 2).reshape(items, points * columns).astype(np.float64)
    step = max(1, CHUNK // items)
    sums = [
        _times_drawn(items, min(step, resamples - start), rng) @ flat  # whole numbers: exact
        for start in range(0, resamples, step)
    ]
    scores: Scores = measure(np.concatenate(sums).reshape(resamples, points, columns)).mean(axis=1)
    return scores


def _times_drawn(items: int, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each item is in each sample (resamples, items)."""
    draws = rng.integers(items, size=(resamples, items)) + items * np.arange(resamples)[:, None]
    times = np.bincount(draws.ravel(), minlength=resamples * items)
    return times.reshape(resamples, items).astype(np.float64)
