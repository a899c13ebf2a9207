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


def similar(model: str, pair: str, values: list[float], layer: str = AVERAGE) -> list[CkaScore]:
    return [CkaScore(layer=layer, pair=pair, model=model, seed=i, cka=v) for i, v in enumerate(values)]


def test_seeds_are_averaged_and_their_spread_widens_the_interval() -> None:
    values = [50.0, 54.0, 61.0]
    (cell,) = cell_means(cells("Default", values, reach=2.0))
    z = np.arcsin(np.sqrt(np.array(values) / 100))
    items = np.mean([2 / 1.96 / 100 / (2 * np.sqrt(v / 100 * (1 - v / 100))) for v in values])
    half = stats.t.ppf(0.975, 5) * np.hypot(z.std(ddof=1) / np.sqrt(3), items)  # 3 degrees of freedom are the task's
    assert cell.score == pytest.approx(statistics.mean(values))
    ends = [100 * np.sin(z.mean() + sign * half) ** 2 for sign in (-1, 1)]
    assert (cell.low, cell.high) == pytest.approx(ends)


def test_intervals_neither_shrink_where_seeds_agree_nor_leave_0_to_100() -> None:
    (agreed,), (one,) = (cell_means(cells("S", [50.0] * n, reach=3.0)) for n in (4, 1))
    assert agreed.score - agreed.low >= one.score - one.low > 2.9  # type: ignore[operator]
    (wide,) = cell_means(cells("S", [1.0, 99.0]))
    assert (wide.low, wide.high) == (0.0, 100.0)


def test_tasks_have_their_own_seeds_and_languages_share_them() -> None:
    rows = [*cells("A", [50.0, 60.0], 1.0), *cells("A", [50.0], 1.0, code="ru"), *cells("A", [50.0], 1.0, "pos")]
    reaches = {(cell.task, cell.language): (cell.high or 0) - cell.score for cell in cell_means(rows)}
    assert reaches["pos", "fr"] == pytest.approx(1.0, abs=0.01)
    assert reaches["ner", "ru"] > reaches["ner", "fr"] > 10.0  # one seed, and two of the same spread


def test_a_floor_is_the_mean_of_its_own_seeds_and_no_cell() -> None:
    own: dict[str, Any] = {"setting": "Default", "task": "ner", "language": "fr", "chance": 7.0}
    model = Cell(**own, seed=1, score=60.0, floor=FLOOR)
    floors = cells(FLOOR, [10.0, 30.0])
    (cell,) = cell_means([model, *floors])
    assert (cell.setting, cell.score, cell.floor, cell.low) == ("Default", 60.0, 20.0, None)
    (published,) = cell_means([Cell(**own, score=60.0)])
    assert published.floor == 7.0  # of no untrained encoder: chance
    with pytest.raises(XlingError, match=r"Default ner fr: no record of its floor, figure3 untrained \(joint\)"):
        cell_means([model])


def test_cka_pools_the_spread_of_seeds_over_the_pairs_of_a_kind() -> None:
    found = {"en-fr": [0.50, 0.52], "en-ru": [0.70, 0.74, 0.72], "en-zh": [0.6]}
    rows = [row for pair, values in found.items() for row in similar("bilingual", pair, values)]
    widths = {mean.pair: (mean.high or 0) - (mean.low or 0) for mean in cka_means(rows)}
    assert widths["en-zh"] > widths["en-fr"] > widths["en-ru"] > 0  # by the number of seeds
    assert cka_means(similar("random", "en-fr", [0.3])) == [CkaMean(AVERAGE, "en-fr", "random", 0.3)]  # no second seed


def test_layers_have_means_by_seed_or_already_averaged() -> None:
    (mean,) = cka_means(similar("random", "en-fr", [0.2, 0.4], "L1"))
    assert mean.cka == pytest.approx(0.3)
    averaged = CkaScore(layer="L1", pair="en-fr", model="random", cka=0.3)
    assert cka_means([averaged]) == [CkaMean("L1", "en-fr", "random", 0.3)]


def test_words_and_sentences_have_means_around_which_seeds_and_items_vary() -> None:
    scores: list[dict[str, Any]] = [{"seed": seed, "p1": p1, "low": 1.0, "high": 9.0} for seed, p1 in ((1, 4), (2, 6))]
    (word,) = word_means([WordScore(language="fr", vectors="BERT", chance=0.1, pairs=7, **one) for one in scores])
    assert (word.p1, word.layer, word.pairs) == (5.0, None, 7)
    assert 0 <= word.low < 1.0 < 9.0 < word.high  # type: ignore[operator]  # the items alone give 1 to 9
    curve: dict[str, Any] = {"language": "fr", "model": "monolingual", "direction": "en-x", "layer": 3, "chance": 0.1}
    (sentence,) = sentence_means([SentenceScore(**curve, **one) for one in scores])
    assert (sentence.p1, sentence.layer, sentence.low, sentence.high) == (5.0, 3, word.low, word.high)


def test_contextual_scores_stand_above_the_same_series_untrained() -> None:
    about: dict[str, Any] = {"task": "ner", "language": "fr", "series": "biMLM", "layer": 0}
    rows = [ContextualScore(**about, encoder="trained", seed=seed, score=s) for seed, s in ((1, 60.0), (2, 70.0))]
    floor = ContextualScore(**about, encoder="untrained", seed=1, score=20.0)
    (mean,) = contextual_means([*rows, floor])
    assert (mean.score, mean.floor) == (65.0, 20.0)
    with pytest.raises(XlingError, match="ner fr biMLM trained 0: no record of its floor"):
        contextual_means(rows)
