"""Scores of encoders become records, floors among them; a stale score is refused."""

import csv
import json

import pytest

from xling.report import record_transfer
from xling.report.items import read_items
from xling.report.records import Cell, Examples, Setting, read_records

ROW = {"group": "", "domain": "Wiki-Wiki", "merges": "900", "anchors": "all", "share": "all", "softmax": "shared"}
FLOOR, JOINT = "en-fr.untrained-joint.s1", "untrained (joint)"
MODELS = {"a.s1": ("Default", 60.0), "b.s1": ("Top shared", 30.0), FLOOR: (JOINT, 20.0)}  # setting, score in French


def score(name, **changes):
    """Return what the jobs of an encoder would have written; its score in English is 90."""
    found = {
        code: {"score": one, "interval": [one - 2.0, one + 2.0], "baseline": {"score": 1.5}, "measures": {}}
        for code, one in (("en", 90.0), ("fr", MODELS[name][1]))
    }
    about = {"model": name, "task": "ner", "config": f"hash {name}", "measure": "f1", "selected": [1, 0]}
    about |= {"dev": 95.0, "seed": 1, "source": "en", "untrained": False}
    sizes = {"train": 2000, "dev": 300, "test": {"en": 40, "fr": 50}}
    settings = {"epochs": 2, "examples_per_epoch": None}
    return {**about, "sizes": sizes, "settings": settings, "languages": found, **changes}


def job(name, points=3):
    """Return what a job of some grid points would have written: counts of two sentences, told apart by the point."""
    columns = ["right", "predicted", "gold"]
    tests = [dict(zip(columns, (f"{n} 300", "5 300", "7 300"), strict=True)) for n in range(points)]
    found = [{"number": n, "test": {"fr": {"columns": columns, "items": own}}} for n, own in enumerate(tests)]
    return {"config": f"hash {name}", "points": found}


def write(folder):
    """Write a plan and all scores; return the flags."""
    planned = [
        {"model": name, "setting": setting, "pair": "en-fr", "seed": 1, "config": {"ner": f"hash {name}"}}
        | ({} if name == FLOOR else {"floor": FLOOR})
        for name, (setting, _) in MODELS.items()
    ]
    rows = [{"setting": one["setting"], **ROW} for one in planned[:-1]]
    (folder / "plan.json").write_text(json.dumps({"settings": rows, "models": planned[:-1], "floors": planned[-1:]}))
    for name in MODELS:
        path = folder / "scores" / name / "ner.json"
        (path.parent / "jobs").mkdir(parents=True)
        path.write_text(json.dumps(score(name)))
        (path.parent / "jobs/ner.json").write_text(json.dumps(job(name)))
    flags = {"--plan": "plan.json", "--scores": "scores", "--cells": "figure3.csv", "--settings": "settings.csv"}
    flags |= {"--examples": "examples.csv", "--long": "long.csv", "--items": "items.npz"}
    return [x for key, name in flags.items() for x in (key, folder / name)]


def test_every_file_of_two_settings(tmp_path, call):
    assert call(record_transfer.main, *write(tmp_path)).code == 0
    cells = read_records(tmp_path / "figure3.csv", Cell)
    default, floor = ({"setting": x, "task": "ner", "language": "fr", "seed": 1} for x in ("Default", JOINT))
    assert cells[0] == Cell(**default, score=60.0, low=58.0, high=62.0, chance=1.5, floor=JOINT)
    assert cells[-1] == Cell(**floor, score=20.0, low=18.0, high=22.0, chance=1.5)
    assert read_records(tmp_path / "settings.csv", Setting)[0] == Setting("Default", **ROW)
    assert read_records(tmp_path / "examples.csv", Examples) == [Examples("ner", "fr", 2000, 300, 50)]
    counts = read_items(tmp_path / "items.npz", "ner", "fr")
    assert list(counts) == [(setting, 1) for setting, _ in MODELS.values()]
    assert counts["Default", 1].tolist() == [[[n, 5, 7], [300, 300, 300]] for n in (1, 0)]  # best first
    with (tmp_path / "long.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert [(row["model"], row["language"]) for row in rows] == [(name, x) for name in MODELS for x in ("en", "fr")]
    english, french = (
        [rows[n][key] for key in ("score", "floor", "chance", "english_dev", "selected")] for n in (0, 1)
    )
    assert (english, french) == (["90.0", "90.0", "1.5", "95.0", "1 0"], ["60.0", "20.0", "1.5", "95.0", "1 0"])


@pytest.mark.parametrize(("per_epoch", "used"), [(None, 2000), (700, 1400), (1500, 2000)])
def test_the_examples_that_short_epochs_reached_are_counted(per_epoch, used):
    own = score("a.s1", settings={"epochs": 2, "examples_per_epoch": per_epoch})
    assert record_transfer.examples([({"pair": "en-fr"}, "ner", own)]) == [Examples("ner", "fr", used, 300, 50)]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("a.s1/ner.json", score("a.s1", config="b"), "of another configuration: b, not hash a.s1 (delete it"),
        ("a.s1/ner.json", score("a.s1", model="b.s1"), "the score of b.s1 ner, not of a.s1 ner (run"),
        (f"{FLOOR}/ner.json", [], "says nothing of the configuration"),
        (f"{FLOOR}/ner.json", {"config": f"hash {FLOOR}"}, "not the score of a fine-tuned encoder"),
        ("a.s1/jobs/ner.json", job("a.s1", 1), "no counts at the points [1, 0] (run its job again)"),
    ],
)
def test_a_score_of_another_run_is_refused_in_one_line(name, value, problem, tmp_path, refused):
    flags = write(tmp_path)
    (tmp_path / "scores" / name).write_text(json.dumps(value))
    assert f"{name}: {problem}" in refused(record_transfer.main, *flags, out=tmp_path / "figure3.csv")
