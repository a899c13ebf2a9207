"""Numbers with intervals: how an interval goes through a difference, a mean and a ratio.

Limits are combined by square-and-add (Zou and Donner 2008), which keeps the two sides of an interval apart. Scores
are taken as independent and floors as known. A result has an interval only if everything it is made from has one.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

from xling.core.stats import LEVEL


@dataclass(frozen=True)
class Estimate:
    """A value and, where it is known, its interval."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def below(self) -> float:
        """How far the interval reaches down; not a number where there is none."""
        return math.nan if self.low is None else self.value - self.low

    @property
    def above(self) -> float:
        """How far the interval reaches up; not a number where there is none."""
        return math.nan if self.high is None else self.high - self.value


def difference(left: Estimate, right: Estimate) -> Estimate:
    """Return left minus right."""
    return _around(left.value - right.value, math.hypot(left.below, right.above), math.hypot(left.above, right.below))


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of some estimates."""
    count = len(estimates)
    value = math.fsum(item.value for item in estimates) / count
    below = math.hypot(*(item.below for item in estimates)) / count
    above = math.hypot(*(item.above for item in estimates)) / count
    return _around(value, below, above)


def mean_together(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of estimates from the same test items, which err together: nothing cancels out."""
    value, below, above = (
        statistics.fmean(getattr(item, name) for item in estimates) for name in ("value", "below", "above")
    )
    return _around(value, below, above)


def with_seeds(estimate: Estimate, seed: float, count: int) -> Estimate:
    """Return a mean over so many seeds with their own reach added to that of its items, where one reaches so far."""
    reach = seed / math.sqrt(count)
    return _around(estimate.value, math.hypot(estimate.below, reach), math.hypot(estimate.above, reach))


def in_points(estimate: Estimate) -> tuple[float, float]:
    """Return the ends of an interval that is known, of a score that can only be from 0 to 100."""
    return max(estimate.value - estimate.below, 0.0), min(estimate.value + estimate.above, 100.0)


def unanimous_reach(items: int) -> float:
    """Return how far an interval reaches, as a share, where all of some items agree (Clopper and Pearson 1934).

    Drawing again from items that agree gives nothing else, so a bootstrap would take them as exactly known.
    """
    return float(1 - ((1 - LEVEL) / 2) ** (1 / items))


def ratio(top: Estimate, bottom: Estimate) -> Estimate:
    """Return top divided by a positive bottom, its interval to first order."""
    value = top.value / bottom.value
    up, down = (bottom.above, bottom.below) if value >= 0 else (bottom.below, bottom.above)
    below = math.hypot(top.below, value * up) / bottom.value
    above = math.hypot(top.above, value * down) / bottom.value
    return _around(value, below, above)


def shifted(estimate: Estimate, by: float) -> Estimate:
    """Return an estimate moved by a known amount."""
    return _around(estimate.value + by, estimate.below, estimate.above)


def pearson_interval(r: float, points: int) -> Estimate:
    """Return a correlation with its 95% interval by Fisher's transformation (none under four points)."""
    if points < 4 or abs(r) >= 1:
        return Estimate(r)
    reach = 1.959964 / math.sqrt(points - 3)
    return Estimate(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach))


def seed_reach(settings: Iterable[Sequence[float]]) -> float:
    """Return how far one seed may be off, from the scores of several settings' seeds; 0 where each has only one."""
    squares, freedom = 0.0, 0
    for scores in settings:
        middle = statistics.fmean(scores)
        squares += math.fsum((score - middle) ** 2 for score in scores)
        freedom += len(scores) - 1
    if not freedom:
        return 0.0
    return float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(squares / freedom)


def _around(value: float, below: float, above: float) -> Estimate:
    if math.isnan(below) or math.isnan(above):
        return Estimate(value)
    return Estimate(value, value - below, value + above)
