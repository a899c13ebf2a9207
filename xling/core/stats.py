"""How far a score would move with other test items: percentile bootstrap intervals."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.seeds import numpy_rng

LEVEL = 0.95  # of every interval in the study
RESAMPLES = 1000
CHUNK = 1 << 22  # numbers drawn at a time

Counts = NDArray[np.int64]  # one column per quantity in the last axis
Scores = NDArray[np.float64]
Measure = Callable[[NDArray[Any]], Scores]


def interval(counts: Counts, measure: Measure, *parts: object) -> tuple[float, float]:
    """Return the interval that holds LEVEL of the resampled scores; `parts` name the random numbers.

    Counts (points, items, columns) are of the same items at each selected point, so a resample takes the same items of
    all points, and its score is their mean, as the score itself is.
    """
    found = resampled(counts, measure, RESAMPLES, numpy_rng("bootstrap", *parts))
    low, high = bounds(found)
    return float(low), float(high)


def bounds(found: Scores) -> NDArray[np.float64]:
    """Return the two limits, along the first axis, between which LEVEL of the values lie."""
    return np.asarray(np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0))


def resampled(counts: Counts, measure: Measure, resamples: int, rng: np.random.Generator) -> Scores:
    """Return the mean score over points of so many samples of items, drawn with replacement."""
    return np.asarray(resampled_points(counts, measure, resamples, rng).mean(axis=1))


def resampled_points(counts: Counts, measure: Measure, resamples: int, rng: np.random.Generator) -> Scores:
    """Return the score of each point (resamples, points) in samples of items that are the same for all points."""
    points, items, columns = counts.shape
    flat = counts.transpose(1, 0, 2).reshape(items, points * columns).astype(np.float64)
    step = max(1, CHUNK // items)
    sums = [
        _times_drawn(items, min(step, resamples - start), rng) @ flat  # whole numbers: exact
        for start in range(0, resamples, step)
    ]
    return measure(np.concatenate(sums).reshape(resamples, points, columns))


def _times_drawn(items: int, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each item is in each sample (resamples, items)."""
    draws = rng.integers(items, size=(resamples, items)) + items * np.arange(resamples)[:, None]
    times = np.bincount(draws.ravel(), minlength=resamples * items)
    return times.reshape(resamples, items).astype(np.float64)
