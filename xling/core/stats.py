"""Percentile bootstrap intervals: the variation of a score over samples of test items."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

LEVEL = 0.95  # confidence level of every interval in the study
RESAMPLES = 1000
CHUNK = 1 << 22  # random numbers drawn at a time

Counts = NDArray[np.int64]  # one column per quantity in the last axis
Hits = NDArray[np.bool_]  # one entry per test item
Scores = NDArray[np.float64]
Measure = Callable[[NDArray[Any]], Scores]


def interval(counts: Counts, measure: Measure, *parts: object) -> tuple[float, float]:
    """Return the interval that holds LEVEL of the resampled scores; `parts` name the random generator.

    Counts (points, items, columns) refer to the same test items at each grid point, so each resample uses the same
    items for all points. Like the score itself, the score of a resample is the mean over points.
    """
    low, high = bounds(resampled_points(counts, measure, RESAMPLES, numpy_rng("bootstrap", *parts)).mean(axis=1))
    return float(low), float(high)


def summarise(records: Sequence[tuple[Mapping[str, Any], Hits]], *parts: object) -> list[dict[str, Any]]:
    """Return each record with its hit rate and a bootstrap interval.

    All hits refer to the same items, and each resample uses the same items for all; `parts` name the random generator.
    """
    sizes = {len(hits) for _, hits in records}
    if len(sizes) != 1:
        raise XlingError(f"asked different numbers of test items: {sorted(sizes)}")
    counts = np.stack([hits for _, hits in records], axis=-1).astype(np.int64)[None]
    items = counts.shape[1]
    found = resampled_points(counts, lambda sums: sums / items, RESAMPLES, numpy_rng("hits", *parts))[:, 0]
    return [
        {**about, "p1": float(hits.mean()), "low": float(low), "high": float(high)}
        for (low, high), (about, hits) in zip(bounds(found).T, records, strict=True)
    ]


def bounds(found: Scores) -> NDArray[np.float64]:
    """Return the two quantiles along the first axis between which the share LEVEL of the values lies."""
    return np.asarray(np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0))


def resampled_points(counts: Counts, measure: Measure, resamples: int, rng: np.random.Generator) -> Scores:
    """Return the scores (resamples, points) of random samples of items; all points use the same samples."""
    points, items, columns = counts.shape
    flat = counts.transpose(1, 0, 2).reshape(items, points * columns).astype(np.float64)
    step, sums = max(1, CHUNK // items), []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        draws = rng.integers(items, size=(rows, items)) + items * np.arange(rows)[:, None]
        times = np.bincount(draws.ravel(), minlength=rows * items).reshape(rows, items)  # number of draws per item
        sums.append(times.astype(np.float64) @ flat)  # exact, because all values are whole numbers
    return measure(np.concatenate(sums).reshape(resamples, points, columns))


def unanimous_reach(items: int) -> float:
    """Return the width of the interval (Clopper and Pearson 1934), as a share, if all items have the same outcome.

    A bootstrap of items with the same outcome has no variance, so its interval would have width zero.
    """
    return float(1 - ((1 - LEVEL) / 2) ** (1 / items))
