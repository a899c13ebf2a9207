"""Scores of models that were tested on the same sentences err together: closed forms, pairing, and the file."""

import numpy as np
import pytest

from xling.core.errors import InputError
from xling.core.io import seal_of
from xling.core.stats import Counts
from xling.report.items import Key, item_covariances, read_items, write_items
from xling.report.records import Cell

RNG = np.random.default_rng(5)
CELL = Cell(setting="a", task="xnli", language="fr", score=0.0, chance=0.0)


def accuracy(right):
    """Return the counts of one grid point whose sentences are one item each."""
    return np.stack([right, np.ones_like(right)], axis=-1).astype(np.int64)[None]


def saved(folder, **models):
    """Write the counts of models on XNLI in French, by name; all are of the first seed."""
    counts: dict[Key, Counts] = {("xnli", "fr", name, 1): own for name, own in models.items()}
    write_items(folder / "items.npz", counts)
    return folder / "items.npz"


def covariance(path):
    return item_covariances(path, [CELL, CELL])["xnli|fr"]


def test_accuracies_have_the_covariance_of_their_items(tmp_path):
    """The bootstrap of a mean has the items' covariance over their number: for one model p (1 - p) / n."""
    first = RNG.random(2000) < 0.7
    second = np.where(RNG.random(2000) < 0.5, first, RNG.random(2000) < 0.4)
    path = saved(tmp_path, a=accuracy(first), b=accuracy(second), c=accuracy(first))
    names, found = covariance(path)
    assert names == ["a|1", "b|1", "c|1"]
    assert found[:2, :2] == pytest.approx(np.cov(first, second, ddof=0) / 2000, rel=0.12)  # of 1000 samples
    contrast = np.array([1, 0, -1])
    assert contrast @ found @ contrast == pytest.approx(0, abs=1e-13)  # right in the same sentences: no difference


def test_a_score_is_the_mean_of_its_grid_points(tmp_path):
    right = RNG.random(400) < 0.5
    one, two, none = (
        covariance(saved(tmp_path, a=np.concatenate([accuracy(x) for x in points])))[1]
        for points in ([right], [right, right], [right, ~right])
    )
    assert one == pytest.approx(two)
    assert none == pytest.approx(np.zeros((1, 1)))  # always one half


def test_counts_are_the_same_after_saving_and_take_little_space(tmp_path):
    small, large = (RNG.integers(0, top, (2, 1000, 3)) for top in (200, 60_000))
    path = tmp_path / "items.npz"
    write_items(path, {("ner", "fr", "Emb/L1-3", 2): small, ("ner", "ru", "untrained (joint)", 1): large})
    assert path.stat().st_size < 1.1 * (small.size + 2 * large.size)
    np.testing.assert_equal(read_items(path, "ner", "fr"), {("Emb/L1-3", 2): small})
    np.testing.assert_equal(read_items(path, "ner", "ru"), {("untrained (joint)", 1): large})
    assert read_items(path, "xnli", "fr") == {}


def test_without_counts_there_is_no_covariance_and_nonsense_is_named(tmp_path):
    assert item_covariances(tmp_path / "none.npz", [CELL]) == {}
    path = saved(tmp_path, a=accuracy(np.ones(3)), b=accuracy(np.ones(4)))
    with pytest.raises(InputError, match=r"items.npz: xnli fr: of different test sets or grids, \(1, 3, 2\) and"):
        covariance(path)
    path.write_bytes(b"nonsense")
    seal_of(path).unlink()
    with pytest.raises(InputError, match="no counts of test sentences"):
        covariance(path)
