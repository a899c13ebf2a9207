"""How far a score would move with other test items: percentile bootstrap intervals."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

LEVEL = 0.95  # of every interval in the study
RESAMPLES = 1000
CHUNK = 1 << 22  # numbers drawn at a time

Counts = NDArray[np.int64]  # one column per quantity in the last axis
Hits = NDArray[np.bool_]  # one of each test item
Scores = NDArray[np.float64]
Measure = Callable[[NDArray[Any]], Scores]


def interval(counts: Counts, measure: Measure, *parts: object) -> tuple[float, float]:
    """Return the interval that holds LEVEL of the resampled scores; `parts` name the random numbers.

    Counts (points, items, columns) are of the same items at each selected point, so a resample takes the same items of
    all points, and its score is their mean, as the score itself is.
    """
    low, high = bounds(resampled_points(counts, measure, RESAMPLES, numpy_rng("bootstrap", *parts)).mean(axis=1))
    return float(low), float(high)


def summarise(records: Sequence[tuple[Mapping[str, Any], Sequence[Hits]]], *parts: object) -> list[dict[str, Any]]:
    """Return each record with the mean of its seeds' hits, each seed's own, and a bootstrap interval.

    All hits are of the same items, and every resample takes the same items of all; `parts` name the random numbers.
    """
    series = [seeds for _, seeds in records]
    sizes = {len(hits) for seeds in series for hits in seeds}
    if len(sizes) != 1:
        raise XlingError(f"asked different numbers of test items: {sorted(sizes)}")
    counts = np.stack([np.stack(seeds).sum(axis=0, dtype=np.int64) for seeds in series], axis=-1)[None]
    totals = counts.shape[1] * np.array([len(seeds) for seeds in series])
    found = resampled_points(counts, lambda sums: sums / totals, RESAMPLES, numpy_rng("hits", *parts))[:, 0]
    means = counts[0].sum(axis=0) / totals
    return [
        {**about, "p1": float(mean), "low": float(low), "high": float(high), "by_seed": [float(x.mean()) for x in own]}
        for mean, (low, high), (about, own) in zip(means, bounds(found).T, records, strict=True)
    ]


def bounds(found: Scores) -> NDArray[np.float64]:
    """Return the two limits, along the first axis, between which LEVEL of the values lie."""
    return np.asarray(np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0))


def resampled_points(counts: Counts, measure: Measure, resamples: int, rng: np.random.Generator) -> Scores:
    """Return the score of each point (resamples, points) in samples of items that are the same for all points."""
    points, items, columns = counts.shape
    flat = counts.transpose(1, 0, 2).reshape(items, points * columns).astype(np.float64)
    step, sums = max(1, CHUNK // items), []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        draws = rng.integers(items, size=(rows, items)) + items * np.arange(rows)[:, None]
        times = np.bincount(draws.ravel(), minlength=rows * items).reshape(rows, items)  # how often each item is drawn
        sums.append(times.astype(np.float64) @ flat)  # whole numbers: exact
    return measure(np.concatenate(sums).reshape(resamples, points, columns))


def unanimous_reach(items: int) -> float:
    """Return how far an interval reaches, as a share, where all of some items agree (Clopper and Pearson 1934).

    Drawing again from items that agree gives nothing else, so a bootstrap would take them as exactly known.
    """
    return float(1 - ((1 - LEVEL) / 2) ** (1 / items))
