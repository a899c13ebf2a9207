"""Averages of CKA over the layers: how far seeds reach, pooled over the pairs of a kind of model."""

import math

import pytest
from scipy.stats import t

from xling.report.cka_table import average_intervals


def test_the_spread_of_seeds_is_pooled_over_the_pairs_of_a_kind() -> None:
    found = [("bilingual", [0.50, 0.52]), ("random", [0.3]), ("bilingual", [0.70, 0.74, 0.72]), ("bilingual", [0.6])]
    first, random, second, single = average_intervals(found)
    reach = t.ppf(0.975, df=3) * math.sqrt((0.0002 + 0.0008) / 3)
    assert first == pytest.approx((0.51 - reach / math.sqrt(2), 0.51 + reach / math.sqrt(2)))
    assert second == pytest.approx((0.72 - reach / math.sqrt(3), 0.72 + reach / math.sqrt(3)))
    assert single == pytest.approx((0.6 - reach, 0.6 + reach))  # one seed, and the others tell how seeds differ
    assert random == (None, None)


def test_an_interval_ends_where_similarity_does() -> None:
    assert average_intervals([("bilingual", [0.1, 0.9])]) == [(0.0, 1.0)]


def test_seeds_that_agree_leave_no_doubt() -> None:
    assert average_intervals([("random", [0.5, 0.5])]) == [(0.5, 0.5)]
