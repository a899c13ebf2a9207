"""Values with redraws: what is measured, its noise, and arithmetic that keeps them together (docs/verdicts.md).

A `Value` holds all redraws of a quantity in one array, so a function of quantities is computed on all redraws at once.
If a quantity occurs in several formulas, all of them use the same array: its noise is fully correlated and cancels in
differences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtrit

TAIL = 0.025  # probability beyond each end of a 95% interval
STEADY = 0.45  # the largest coefficient of variation of a denominator at which a ratio is shown
FARTHEST = 50  # standard errors from a ratio to the end of its interval
CERTAIN = 1e6  # degrees of freedom of a variance that is known, not estimated
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """The origin of a seed variance and its degrees of freedom; `seeds` is 0 if more seeds would change nothing."""

    freedom: float
    seeds: float
    origin: str = "own"  # see `seed_variances`


@dataclass(frozen=True, eq=False)
class Value:
    """A quantity: the observed number, then n redraws with seed and item noise, then n redraws with item noise only.

    The redraws of a ratio are those of the contrast at the observed ratio; for a ratio of c, (c - observed) `tilt` is
    added.
    """

    draws: Array
    sources: frozenset[Source] = frozenset()
    tilt: Array | None = None

    @property
    def observed(self) -> float:
        """The observed number."""
        return float(self.draws[0])

    @cached_property
    def spread(self) -> float:
        """The standard error: half the distance between the 16th and the 84th percentile of the redraws."""
        return self.spread_at(self.observed)

    @property
    def freedom(self) -> float:
        """The smallest degrees of freedom among the sources."""
        return min((source.freedom for source in self.sources), default=CERTAIN)

    @property
    def seeds(self) -> float:
        """The number of seeds behind the value: the harmonic mean over the sources."""
        counts = [source.seeds for source in self.sources if source.seeds]
        return len(counts) / sum(1 / count for count in counts) if counts else 1.0

    @property
    def origins(self) -> set[str]:
        """The origins of the seed variances, see `seed_variances`."""
        return {source.origin for source in self.sources}

    def interval(self, reach: float) -> tuple[float, float]:
        """Return the range of numbers at most `reach` standard errors from the observed one.

        For a ratio it is Fieller's: the standard error at c is that of the contrast at c. An end that lies further away
        than FARTHEST standard errors, or nowhere, is put there.
        """
        if self.tilt is None:
            return self.observed - reach * self.spread, self.observed + reach * self.spread
        return self._end(-reach), self._end(reach)

    def _end(self, reach: float) -> float:
        def beyond(c: float) -> float:
            return abs(c - self.observed) - abs(reach) * self.spread_at(c)

        far = self.observed + reach * self.spread
        while (outside := beyond(far)) < 0 and abs(far - self.observed) < FARTHEST * self.spread:
            far += far - self.observed
        return float(brentq(beyond, self.observed, far, xtol=1e-6)) if outside > 0 else far

    def spread_at(self, c: float, items: bool = False) -> float:
        """Return the standard error if the number is c, or that due to the test items, which no more seeds reduce."""
        own = np.split(self.draws[1:], 2)[int(items)]
        if self.tilt is not None:
            own = own + (c - self.observed) * np.split(self.tilt[1:], 2)[int(items)]
        low, high = np.quantile(own, [0.16, 0.84]) if own.size else (0.0, 0.0)
        return float(high - low) / 2

    def __add__(self, other: "Value | float") -> "Value":
        return together(np.add, self, other)

    def __sub__(self, other: "Value | float") -> "Value":
        return together(np.subtract, self, other)

    def __mul__(self, factor: float) -> "Value":
        return Value(factor * self.draws, self.sources)

    __rmul__ = __mul__


def together(function: Any, *values: Value | float) -> Value:
    """Apply a function of arrays to the redraws of values, and return the result with the sources of all values."""
    sources = frozenset(source for value in values if isinstance(value, Value) for source in value.sources)
    return Value(function(*(value.draws if isinstance(value, Value) else value for value in values)), sources)


def mean(values: Sequence[Value]) -> Value:
    """Return the mean of the values in every redraw; if it is c, each ratio is as far from its own observed one."""
    found = together(lambda *arrays: np.mean(arrays, axis=0), *values)
    tilts = [value.tilt for value in values if value.tilt is not None]
    return found if len(tilts) < len(values) else replace(found, tilt=np.mean(tilts, axis=0))


def best(values: Sequence[Value]) -> Value:
    """Return the maximum of the values in every redraw."""
    return together(lambda *arrays: np.max(arrays, axis=0), *values)


def worst(values: Sequence[Value]) -> Value:
    """Return the minimum of the values in every redraw."""
    return together(lambda *arrays: np.min(arrays, axis=0), *values)


def pearson(left: Sequence[Value], right: Sequence[Value]) -> Value:
    """Return Pearson's correlation between two sequences of values in every redraw."""

    def correlate(*arrays: Array) -> Array:
        x, y = (np.stack(half) - np.mean(half, axis=0) for half in (arrays[: len(left)], arrays[len(left) :]))
        return np.asarray((x * y).sum(axis=0) / np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0)))

    return together(correlate, *left, *right)


def share(top: Value, bottom: Value) -> Value:
    """Return the ratio top / bottom, with redraws derived from the linear contrast top - c bottom (Fieller 1954).

    If bottom is positive, top / bottom is above c exactly when top - c bottom is above 0, and that difference is nearly
    normal.
    """
    ratio = top.observed / bottom.observed
    contrast = (top - ratio * bottom) * (1 / bottom.observed) + ratio
    return replace(contrast, tilt=1 - bottom.draws / bottom.observed)


def steady(bottom: Value) -> bool:
    """Return whether a denominator is precise enough for its ratio to be shown: clearly positive, and not too noisy."""
    clear = stdtrit(bottom.freedom, 1 - TAIL) * bottom.spread < bottom.observed
    return bool(clear) and bottom.spread <= STEADY * bottom.observed
