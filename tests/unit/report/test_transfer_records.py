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

from xling.report import table1, transfer
from xling.report.record_files import read_records
from xling.report.records import Cell, Examples, Setting

ROW = {"group": "", "domain": "Wiki-Wiki", "merges": "900", "anchors": "all", "share": "all", "softmax": "shared"}


def planned(model: str, setting: str, seed: int, **more: Any) -> dict[str, Any]:
    return {
        "model": model,
        "setting": setting,
        "pair": "en-fr",
        "seed": seed,
        "config": {"ner": f"hash {model}"},
        **more,
    }


def score(model: str, value: float, reach: float = 2.0, **changes: Any) -> dict[str, Any]:
    """Return what a job would have written: `value` in French, 90 in English."""
    found = {
        code: {"score": one, "interval": [one - reach, one + reach], "baseline": {"score": 1.5}, "measures": {}}
        for code, one in (("en", 90.0), ("fr", value))
    }
    about = {"model": model, "task": "ner", "config": f"hash {model}", "measure": "f1", "selected": [1, 0]}
    about |= {"dev": 95.0, "seed": 1, "source": "en", "untrained": False}
    sizes = {"train": 2000, "dev": 300, "test": {"en": 40, "fr": 50}}
    return {**about, "sizes": sizes, "languages": found, **changes}


def write(folder: Path, models: list[dict[str, Any]], scores: dict[str, dict[str, Any]]) -> list[str]:
    """Write a plan with one floor and all scores, and return the command's flags."""
    floor = planned("en-fr.untrained-joint.s1", "untrained (joint)", 1)
    labels = dict.fromkeys(one["setting"] for one in models)
    rows = [{"setting": label, **ROW} for label in labels]
    plan = {"settings": rows, "models": [{**one, "floor": floor["model"]} for one in models], "floors": [floor]}
    (folder / "plan.json").write_text(json.dumps(plan))
    for name, value in {floor["model"]: score(floor["model"], 20.0), **scores}.items():
        path = folder / "scores" / name / "ner.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(value))
    flags = {"--plan": "plan.json", "--scores": "scores", "--cells": "figure3.csv", "--settings": "settings.csv"}
    flags |= {"--examples": "examples.csv", "--long": "long.csv"}
    return [str(x) for key, name in flags.items() for x in (key, folder / name)]


def test_one_seed_keeps_the_interval_of_its_items(tmp_path: Path, call: Callable[..., Any]) -> None:
    flags = write(tmp_path, [planned("a.s1", "Default", 1)], {"a.s1": score("a.s1", 60.0)})
    assert call(transfer.main, *flags).code == 0
    assert read_records(tmp_path / "figure3.csv", Cell) == [Cell("Default", "ner", "fr", 60.0, 20.0, 58.0, 62.0)]
    assert read_records(tmp_path / "settings.csv", Setting) == [Setting("Default", **ROW)]


def test_how_many_examples_a_task_had_is_said_once_for_a_language(tmp_path: Path, call: Callable[..., Any]) -> None:
    models = [planned("a.s1", "Default", 1), planned("b.s1", "Sep Emb", 1)]
    scores = {name: score(name, 60.0) for name in ("a.s1", "b.s1")}
    assert call(transfer.main, *write(tmp_path, models, scores)).code == 0
    assert read_records(tmp_path / "examples.csv", Examples) == [Examples("ner", "fr", 2000, 300, 50)]


def test_seeds_are_averaged_and_their_spread_widens_the_interval(tmp_path: Path, call: Callable[..., Any]) -> None:
    values = [50.0, 54.0, 61.0]
    models = [planned(f"a.s{i}", "Default", i) for i in range(3)]
    scores = {f"a.s{i}": score(f"a.s{i}", value) for i, value in enumerate(values)}
    assert call(transfer.main, *write(tmp_path, models, scores)).code == 0
    (cell,) = read_records(tmp_path / "figure3.csv", Cell)
    half = (stats.t.interval(0.95, 2, 0.0, stats.sem(values))[1] ** 2 + 2.0**2) ** 0.5
    assert cell.score == pytest.approx(statistics.mean(values))
    assert (cell.low, cell.high) == pytest.approx((cell.score - half, cell.score + half))
    assert cell.floor == 20.0


def test_seeds_that_agree_do_not_shrink_the_interval_of_the_items() -> None:
    rows = [transfer.Scored("a", "S", "en-fr", "ner", i, "fr", "f1", 50, 47, 52, 10, 0, 90, "0") for i in range(4)]
    assert transfer.cells(rows) == [Cell("S", "ner", "fr", 50.0, 10.0, 47.0, 52.0)]


def test_an_interval_stays_between_0_and_100() -> None:
    rows = [
        transfer.Scored("a", "S", "en-fr", "ner", i, "fr", "f1", value, value - 1, value + 1, 0, 0, 90, "0")
        for i, value in enumerate((1.0, 99.0))
    ]
    (cell,) = transfer.cells(rows)
    assert (cell.low, cell.high) == (0.0, 100.0)


def test_seeds_of_all_settings_tell_how_much_seeds_differ() -> None:
    """The pooled spread is the residual one of a one-way analysis of variance, here by least squares."""
    seeds = {"A": [50.0, 54.0], "B": [20.0, 21.0, 29.0], "C": [40.0]}
    rows = [
        transfer.Scored("m", setting, "en-fr", "ner", i, code, "f1", value, value, value, 0, 0, 90, "0")
        for setting, values in seeds.items()
        for i, value in enumerate(values)
        for code in ("en", "fr")
    ]
    which = [name for name, values in seeds.items() for _ in values]
    design = np.array([[float(name == one) for name in seeds] for one in which])
    scores = np.array([value for values in seeds.values() for value in values])
    _, (residual,), rank, _ = np.linalg.lstsq(design, scores)
    freedom = len(scores) - rank
    found = {cell.setting: cell for cell in transfer.cells(rows)}
    for name, values in seeds.items():
        half = stats.t.ppf(0.975, freedom) * (residual / freedom / len(values)) ** 0.5
        cell = found[name]
        assert (cell.low, cell.high) == pytest.approx((max(cell.score - half, 0.0), cell.score + half))


def test_tasks_and_languages_have_their_own_seeds() -> None:
    rows = [
        transfer.Scored("m", "A", f"en-{code}", task, i, code, "f1", value, value - 1, value + 1, 0, 0, 90, "0")
        for task, code, values in (("ner", "fr", [50.0, 60.0]), ("ner", "ru", [30.0]), ("pos", "fr", [70.0]))
        for i, value in enumerate(values)
    ]
    reaches = {(cell.task, cell.language): (cell.high or 0) - cell.score for cell in transfer.cells(rows)}
    assert reaches["ner", "ru"] == reaches["pos", "fr"] == 1.0
    assert reaches["ner", "fr"] > 20.0


def test_the_long_table_has_english_chance_and_the_floors(tmp_path: Path, call: Callable[..., Any]) -> None:
    models = [planned("a.s1", "Default", 1), planned("b.s1", "Sep Emb", 1)]
    scores = {"a.s1": score("a.s1", 60.0), "b.s1": score("b.s1", 30.0)}
    assert call(transfer.main, *write(tmp_path, models, scores)).code == 0
    with (tmp_path / "long.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert [(row["model"], row["language"]) for row in rows] == [
        (name, code) for name in ("a.s1", "b.s1", "en-fr.untrained-joint.s1") for code in ("en", "fr")
    ]
    assert {row["chance"] for row in rows} == {"1.5"}
    assert {row["selected"] for row in rows} == {"1 0"}
    english = next(row for row in rows if row["language"] == "en")
    assert (english["score"], english["floor"], english["english_dev"]) == ("90.0", "90.0", "95.0")


def test_table_1_is_made_from_what_was_collected(tmp_path: Path, call: Callable[..., Any]) -> None:
    models = [planned("a.s1", "Default", 1), planned("b.s1", "Top shared", 1)]
    scores = {"a.s1": score("a.s1", 60.0), "b.s1": score("b.s1", 30.0)}
    assert call(transfer.main, *write(tmp_path, models, scores)).code == 0
    flags = ["--cells", tmp_path / "figure3.csv", "--settings", tmp_path / "settings.csv", "--out-dir", tmp_path]
    assert call(table1.main, *flags).code == 0
    text = (tmp_path / "table1.md").read_text()
    assert "Top shared" in text
    assert "not run" in text  # the other tasks and languages


@pytest.mark.parametrize(
    ("stale", "problem"),
    [
        ({"config": "another"}, "of configuration 'another', not 'hash a.s1'"),
        ({"model": "b.s1"}, "the score of b.s1 ner, not of a.s1 ner"),
        ({"task": "pos"}, "the score of a.s1 pos, not of a.s1 ner"),
    ],
)
def test_a_score_of_another_run_is_refused_in_one_line(
    stale: dict[str, str], problem: str, tmp_path: Path, call: Callable[..., Any]
) -> None:
    flags = write(tmp_path, [planned("a.s1", "Default", 1)], {"a.s1": score("a.s1", 60.0) | stale})
    found = call(transfer.main, *flags)
    assert found.code == 2
    assert found.error.count("\n") == 1
    assert f"a.s1/ner.json: {problem} (run its job again)" in found.error
    assert not (tmp_path / "figure3.csv").exists()


def test_a_stale_floor_and_a_foreign_file_are_refused_too(tmp_path: Path, call: Callable[..., Any]) -> None:
    flags = write(tmp_path, [planned("a.s1", "Default", 1)], {"a.s1": score("a.s1", 60.0)})
    path = tmp_path / "scores/en-fr.untrained-joint.s1/ner.json"
    path.write_text(json.dumps(score("en-fr.untrained-joint.s1", 20.0, config="old")))
    assert "of configuration 'old'" in call(transfer.main, *flags).error
    path.write_text("[]")
    assert "not the score of a fine-tuned encoder" in call(transfer.main, *flags).error
    path.unlink()
    assert "no such file" in call(transfer.main, *flags).error
