import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xling.core.errors import XlingError
from xling.core.stats import interval, resampled
from xling.finetune.metrics import ACCURACY, SPAN_SCORES
from xling.finetune.selection import mean_scores, select


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5, 3.0]), min_size=2, max_size=12))
def test_the_best_points_by_dev_are_chosen(scores: list[float]) -> None:
    dev = dict(enumerate(scores))
    chosen = select(dev, 2)
    assert sorted((dev[number] for number in chosen), reverse=True) == sorted(scores, reverse=True)[:2]
    assert chosen == select(dict(reversed(dev.items())), 2)  # whatever order the jobs came in
    assert all(
        number < other for number in chosen[:1] for other in dev if dev[other] == dev[number] and other != number
    )


def test_more_points_than_there_are_is_an_error() -> None:
    with pytest.raises(XlingError, match="mean of 3 grid points, but there are 1"):
        select({0: 1.0}, 3)


def test_scores_of_points_are_averaged() -> None:
    assert mean_scores([{"las": 1.0, "uas": 3.0}, {"las": 2.0, "uas": 5.0}]) == {"las": 1.5, "uas": 4.0}


def test_accuracy_interval_has_the_width_of_a_binomial() -> None:
    n, p = 2000, 0.7
    right = (np.arange(n) < p * n).astype(np.int64)
    counts = np.stack([right, np.ones(n, dtype=np.int64)], axis=1)[None]
    low, high = interval(counts, ACCURACY["accuracy"], "test")
    half = 100 * 1.96 * np.sqrt(p * (1 - p) / n)
    assert low == pytest.approx(70 - half, abs=0.25)
    assert high == pytest.approx(70 + half, abs=0.25)
    assert (low, high) == interval(counts, ACCURACY["accuracy"], "test")
    assert (low, high) != interval(counts, ACCURACY["accuracy"], "another name")


def test_resamples_equal_a_loop_over_drawn_items() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, size=(2, 30, 3))
    found = resampled(counts, SPAN_SCORES["f1"], 40, np.random.default_rng(9))
    draws = np.random.default_rng(9).integers(30, size=(40, 30))
    for score, items in zip(found, draws, strict=True):
        sums = counts[:, items].sum(axis=1)
        expected = np.mean([200 * right / (predicted + gold) for right, predicted, gold in sums])
        assert score == pytest.approx(expected)


def test_the_same_items_are_drawn_at_all_points() -> None:
    right = np.random.default_rng(1).integers(0, 2, size=500)
    one, other = (np.stack([values, np.ones_like(values)], axis=1) for values in (right, 1 - right))
    low, high = interval(np.stack([one, other]), ACCURACY["accuracy"], "paired")
    assert low == high == 50.0  # what one point loses the other wins, item by item
