"""Means over seeds: the closed form of an interval, and floors; test_figure_commands has those of a reference run."""

import statistics
from typing import Any

import numpy as np
import pytest
from scipy import stats

from xling.core.errors import XlingError
from xling.report.means import CkaMean, cell_means, cka_means, contextual_means
from xling.report.models import AVERAGE
from xling.report.records import Cell, CkaScore, ContextualScore

FLOOR = "untrained (joint)"


def cells(setting, values, reach=0.0, task="ner", code="fr"):
    """Return the rows of a setting's seeds."""
    about: dict[str, Any] = {"setting": setting, "task": task, "language": code, "chance": 1.0}
    return [Cell(**about, seed=i, score=v, low=v - reach, high=v + reach) for i, v in enumerate(values)]


def similar(pair, values, layer=AVERAGE):
    return [CkaScore(layer=layer, pair=pair, model="random", seed=i, cka=v) for i, v in enumerate(values)]


def test_seeds_are_averaged_and_their_spread_widens_the_interval():
    values = [50.0, 54.0, 61.0]
    (cell,) = cell_means(cells("Default", values, reach=2.0))
    z = np.arcsin(np.sqrt(np.array(values) / 100))
    items = np.mean([2 / 1.96 / 100 / (2 * np.sqrt(v / 100 * (1 - v / 100))) for v in values])
    half = stats.t.ppf(0.975, 5) * np.hypot(z.std(ddof=1) / np.sqrt(3), items)  # 3 degrees of freedom are the task's
    assert cell.score == pytest.approx(statistics.mean(values))
    centre = np.arcsin(np.sqrt(statistics.mean(values) / 100))
    ends = [100 * np.sin(centre + sign * half) ** 2 for sign in (-1, 1)]
    assert (cell.low, cell.high) == pytest.approx(ends)


def test_intervals_neither_shrink_where_seeds_agree_nor_leave_0_to_100():
    (agreed,), (one,) = (cell_means(cells("S", [50.0] * n, reach=3.0)) for n in (4, 1))
    assert agreed.score - agreed.low >= one.score - one.low > 2.9
    (wide,) = cell_means(cells("S", [1.0, 99.0]))
    assert (wide.low, wide.high) == (0.0, 100.0)


def test_a_floor_is_the_mean_of_its_own_seeds_and_no_cell():
    own: dict[str, Any] = {"setting": "Default", "task": "ner", "language": "fr", "chance": 7.0}
    model = Cell(**own, seed=1, score=60.0, floor=FLOOR)
    (cell,) = cell_means([model, *cells(FLOOR, [10.0, 30.0])])
    assert (cell.setting, cell.score, cell.floor, cell.low) == ("Default", 60.0, 20.0, None)
    (published,) = cell_means([Cell(**own, score=60.0)])
    assert published.floor == 7.0  # of no untrained encoder: chance
    with pytest.raises(XlingError, match=r"Default ner fr: no record of its floor, figure3 untrained \(joint\)"):
        cell_means([model])
    about: dict[str, Any] = {"task": "ner", "language": "fr", "series": "biMLM", "encoder": "trained", "layer": 0}
    with pytest.raises(XlingError, match="ner fr biMLM trained 0: no record of its floor"):
        contextual_means([ContextualScore(**about, seed=1, score=60.0)])


def test_similarities_have_intervals_where_there_is_a_second_seed():
    one, two = cka_means([*similar("en-fr", [0.3]), *similar("en-ru", [0.2, 0.4])])
    assert two.cka == pytest.approx(0.3)
    assert one.high - one.low > two.high - two.low > 0
    assert cka_means(similar("en-fr", [0.3], "L1")) == [CkaMean("L1", "en-fr", "random", 0.3)]
