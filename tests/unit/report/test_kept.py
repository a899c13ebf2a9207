"""The kept form of a study: few files that hold all that its jobs wrote, and its report again, byte by byte."""

import json
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from xling.core.io import write_json
from xling.report.__main__ import commands
from xling.report.kept import pack

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "results/reference/demo-full"
DRAWING = ("xling.report.figures", "xling.report.paper_figures")  # seconds each, and tested by themselves
RNG = np.random.default_rng(3)
GOLD = [3, 0, 300, 1]


def column(values: Any) -> str:
    return " ".join(map(str, values))


def found() -> dict[str, Any]:
    """Return a score of four sentences."""
    items = {"right": column(RNG.integers(0, 4, 4)), "gold": column(GOLD)}
    return {"columns": list(items), "items": items, "measures": {"f1": 61.25}}


def files() -> dict[str, Any]:
    """Return what the jobs of a small study wrote, by path."""
    job = {"trainings": [{"layer": layer, "scores": {"en": found(), "fr": found()}} for layer in (0, 1)]}
    return {
        "models/en.mono.s1/run.json": {"model": "en.mono.s1", "seed": 1},
        "models/en.mono.s1/provenance.json": {"commit": "abc", "seconds": 2.5},
        "transfer/en-fr.untrained-joint.s1/run.json": {"model": "en-fr.untrained-joint.s1", "seed": 1},
        "transfer/en-fr.untrained-joint.s1/ner.json": {"model": "en-fr.untrained-joint.s1", "task": "ner", "dev": 0.1},
        "transfer/en-fr.default.s1/ner.json": {"model": "en-fr.default.s1", "task": "ner", "dev": 57.68988644029589},
        "transfer/en-fr.default.s1/pos.json": {"model": "en-fr.default.s1", "task": "pos", "what": "Größe"},
        "contextual/en.mono.s1.json": {"model": "en.mono.s1", **job},
        "contextual/en.untrained.s1.json": {"model": "en.untrained.s1", "trainings": []},
    }


def test_everything_is_in_a_few_files(tmp_path: Path) -> None:
    study, kept, made = tmp_path / "study", tmp_path / "kept", files()
    for name, value in made.items():
        write_json(study / name, value)
    write_json(study / "transfer/en-fr.default.s1/jobs/ner.json", {"large": True})  # no part of it
    pack(study, kept)
    names = {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()}
    assert names == {"models.jsonl", "transfer.jsonl", "contextual.jsonl", "contextual/en.mono.s1.npz"}
    texts = [(kept / f"{name}.jsonl").read_text(encoding="utf-8") for name in ("models", "transfer", "contextual")]
    models, scores, jobs = ([json.loads(line) for line in text.splitlines()] for text in texts)
    run, provenance, untrained, floor, default, pos, job, none = made.values()
    trained = {"model": "en.mono.s1", "run": run, "provenance": provenance}
    assert models == [trained, {"model": "en-fr.untrained-joint.s1", "run": untrained}]
    assert scores == [default, pos, floor]
    with np.load(kept / "contextual/en.mono.s1.npz") as counts:
        assert counts["counts"].dtype == np.uint16
        columns = [column(own) for own in np.split(counts["counts"], counts["ends"][:-1])]
    assert len(columns) == 1 + 4  # what was to be found is the same in all four
    for score in (score for training in jobs[0]["trainings"] for score in training["scores"].values()):
        score["items"] = {name: columns[number] for name, number in score["items"].items()}
    assert jobs == [job, none]


def test_tables_verdicts_and_page_of_a_reference_run_come_out_again(tmp_path: Path, call: Callable[..., Any]) -> None:
    copy = Path(shutil.copytree(REFERENCE, tmp_path / "study", ignore=shutil.ignore_patterns("*.html", "contextual*")))
    made = [f"tables/{name}.{suffix}" for name in ("table1", "table1-compared") for suffix in ("csv", "md", "tex")]
    for name in made:
        (copy / name).write_text("old")
    (tmp_path / "paper").mkdir()
    figures = []
    for module, *arguments in commands(copy, [ROOT / "docs/choices.md"]):
        if module in DRAWING:
            figures.append(arguments[0])
            continue
        command = import_module(module)
        made_by = command.main if hasattr(command, "main") else import_module(f"{module}.__main__").main
        assert call(made_by, *arguments).code == 0
    assert figures[:-1] == [
        "forest",
        *(f"figure{n}" for n in ("3", "4a", "4b", "5", "6", "7", "8")),
        "cka_matrix",
        "kept",
    ]
    for name in (*made, "claims.md"):
        assert (copy / name).read_bytes() == (REFERENCE / name).read_bytes()
    assert "demo-full: what the study found" in (copy / "report.html").read_text(encoding="utf-8")
