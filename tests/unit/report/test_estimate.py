"""Intervals through differences, means and ratios, against sampling."""

import math

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

Z = 1.959964


def normal(value: float, deviation: float) -> Estimate:
    return Estimate(value, value - Z * deviation, value + Z * deviation)


def sampled(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


RNG = numpy_rng("test", "estimate")
LEFT, RIGHT = RNG.normal(30, 1.0, 400_000), RNG.normal(40, 0.7, 400_000)


def test_a_difference_has_the_interval_that_sampling_gives() -> None:
    found = difference(normal(30, 1.0), normal(40, 0.7))
    assert (found.low, found.high) == pytest.approx(sampled(LEFT - RIGHT), abs=0.02)


def test_a_ratio_has_the_interval_that_sampling_gives() -> None:
    found = ratio(normal(30, 1.0), normal(40, 0.7))
    assert (found.low, found.high) == pytest.approx(sampled(LEFT / RIGHT), abs=0.002)


def test_a_mean_has_the_interval_that_sampling_gives() -> None:
    found = mean([normal(30, 1.0), normal(40, 0.7)])
    assert (found.low, found.high) == pytest.approx(sampled((LEFT + RIGHT) / 2), abs=0.01)


def test_a_mean_over_the_same_items_is_as_far_off_as_each() -> None:
    together = normal(30, 1.0), normal(40, 1.0)
    errors = RNG.normal(0, 1.0, 400_000)
    found = mean_together(together)
    assert (found.low, found.high) == pytest.approx(sampled(35 + errors), abs=0.02)
    assert mean_together([Estimate(3), normal(4, 1)]) == Estimate(3.5)


def test_seeds_add_their_reach_to_that_of_the_items() -> None:
    found = with_seeds(Estimate(50, 47, 54), 4 * math.sqrt(2), 2)
    assert (found.low, found.high) == pytest.approx((45, 50 + math.sqrt(32)))
    assert in_points(Estimate(1, -3, 104)) == (0, 100)


@pytest.mark.parametrize("items", [1, 22, 1000])
def test_items_that_all_agree_are_not_taken_as_known(items: int) -> None:
    assert unanimous_reach(items) == pytest.approx(binomtest(0, items).proportion_ci(method="exact").high)


def test_the_two_sides_of_an_interval_stay_apart() -> None:
    found = difference(Estimate(10, 7, 11), Estimate(4, 3.5, 8))
    assert (found.low, found.high) == pytest.approx((6 - 5, 6 + math.hypot(1, 0.5)))


def test_the_sides_change_places_for_a_negative_ratio() -> None:
    found = ratio(Estimate(-10, -10, -10), Estimate(5, 4, 8))
    assert (found.low, found.high) == pytest.approx((-2 - 2 * 1 / 5, -2 + 2 * 3 / 5))


@pytest.mark.parametrize("operation", [difference, ratio, lambda a, b: mean([a, b])])
def test_no_interval_without_both(operation: object) -> None:
    found = operation(Estimate(3.0), Estimate(2.0, 1.0, 3.0))  # type: ignore[operator]
    assert (found.low, found.high) == (None, None)


def test_a_known_shift_keeps_the_width() -> None:
    assert shifted(Estimate(50, 48, 53), -10) == Estimate(40, 38, 43)


def test_the_correlation_interval_is_the_librarys() -> None:
    rng = numpy_rng("test", "correlation")
    x = rng.normal(size=9)
    theirs = pearsonr(x, x + 0.5 * rng.normal(size=9))
    found = pearson_interval(theirs.statistic, 9)
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)), abs=1e-6)
    assert pearson_interval(0.95, 3) == Estimate(0.95)
