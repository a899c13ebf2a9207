"""The commands of the report: a reference run comes out again, the same bytes every time, one line for bad input."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from doc_blocks import texts_and_marks
from embedded import ROOT
from figure_files import REFERENCE, STUDY, write_model

from xling.core.io import seal_of
from xling.report.__main__ import commands
from xling.report.__main__ import main as report
from xling.report.figures.__main__ import FIGURES, RECORDED, main
from xling.report.records import KINDS, write_records

PICTURES = ("png", "pdf", "svg")
TABLES = [f"tables/{name}.{suffix}" for name in ("table1", "table1-compared") for suffix in ("csv", "md", "tex")]
MODELS = ("en-fr.default.s1", "fr.mono.s1")
SHORT = STUDY["records"][0] | {"updates": 1000}
LENGTHS = [SHORT, SHORT | {"name": "longer", "label": "Sep Emb", "updates": 4000}]  # so called to have scores


def from_study(folder):
    """Write the files of a few models and return the commands of the figures that are not drawn from records alone."""
    for name, study in (("study", STUDY), ("lengths", STUDY | {"records": LENGTHS})):
        (folder / f"{name}.json").write_text(json.dumps(study), encoding="utf-8")
    for model in MODELS:
        write_model(folder / "models", model)
    described, models = ["--study", folder / "study.json"], folder / "models"
    return [
        *([name, *described] for name in ("figure1", "figure2")),
        ["updates", "--records", REFERENCE / "records/figure3.csv", "--study", folder / "lengths.json"],
        ["training", *described, "--metrics", *(models / name / "metrics.jsonl" for name in MODELS)],
        ["anchors", *described, "--audits", models / "en-fr.default.s1/anchors.json"],
    ]


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    """Return a copy of a reference run with a report made anew, and with the figures of made-up trainings."""
    folder = tmp_path_factory.mktemp("rebuilt")
    old = shutil.ignore_patterns("*.html", "contextual*", "figures", "table1*", "claims.md")
    copy = Path(shutil.copytree(REFERENCE, folder / "study", ignore=old))
    lines = [["xling.report.figures", *line, "--out-dir", copy / "figures"] for line in from_study(folder)]
    with pytest.MonkeyPatch.context() as patch:
        for module, *arguments in (*lines, *commands(copy, [ROOT / "docs/choices.md"])):
            patch.setattr(sys, "argv", [module, *map(str, arguments)])
            command = import_module(module)
            (command if hasattr(command, "main") else import_module(f"{module}.__main__")).main()
    return copy


def names(folder):
    """Return all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_reference_run_comes_out_again_and_every_figure_has_its_files(rebuilt):
    expected = [f"{name}.{suffix}" for name in (*FIGURES, "emergence") for suffix in (*PICTURES, "csv")]
    expected += [f"training/{model}.svg" for model in MODELS]
    assert names(rebuilt / "figures") == sorted(expected)
    papers = [f"figure{n}.{suffix}" for n in (3, 7) for suffix in (*PICTURES, "csv")]
    assert names(rebuilt.parent / "paper") == sorted([*papers, "table1.csv", "table1.md", "table1.tex"])
    for name in (*TABLES, "claims.md", *(f"figures/{figure}.csv" for figure in (*KINDS, "cka_matrix", "figure2"))):
        assert (rebuilt / name).read_bytes() == (REFERENCE / name).read_bytes(), name
    for name in {*FIGURES} - {"training", "anchors", "updates"}:
        (said, drawn), again = (texts_and_marks(folder / f"figures/{name}.svg") for folder in (REFERENCE, rebuilt))
        assert (again[0], len(again[1]), len(drawn) > 1000) == (said, len(drawn), True), name
        assert np.allclose(again[1], drawn, rtol=0, atol=0.1), name  # the bytes differ with the processor's rounding
    assert "demo-full: what the study found" in (rebuilt / "report.html").read_text(encoding="utf-8")


def test_pictures_carry_their_fonts_and_say_nothing_of_when_and_where(rebuilt):
    for path in rebuilt.parent.rglob("*.svg"):
        assert not re.search("<dc:date>|<text", path.read_text(encoding="utf-8"))
    for path in rebuilt.parent.rglob("*.pdf"):
        assert not re.search(rb"/CreationDate|/ModDate|/Producer", path.read_bytes())
        assert b"/FontFile2" in path.read_bytes()


def test_another_process_with_other_settings_draws_the_same_bytes(rebuilt, tmp_path):
    rc, out = tmp_path / "matplotlibrc", tmp_path / "out"
    rc.write_text("font.size: 20\naxes.facecolor: black\n", encoding="utf-8")
    line = ["figure4b", "--records", str(rebuilt / "records/figure4b.csv"), "--out-dir", str(out)]
    others = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(rc)}
    subprocess.run([sys.executable, "-m", "xling.report.figures", *line], check=True, env=os.environ | others)
    assert names(out) == sorted(f"figure4b.{suffix}" for suffix in (*PICTURES, "csv"))
    assert [x for x in names(out) if (out / x).read_bytes() != (rebuilt / "figures" / x).read_bytes()] == []


def test_a_report_that_fails_changes_nothing(tmp_path, call):
    copy = Path(shutil.copytree(REFERENCE, tmp_path / "study", ignore=shutil.ignore_patterns("contextual*", "*.npz")))
    (copy / "tables/table1.md").write_text("old")
    (copy / "records/figure3.csv").write_text("colour\nred\n")
    found = call(report, copy)
    assert (found.code, found.error.count("\n")) == (2, 2)  # the command's own line, and ours
    assert "study: xling.report.table1 failed; nothing was changed" in found.error
    assert (copy / "tables/table1.md").read_text() == "old"


@pytest.mark.parametrize("name", sorted({*RECORDED} - {"updates"}))
def test_nothing_to_draw_and_nonsense_are_one_line(name, tmp_path, refused):
    path, out = tmp_path / "in.csv", tmp_path / "out"
    write_records(path, RECORDED[name], [])
    command = (main, name, "--records", path, "--out-dir", out)
    assert f"error: {path}: no records: nothing to draw\n" in refused(*command, out=out)
    seal_of(path).unlink()
    path.write_text("colour\nred\n", encoding="utf-8")
    assert f"{path}, line 1: unknown column 'colour'" in refused(*command, out=out)


TRAIN = '{"kind": "train", "update": 3, "losses": {"en": 2.0}, "lr": 1}'
FILE = "en-fr.x.s1/m.jsonl"


@pytest.mark.parametrize(
    ("figure", "file", "content", "problem"),
    [
        ("anchors", "en-fr.x.s1/anchors.json", "{}", "no audit of anchors: 'running_tokens'"),
        ("anchors", "loose.json", "{}", "not in the folder of a model (a folder"),
        ("training", FILE, None, "m.jsonl: no such file"),
        ("training", FILE, TRAIN, "no validation in it: nothing to draw (has the model been trained?)"),
        ("training", FILE, "{", "line 1: not JSON"),
        ("training", FILE, "[1]", "line 1: expected an object whose 'kind' is train or validation"),
        ("training", FILE, TRAIN.replace("lr", "rl"), "line 1: lr: missing key"),
        ("training", FILE, TRAIN.replace('{"en": 2.0}', "3"), "line 1: losses: expected keys and values, found 3"),
        ("figure1", "s.json", STUDY | {"layers": "eight"}, "layers: expected a whole number, found the text 'eight'"),
        ("figure1", "s.json", STUDY | {"records": []}, "records: expected at least 1 item"),
        ("figure1", "s.json", STUDY | {"records": [SHORT | {"anchors": "some"}]}, "records[0].anchors: expected text like ^(all|none|extra)$, found 'some'"),
        ("figure1", "s.json", STUDY | {"records": [SHORT | {"colour": "red"}]}, "records[0].colour: unknown key"),
    ],
)  # fmt: skip
def test_bad_inputs_of_the_other_figures_are_one_line(tmp_path, refused, figure, file, content, problem):
    path, out, known = tmp_path / file, tmp_path / "out", tmp_path / "known.json"
    path.parent.mkdir(exist_ok=True)
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    known.write_text(json.dumps(STUDY), encoding="utf-8")
    flags = {"anchors": ["--audits", path], "training": ["--metrics", path]}.get(figure, [])
    error = refused(main, figure, "--study", path if figure == "figure1" else known, *flags, "--out-dir", out, out=out)
    assert (str(path) in error, problem in error) == (True, True), error
