import numpy as np
import pytest
from scipy.stats import binomtest

from xling.core.stats import interval, resampled_points, unanimous_reach
from xling.finetune.metrics import ACCURACY, SPAN_SCORES


def test_accuracy_interval_has_the_width_of_a_binomial():
    n, p = 2000, 0.7
    right = (np.arange(n) < p * n).astype(np.int64)
    counts = np.stack([right, np.ones(n, dtype=np.int64)], axis=1)[None]
    low, high = interval(counts, ACCURACY["accuracy"], "test")
    half = 100 * 1.96 * np.sqrt(p * (1 - p) / n)
    assert (low, high) == (pytest.approx(70 - half, abs=0.25), pytest.approx(70 + half, abs=0.25))
    assert (low, high) == interval(counts, ACCURACY["accuracy"], "test")
    assert (low, high) != interval(counts, ACCURACY["accuracy"], "another name")


def test_resamples_equal_a_loop_over_drawn_items():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, size=(2, 30, 3))
    found = resampled_points(counts, SPAN_SCORES["f1"], 40, np.random.default_rng(9)).mean(axis=1)
    draws = np.random.default_rng(9).integers(30, size=(40, 30))
    for score, items in zip(found, draws, strict=True):
        sums = counts[:, items].sum(axis=1)
        expected = np.mean([200 * right / (predicted + gold) for right, predicted, gold in sums])
        assert score == pytest.approx(expected)


def test_the_same_items_are_drawn_at_all_points():
    right = np.random.default_rng(1).integers(0, 2, size=500)
    one, other = (np.stack([values, np.ones_like(values)], axis=1) for values in (right, 1 - right))
    low, high = interval(np.stack([one, other]), ACCURACY["accuracy"], "paired")
    assert low == high == 50.0  # what one point loses the other wins, item by item


@pytest.mark.parametrize("items", [1, 22, 1000])
def test_items_that_all_agree_are_not_taken_as_known(items):
    assert unanimous_reach(items) == pytest.approx(binomtest(0, items).proportion_ci(method="exact").high)
