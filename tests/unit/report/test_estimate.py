"""Intervals through differences, means and ratios, against sampling."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binomtest, pearsonr

from xling.core.seeds import numpy_rng
from xling.report.estimate import (
    Estimate,
    difference,
    in_points,
    mean,
    mean_together,
    pearson_interval,
    ratio,
    shifted,
    unanimous_reach,
    with_seeds,
)

RNG = numpy_rng("test", "estimate")
LEFT, RIGHT, TOGETHER = RNG.normal(30, 1.0, 400_000), RNG.normal(40, 0.7, 400_000), RNG.normal(35, 0.85, 400_000)


def normal(value: float, deviation: float) -> Estimate:
    return Estimate(value, value - 1.959964 * deviation, value + 1.959964 * deviation)


@pytest.mark.parametrize(
    ("combine", "samples", "tolerance"),
    [
        (difference, LEFT - RIGHT, 0.02),
        (ratio, LEFT / RIGHT, 0.002),
        (lambda a, b: mean([a, b]), (LEFT + RIGHT) / 2, 0.01),
        (lambda a, b: mean_together([a, b]), TOGETHER, 0.02),  # the same items: nothing cancels out
    ],
)
def test_an_interval_is_what_sampling_gives(
    combine: Callable[[Estimate, Estimate], Estimate], samples: np.ndarray, tolerance: float
) -> None:
    found = combine(normal(30, 1.0), normal(40, 0.7))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(samples, [0.025, 0.975])), abs=tolerance)
    bare = combine(Estimate(3.0), Estimate(2.0, 1.0, 3.0))  # no interval without both
    assert (bare.low, bare.high) == (None, None)


def test_the_two_sides_of_an_interval_stay_apart() -> None:
    apart = difference(Estimate(10, 7, 11), Estimate(4, 3.5, 8))
    assert (apart.low, apart.high) == pytest.approx((6 - 5, 6 + math.hypot(1, 0.5)))
    negative = ratio(Estimate(-10, -10, -10), Estimate(5, 4, 8))  # here they change places
    assert (negative.low, negative.high) == pytest.approx((-2 - 2 * 1 / 5, -2 + 2 * 3 / 5))
    assert shifted(Estimate(50, 48, 53), -10) == Estimate(40, 38, 43)


def test_seeds_add_their_reach_to_that_of_the_items() -> None:
    found = with_seeds(Estimate(50, 47, 54), 4 * math.sqrt(2), 2)
    assert (found.low, found.high) == pytest.approx((45, 50 + math.sqrt(32)))
    assert in_points(Estimate(1, -3, 104)) == (0, 100)


@pytest.mark.parametrize("items", [1, 22, 1000])
def test_items_that_all_agree_are_not_taken_as_known(items: int) -> None:
    assert unanimous_reach(items) == pytest.approx(binomtest(0, items).proportion_ci(method="exact").high)


def test_the_correlation_interval_is_the_librarys() -> None:
    x = RNG.normal(size=9)
    theirs = pearsonr(x, x + 0.5 * RNG.normal(size=9))
    found = pearson_interval(theirs.statistic, 9)
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)), abs=1e-6)
    assert pearson_interval(0.95, 3) == Estimate(0.95)
