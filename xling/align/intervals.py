"""Mean hits and how far they would move with other test items; the mean over seeds comes first."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng
from xling.core.stats import RESAMPLES, bounds, resampled

Hits = NDArray[np.bool_]  # one of each test item


def summarise(series: Sequence[Sequence[Hits]], *parts: object) -> list[dict[str, Any]]:
    """Return for each series the mean of its seeds' hits, each seed's own, and a bootstrap interval.

    All are of the same items, and every resample takes the same items of all; `parts` name the random numbers.
    """
    sizes = {len(hits) for seeds in series for hits in seeds}
    if len(sizes) != 1:
        raise XlingError(f"asked different numbers of test items: {sorted(sizes)}")
    counts = np.stack([np.stack(seeds).sum(axis=0, dtype=np.int64) for seeds in series], axis=-1)[None]
    totals = counts.shape[1] * np.array([len(seeds) for seeds in series])
    found = resampled(counts, lambda sums: sums / totals, RESAMPLES, numpy_rng("hits", *parts))  # (resamples, series)
    means = counts[0].sum(axis=0) / totals
    return [
        {"p1": float(mean), "low": float(low), "high": float(high), "by_seed": [float(hits.mean()) for hits in seeds]}
        for mean, (low, high), seeds in zip(means, bounds(found).T, series, strict=True)
    ]
