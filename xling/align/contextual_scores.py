"""Scores of contextual transfer, over one seed or several: the mean, and how far it would move with other sentences."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from xling.core.stats import interval
from xling.finetune.metrics import MEASURES, counts_of, mean_scores

Result = dict[str, Any]


def pool(task: str, found: Sequence[Result], *parts: object) -> Result:
    """Return the task's deciding measure of a test set, the mean over seeds, with its interval.

    Each of `found` is a seed's counts of the same sentences; every resample takes the same ones of all seeds.
    """
    name, measure = next(iter(MEASURES[task].items()))
    counts = np.stack([counts_of(one) for one in found])
    low, high = interval(counts, measure, task, *parts)
    return {"measure": name, "score": mean_scores([one["measures"] for one in found])[name], "low": low, "high": high}
