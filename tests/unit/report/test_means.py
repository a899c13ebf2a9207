"""Means over seeds: seed variance, floors, and what is left where nothing is known."""

import statistics
from typing import Any

import numpy as np
import pytest
from scipy import stats

from xling.core.errors import XlingError
from xling.report.means import CkaMean, cell_means, cka_means, contextual_means, sentence_means, word_means
from xling.report.records import AVERAGE, Cell, CkaScore, ContextualScore, SentenceScore, WordScore

FLOOR = "untrained (joint)"


def cells(setting: str, values: list[float], reach: float = 0.0, task: str = "ner", code: str = "fr") -> list[Cell]:
    """Return the rows of a setting's seeds."""
    about: dict[str, Any] = {"setting": setting, "task": task, "language": code, "chance": 1.0}
    return [Cell(**about, seed=i, score=v, low=v - reach, high=v + reach) for i, v in enumerate(values)]


def averages(model: str, pair: str, values: list[float]) -> list[CkaScore]:
    return [CkaScore(layer=AVERAGE, pair=pair, model=model, seed=i, cka=v) for i, v in enumerate(values)]


def test_seeds_are_averaged_and_their_spread_widens_the_interval() -> None:
    values = [50.0, 54.0, 61.0]
    (cell,) = cell_means(cells("Default", values, reach=2.0))
    half = (stats.t.interval(0.95, 2, 0.0, stats.sem(values))[1] ** 2 + 2.0**2) ** 0.5
    assert cell.score == pytest.approx(statistics.mean(values))
    assert (cell.low, cell.high) == pytest.approx((cell.score - half, cell.score + half))


def test_intervals_neither_shrink_where_seeds_agree_nor_leave_0_to_100() -> None:
    (agreed,) = cell_means(cells("S", [50.0] * 4, reach=3.0))
    assert (agreed.low, agreed.high) == (47.0, 53.0)
    (wide,) = cell_means(cells("S", [1.0, 99.0]))
    assert (wide.low, wide.high) == (0.0, 100.0)


def test_seeds_of_all_settings_tell_how_much_seeds_differ() -> None:
    """The pooled spread is the residual one of a one-way analysis of variance, here by least squares."""
    seeds = {"A": [50.0, 54.0], "B": [20.0, 21.0, 29.0], "C": [40.0]}
    which = [name for name, values in seeds.items() for _ in values]
    design = np.array([[float(name == one) for name in seeds] for one in which])
    scores = np.array([value for values in seeds.values() for value in values])
    _, (residual,), rank, _ = np.linalg.lstsq(design, scores)
    freedom = len(scores) - rank
    for cell in cell_means([row for name, values in seeds.items() for row in cells(name, values)]):
        half = stats.t.ppf(0.975, freedom) * (residual / freedom / len(seeds[cell.setting])) ** 0.5
        assert (cell.low, cell.high) == pytest.approx((max(cell.score - half, 0.0), cell.score + half))


def test_tasks_and_languages_have_their_own_seeds() -> None:
    rows = [*cells("A", [50.0, 60.0], 1.0), *cells("A", [30.0], 1.0, code="ru"), *cells("A", [70.0], 1.0, "pos")]
    reaches = {(cell.task, cell.language): (cell.high or 0) - cell.score for cell in cell_means(rows)}
    assert reaches["ner", "ru"] == reaches["pos", "fr"] == 1.0
    assert reaches["ner", "fr"] > 20.0


def test_a_floor_is_the_mean_of_its_own_seeds_and_no_cell() -> None:
    own: dict[str, Any] = {"setting": "Default", "task": "ner", "language": "fr", "chance": 7.0}
    model = Cell(**own, seed=1, score=60.0, floor=FLOOR)
    floors = cells(FLOOR, [10.0, 30.0])
    (cell,) = cell_means([model, *floors])
    assert (cell.setting, cell.score, cell.floor, cell.low) == ("Default", 60.0, 20.0, None)
    (published,) = cell_means([Cell(**own, score=60.0)])
    assert published.floor == 7.0  # of no untrained encoder: chance
    with pytest.raises(XlingError, match=r"Default ner fr: no record of its floor, untrained \(joint\)"):
        cell_means([model])


def test_cka_pools_the_spread_of_seeds_over_the_pairs_of_a_kind() -> None:
    found = {"en-fr": [0.50, 0.52], "en-ru": [0.70, 0.74, 0.72], "en-zh": [0.6]}
    rows = [row for pair, values in found.items() for row in averages("bilingual", pair, values)]
    reach = stats.t.ppf(0.975, df=3) * ((0.0002 + 0.0008) / 3) ** 0.5
    *bilingual, random = cka_means([*rows, *averages("random", "en-fr", [0.3])])
    for mean, values in zip(bilingual, found.values(), strict=True):
        own = reach / len(values) ** 0.5
        middle = statistics.mean(values)
        assert (mean.cka, mean.low, mean.high) == pytest.approx((middle, middle - own, middle + own))
    assert random == CkaMean(AVERAGE, "en-fr", "random", 0.3)  # no second seed of its kind
    (wide,) = cka_means(averages("bilingual", "en-fr", [0.1, 0.9]))
    assert (wide.low, wide.high) == (0.0, 1.0)


def test_layers_have_means_and_no_intervals_by_seed_or_already_averaged() -> None:
    about = {"layer": "L1", "pair": "en-fr", "model": "random"}
    by_seed = [CkaScore(**about, seed=seed, cka=value) for seed, value in ((1, 0.2), (2, 0.4))]  # type: ignore[arg-type]
    (mean,) = cka_means(by_seed)
    assert mean.cka == pytest.approx(0.3)
    assert (mean.low, mean.high) == (None, None)
    assert cka_means([CkaScore(**about, cka=0.3)]) == [CkaMean(*about.values(), 0.3)]  # type: ignore[arg-type]


def test_words_and_sentences_keep_the_interval_that_their_seeds_have_together() -> None:
    scores: list[dict[str, Any]] = [{"seed": seed, "p1": p1, "low": 1.0, "high": 9.0} for seed, p1 in ((1, 4), (2, 6))]
    (word,) = word_means(WordScore(language="fr", vectors="BERT", chance=0.1, pairs=7, **one) for one in scores)
    assert (word.p1, word.low, word.high, word.layer, word.pairs) == (5.0, 1.0, 9.0, None, 7)
    curve: dict[str, Any] = {"language": "fr", "model": "monolingual", "direction": "en-x", "layer": 3, "chance": 0.1}
    (sentence,) = sentence_means(SentenceScore(**curve, **one) for one in scores)
    assert (sentence.p1, sentence.low, sentence.high, sentence.layer) == (5.0, 1.0, 9.0, 3)


def test_contextual_scores_stand_above_the_same_series_untrained() -> None:
    about: dict[str, Any] = {"task": "ner", "language": "fr", "series": "biMLM", "layer": 0}
    rows = [ContextualScore(**about, encoder="trained", seed=seed, score=s) for seed, s in ((1, 60.0), (2, 70.0))]
    floor = ContextualScore(**about, encoder="untrained", seed=1, score=20.0)
    (mean,) = contextual_means([*rows, floor])
    assert (mean.score, mean.floor, mean.low) == (65.0, 20.0, None)
    with pytest.raises(XlingError, match="ner fr biMLM layer 0: no record of its floor"):
        contextual_means(rows)
