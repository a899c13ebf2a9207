"""Scores of encoders become records: floors beside them, seeds averaged, a stale score refused."""

import csv
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from xling.report import record_transfer, table1
from xling.report.record_alignment import average_intervals
from xling.report.records import Cell, Examples, Setting, read_records

ROW = {"group": "", "domain": "Wiki-Wiki", "merges": "900", "anchors": "all", "share": "all", "softmax": "shared"}
FLOOR = "en-fr.untrained-joint.s1"


def planned(model: str, setting: str, seed: int) -> dict[str, Any]:
    config = {"ner": f"hash {model}"}
    return {"model": model, "setting": setting, "pair": "en-fr", "seed": seed, "config": config}


def score(name: str, value: float, reach: float = 2.0, **changes: Any) -> dict[str, Any]:
    """Return what a job would have written: `value` in French, 90 in English."""
    found = {
        code: {"score": one, "interval": [one - reach, one + reach], "baseline": {"score": 1.5}, "measures": {}}
        for code, one in (("en", 90.0), ("fr", value))
    }
    about = {"model": name, "task": "ner", "config": f"hash {name}", "measure": "f1", "selected": [1, 0]}
    about |= {"dev": 95.0, "seed": 1, "source": "en", "untrained": False}
    sizes = {"train": 2000, "dev": 300, "test": {"en": 40, "fr": 50}}
    return {**about, "sizes": sizes, "languages": found, **changes}


def write(folder: Path, models: dict[str, str], *scores: dict[str, Any]) -> list[str]:
    """Write a plan of models (by name, with their settings) and one floor, and all scores; return the flags."""
    floor = planned(FLOOR, "untrained (joint)", 1)
    rows = [{"setting": label, **ROW} for label in dict.fromkeys(models.values())]
    own = [planned(name, setting, int(name[-1])) | {"floor": FLOOR} for name, setting in models.items()]
    (folder / "plan.json").write_text(json.dumps({"settings": rows, "models": own, "floors": [floor]}))
    for name, value in zip([FLOOR, *models], [score(FLOOR, 20.0), *scores], strict=True):
        path = folder / "scores" / name / "ner.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(value))
    flags = {"--plan": "plan.json", "--scores": "scores", "--cells": "figure3.csv", "--settings": "settings.csv"}
    flags |= {"--examples": "examples.csv", "--long": "long.csv"}
    return [str(x) for key, name in flags.items() for x in (key, folder / name)]


def scored(setting: str, values: list[float], reach: float = 0.0, task: str = "ner", code: str = "fr") -> list[Any]:
    """Return the rows of a setting's seeds."""
    about = ("m", setting, f"en-{code}", task)
    return [
        record_transfer.Scored(*about, i, x, "f1", v, v - reach, v + reach, 0, 0, 90, "0")
        for i, v in enumerate(values)
        for x in ("en", code)
    ]


def test_every_file_of_two_settings(tmp_path: Path, call: Callable[..., Any]) -> None:
    models = {"a.s1": "Default", "b.s1": "Top shared"}
    flags = write(tmp_path, models, score("a.s1", 60.0), score("b.s1", 30.0))
    assert call(record_transfer.main, *flags).code == 0
    cells = read_records(tmp_path / "figure3.csv", Cell)
    assert cells[0] == Cell("Default", "ner", "fr", 60.0, 20.0, 58.0, 62.0)  # one seed: the interval of its items
    assert read_records(tmp_path / "settings.csv", Setting)[0] == Setting("Default", **ROW)
    assert read_records(tmp_path / "examples.csv", Examples) == [Examples("ner", "fr", 2000, 300, 50)]
    with (tmp_path / "long.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    expected = [(name, code) for name in (*models, FLOOR) for code in ("en", "fr")]
    assert [(row["model"], row["language"]) for row in rows] == expected
    assert {(row["chance"], row["selected"]) for row in rows} == {("1.5", "1 0")}
    assert (rows[0]["score"], rows[0]["floor"], rows[0]["english_dev"]) == ("90.0", "90.0", "95.0")
    paths = ["--cells", tmp_path / "figure3.csv", "--settings", tmp_path / "settings.csv", "--out-dir", tmp_path]
    assert call(table1.main, *paths).code == 0
    assert "Top shared" in (tmp_path / "table1.md").read_text()


def test_seeds_are_averaged_and_their_spread_widens_the_interval(tmp_path: Path, call: Callable[..., Any]) -> None:
    values = [50.0, 54.0, 61.0]
    models = {f"a.s{i}": "Default" for i in range(3)}
    flags = write(tmp_path, models, *(score(name, value) for name, value in zip(models, values, strict=True)))
    assert call(record_transfer.main, *flags).code == 0
    (cell,) = read_records(tmp_path / "figure3.csv", Cell)
    half = (stats.t.interval(0.95, 2, 0.0, stats.sem(values))[1] ** 2 + 2.0**2) ** 0.5
    assert cell.score == pytest.approx(statistics.mean(values))
    assert (cell.low, cell.high) == pytest.approx((cell.score - half, cell.score + half))
    assert cell.floor == 20.0


def test_intervals_neither_shrink_where_seeds_agree_nor_leave_0_to_100() -> None:
    (agreed,) = record_transfer.cells(scored("S", [50.0] * 4, reach=3.0))
    assert (agreed.low, agreed.high) == (47.0, 53.0)
    (wide,) = record_transfer.cells(scored("S", [1.0, 99.0]))
    assert (wide.low, wide.high) == (0.0, 100.0)


def test_seeds_of_all_settings_tell_how_much_seeds_differ() -> None:
    """The pooled spread is the residual one of a one-way analysis of variance, here by least squares."""
    seeds = {"A": [50.0, 54.0], "B": [20.0, 21.0, 29.0], "C": [40.0]}
    which = [name for name, values in seeds.items() for _ in values]
    design = np.array([[float(name == one) for name in seeds] for one in which])
    scores = np.array([value for values in seeds.values() for value in values])
    _, (residual,), rank, _ = np.linalg.lstsq(design, scores)
    freedom = len(scores) - rank
    rows = [row for name, values in seeds.items() for row in scored(name, values)]
    for cell in record_transfer.cells(rows):
        half = stats.t.ppf(0.975, freedom) * (residual / freedom / len(seeds[cell.setting])) ** 0.5
        assert (cell.low, cell.high) == pytest.approx((max(cell.score - half, 0.0), cell.score + half))


def test_tasks_and_languages_have_their_own_seeds() -> None:
    rows = [*scored("A", [50.0, 60.0], 1.0), *scored("A", [30.0], 1.0, code="ru"), *scored("A", [70.0], 1.0, "pos")]
    reaches = {(cell.task, cell.language): (cell.high or 0) - cell.score for cell in record_transfer.cells(rows)}
    assert reaches["ner", "ru"] == reaches["pos", "fr"] == 1.0
    assert reaches["ner", "fr"] > 20.0


def test_cka_pools_the_spread_of_seeds_over_the_pairs_of_a_kind() -> None:
    found = [("bilingual", [0.50, 0.52]), ("random", [0.3]), ("bilingual", [0.70, 0.74, 0.72]), ("bilingual", [0.6])]
    reach = stats.t.ppf(0.975, df=3) * ((0.0002 + 0.0008) / 3) ** 0.5
    first, random, second, single = average_intervals(found)
    for interval, middle, seeds in ((first, 0.51, 2), (second, 0.72, 3), (single, 0.6, 1)):
        assert interval == pytest.approx((middle - reach / seeds**0.5, middle + reach / seeds**0.5))
    assert random == (None, None)
    assert average_intervals([("bilingual", [0.1, 0.9])]) == [(0.0, 1.0)]
    assert average_intervals([("random", [0.5, 0.5])]) == [(0.5, 0.5)]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "a.s1",
            json.dumps(score("a.s1", 1.0, config="another")),
            "of another configuration: another, not hash a.s1 (delete it",
        ),
        ("a.s1", json.dumps(score("a.s1", 1.0, model="b.s1")), "the score of b.s1 ner, not of a.s1 ner (run"),
        ("a.s1", json.dumps(score("a.s1", 1.0, task="pos")), "the score of a.s1 pos, not of a.s1 ner (run"),
        (FLOOR, json.dumps(score(FLOOR, 1.0, config="old")), "of another configuration: old"),
        (FLOOR, "[]", "says nothing of the configuration"),
        (FLOOR, json.dumps({"config": f"hash {FLOOR}"}), "not the score of a fine-tuned encoder"),
    ],
)
def test_a_score_of_another_run_is_refused_in_one_line(
    name: str, text: str, problem: str, tmp_path: Path, call: Callable[..., Any]
) -> None:
    flags = write(tmp_path, {"a.s1": "Default"}, score("a.s1", 60.0))
    path = tmp_path / "scores" / name / "ner.json"
    path.write_text(text)
    found = call(record_transfer.main, *flags)
    assert (found.code, found.error.count("\n")) == (2, 1)
    assert f"{name}/ner.json: {problem}" in found.error
    path.unlink()
    assert "no such file" in call(record_transfer.main, *flags).error
    assert not (tmp_path / "figure3.csv").exists()
