"""The one command that draws figures: what it writes, the same bytes every time, one line for bad input."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_study import DRAWN_MODELS, FEW, study

from xling.core.io import seal_of
from xling.report.figures.__main__ import FIGURES, RECORDED, main
from xling.report.paper_figures import main as paper_main
from xling.report.records import read_table, write_records


def commands(inputs: Path, out: Path) -> list[list[str]]:
    """Return every command that draws, on files of one folder."""
    models = [inputs / "models" / name for name in DRAWN_MODELS]
    from_study = ["--study", str(inputs / "study.json")]
    made = [
        *([name, "--records", str(inputs / f"{name}.csv")] for name in RECORDED),
        *([name, *from_study] for name in ("figure1", "figure2")),
        ["forest", "--claims", str(inputs / "claims.json")],
        ["kept", "--records", str(inputs / "figure3.csv")],
        ["updates", "--records", str(inputs / "figure3.csv"), "--study", str(inputs / "lengths.json")],
        ["training", *from_study, "--metrics", *(str(model / "metrics.jsonl") for model in models)],
        ["anchors", *from_study, "--audits", *(str(model / "anchors.json") for model in models[:-1])],
    ]
    assert {name for name, *_ in made} == set(FIGURES)
    return [[*command, "--out-dir", str(out)] for command in made]


@pytest.fixture(scope="module")
def figures(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        for line in commands(inputs, folder):
            patch.setattr(sys, "argv", ["figures", *line])
            main()
        patch.setattr(sys, "argv", ["paper", "--out-dir", str(folder / "paper")])
        paper_main()
    return folder


def names(folder: Path) -> list[str]:
    """Return all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_each_figure_has_three_pictures_and_its_numbers(figures: Path) -> None:
    whole = [*FIGURES, "emergence", "paper/figure3", "paper/figure7"]
    expected = [f"{name}.{suffix}" for name in whole for suffix in ("png", "pdf", "svg", "csv")]
    expected += [f"training/{model}.{suffix}" for model in DRAWN_MODELS for suffix in ("png", "pdf", "svg")]
    expected += [f"paper/table1.{suffix}" for suffix in ("csv", "md", "tex")]
    assert names(figures) == sorted(expected)
    for name, (means, _) in RECORDED.items():
        shown, table = means(FEW[name]), read_table(figures / f"{name}.csv")
        given = [[getattr(own, column) for column in table] for own in shown]
        assert table.to_numpy().tolist() == [["" if value is None else str(value) for value in row] for row in given]


def test_pictures_carry_their_fonts_and_say_nothing_of_when_and_where(figures: Path) -> None:
    for path in figures.rglob("*.svg"):
        assert not re.search("<dc:date>|<text", path.read_text(encoding="utf-8"))
    for path in figures.rglob("*.pdf"):
        assert not re.search(rb"/CreationDate|/ModDate|/Producer", path.read_bytes())
        assert b"/FontFile2" in path.read_bytes()


def test_another_process_with_other_settings_draws_the_same_bytes(inputs: Path, figures: Path, tmp_path: Path) -> None:
    rc, out = tmp_path / "matplotlibrc", tmp_path / "out"
    rc.write_text("font.size: 20\naxes.facecolor: black\n", encoding="utf-8")
    (line,) = [line for line in commands(inputs, out) if line[0] == "figure4b"]
    others = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(rc)}
    subprocess.run([sys.executable, "-m", "xling.report.figures", *line], check=True, env=os.environ | others)
    assert len(names(out)) == 4
    assert [name for name in names(out) if (out / name).read_bytes() != (figures / name).read_bytes()] == []


@pytest.mark.parametrize("name", RECORDED)
def test_nothing_to_draw_and_nonsense_are_one_line(name: str, tmp_path: Path, refused: Callable[..., str]) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out"
    write_records(path, type(FEW[name][0]), [])
    command = (main, name, "--records", path, "--out-dir", out)
    assert f"error: {path}: no records: nothing to draw\n" in refused(*command, out=out)
    seal_of(path).unlink()
    path.write_text("colour\nred\n", encoding="utf-8")
    assert f"{path}, line 1: unknown column 'colour'" in refused(*command, out=out)


TRAIN = '{"kind": "train", "update": 3, "losses": {"en": 2.0}, "lr": 1}'
SETTING = study()["records"][0]


@pytest.mark.parametrize(
    ("figure", "file", "content", "problem"),
    [
        ("anchors", "en-fr.x.s1/anchors.json", "{}", "no audit of anchors: 'running_tokens'"),
        ("anchors", "loose.json", "{}", "not in the folder of a model (a folder"),
        ("training", "none", "", "not in the folder of a model"),
        ("training", "en-fr.x.s1/none.jsonl", None, "none.jsonl: no such file"),
        ("training", "en-fr.x.s1/m.jsonl", "", "no validation in it: nothing to draw (has the model been trained?)"),
        ("training", "en-fr.x.s1/m.jsonl", TRAIN, "no validation in it"),
        ("training", "en-fr.x.s1/m.jsonl", "{", "line 1: not JSON"),
        ("training", "en-fr.x.s1/m.jsonl", "[1]", "line 1: expected an object whose 'kind' is train or validation"),
        ("training", "en-fr.x.s1/m.jsonl", TRAIN.replace("lr", "rl"), "line 1: lr: missing key"),
        ("training", "en-fr.x.s1/m.jsonl", TRAIN.replace('{"en": 2.0}', "3"), "line 1: losses: expected keys and values, found 3"),
        ("figure1", "study.json", json.dumps(study() | {"layers": "eight"}), "layers: expected a whole number, found the text 'eight'"),
        ("figure1", "study.json", json.dumps(study() | {"records": []}), "records: expected at least 1 item"),
        ("figure1", "study.json", json.dumps(study() | {"records": [SETTING | {"anchors": "some"}]}), "records[0].anchors: expected text like ^(all|none|extra)$, found 'some'"),
        ("figure1", "study.json", json.dumps(study() | {"records": [SETTING | {"colour": "red"}]}), "records[0].colour: unknown key"),
        ("figure1", "study.json", "[]", "(top level): expected keys and values, found a list of 0"),
    ],
)  # fmt: skip
def test_bad_inputs_of_the_other_figures_are_one_line(
    inputs: Path, tmp_path: Path, refused: Callable[..., str], figure: str, file: str, content: str | None, problem: str
) -> None:
    path, out = tmp_path / file, tmp_path / "out"
    path.parent.mkdir(exist_ok=True)
    if content is not None:
        path.write_text(content, encoding="utf-8")
    flags = {"anchors": ["--audits", path], "training": ["--metrics", path]}.get(figure, [])
    known = path if figure == "figure1" else inputs / "study.json"
    error = refused(main, figure, "--study", known, *flags, "--out-dir", out, out=out)
    assert (str(path) in error, problem in error) == (True, True), error
