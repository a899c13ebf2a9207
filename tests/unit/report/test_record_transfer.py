"""Scores of encoders become records, floors among them; a stale score is refused."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.report import record_transfer
from xling.report.items import read_items
from xling.report.records import Cell, Examples, Setting, read_records

ROW = {"group": "", "domain": "Wiki-Wiki", "merges": "900", "anchors": "all", "share": "all", "softmax": "shared"}
FLOOR, JOINT = "en-fr.untrained-joint.s1", "untrained (joint)"


def planned(model: str, setting: str, seed: int) -> dict[str, Any]:
    return {"model": model, "setting": setting, "pair": "en-fr", "seed": seed, "config": {"ner": f"hash {model}"}}


def score(name: str, value: float, **changes: Any) -> dict[str, Any]:
    """Return what a job would have written: `value` in French, 90 in English."""
    found = {
        code: {"score": one, "interval": [one - 2.0, one + 2.0], "baseline": {"score": 1.5}, "measures": {}}
        for code, one in (("en", 90.0), ("fr", value))
    }
    about = {"model": name, "task": "ner", "config": f"hash {name}", "measure": "f1", "selected": [1, 0]}
    about |= {"dev": 95.0, "seed": 1, "source": "en", "untrained": False}
    sizes = {"train": 2000, "dev": 300, "test": {"en": 40, "fr": 50}}
    settings = {"epochs": 2, "examples_per_epoch": None}
    return {**about, "sizes": sizes, "settings": settings, "languages": found, **changes}


def job(name: str, points: int = 3) -> dict[str, Any]:
    """Return what a job of some grid points would have written: counts of two sentences, told apart by the point."""
    tests = [
        {"columns": ["right", "predicted", "gold"], "measures": {"f1": 1.0}}
        | {"items": {"right": f"{number} 300", "predicted": "5 300", "gold": "7 300"}}
        for number in range(points)
    ]
    found = [{"number": number, "test": {"en": test, "fr": test}} for number, test in enumerate(tests)]
    return {"config": f"hash {name}", "points": found}


def write(folder: Path, models: dict[str, str], *scores: dict[str, Any]) -> list[str]:
    """Write a plan of models (by name, with their settings) and one floor, and all scores; return the flags."""
    floor = planned(FLOOR, JOINT, 1)
    rows = [{"setting": label, **ROW} for label in dict.fromkeys(models.values())]
    own = [planned(name, setting, int(name[-1])) | {"floor": FLOOR} for name, setting in models.items()]
    (folder / "plan.json").write_text(json.dumps({"settings": rows, "models": own, "floors": [floor]}))
    for name, value in zip([FLOOR, *models], [score(FLOOR, 20.0), *scores], strict=True):
        path = folder / "scores" / name / "ner.json"
        (path.parent / "jobs").mkdir(parents=True)
        path.write_text(json.dumps(value))
        (path.parent / "jobs/ner.json").write_text(json.dumps(job(name)))
    flags = {"--plan": "plan.json", "--scores": "scores", "--cells": "figure3.csv", "--settings": "settings.csv"}
    flags |= {"--examples": "examples.csv", "--long": "long.csv", "--items": "items.npz"}
    return [str(x) for key, name in flags.items() for x in (key, folder / name)]


def test_every_file_of_two_settings(tmp_path: Path, call: Callable[..., Any]) -> None:
    models = {"a.s1": "Default", "b.s1": "Top shared"}
    flags = write(tmp_path, models, score("a.s1", 60.0), score("b.s1", 30.0))
    assert call(record_transfer.main, *flags).code == 0
    cells = read_records(tmp_path / "figure3.csv", Cell)
    default, floor = ({"setting": x, "task": "ner", "language": "fr", "seed": 1} for x in ("Default", JOINT))
    assert cells[0] == Cell(**default, score=60.0, low=58.0, high=62.0, chance=1.5, floor=JOINT)
    assert cells[-1] == Cell(**floor, score=20.0, low=18.0, high=22.0, chance=1.5)
    assert read_records(tmp_path / "settings.csv", Setting)[0] == Setting("Default", **ROW)
    assert read_records(tmp_path / "examples.csv", Examples) == [Examples("ner", "fr", 2000, 300, 50)]
    counts = read_items(tmp_path / "items.npz", "ner", "fr")
    assert list(counts) == [("Default", 1), ("Top shared", 1), (JOINT, 1)]
    selected = [[[n, 5, 7], [300, 300, 300]] for n in (1, 0)]  # best first
    assert counts["Default", 1].tolist() == selected
    with (tmp_path / "long.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    expected = [(name, code) for name in (*models, FLOOR) for code in ("en", "fr")]
    assert [(row["model"], row["language"]) for row in rows] == expected
    assert {(row["chance"], row["selected"]) for row in rows} == {("1.5", "1 0")}
    assert (rows[0]["score"], rows[0]["floor"], rows[0]["english_dev"]) == ("90.0", "90.0", "95.0")


@pytest.mark.parametrize(("per_epoch", "used"), [(None, 2000), (700, 1400), (1500, 2000)])
def test_the_examples_that_short_epochs_reached_are_counted(per_epoch: int | None, used: int) -> None:
    settings = {"epochs": 2, "examples_per_epoch": per_epoch}
    found = record_transfer.examples([(planned("a.s1", "Default", 1), "ner", score("a.s1", 60.0, settings=settings))])
    assert found == [Examples("ner", "fr", used, 300, 50)]


OWN, FLOORS = "a.s1/ner.json", f"{FLOOR}/ner.json"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (OWN, score("a.s1", 1.0, config="b"), "of another configuration: b, not hash a.s1 (delete it"),
        (OWN, score("a.s1", 1.0, model="b.s1"), "the score of b.s1 ner, not of a.s1 ner (run"),
        (OWN, score("a.s1", 1.0, task="pos"), "the score of a.s1 pos, not of a.s1 ner (run"),
        (FLOORS, [], "says nothing of the configuration"),
        (FLOORS, {"config": f"hash {FLOOR}"}, "not the score of a fine-tuned encoder"),
        ("a.s1/jobs/ner.json", job("a.s1", 1), "no counts at the points [1, 0] (run its job again)"),
    ],
)
def test_a_score_of_another_run_is_refused_in_one_line(
    name: str, value: Any, problem: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    flags = write(tmp_path, {"a.s1": "Default"}, score("a.s1", 60.0))
    (tmp_path / "scores" / name).write_text(json.dumps(value))
    assert f"{name}: {problem}" in refused(record_transfer.main, *flags, out=tmp_path / "figure3.csv")
