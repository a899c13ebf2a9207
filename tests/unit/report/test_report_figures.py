"""Figures: the same bytes every time, readable colours, every interval and gap shown; and their commands."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb

from xling.report import published, style
from xling.report.figure3 import figure3
from xling.report.figure3 import main as figure3_main
from xling.report.figure7 import figure7
from xling.report.figure7 import main as figure7_main
from xling.report.paper_figures import draw_paper
from xling.report.record_files import read_records, write_records
from xling.report.records import Cell, CkaScore
from xling.report.table1 import main as table1_main

# Machado et al. 2009, severity 1: what red-blind and green-blind readers see, in linear light.
RED_BLIND = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
GREEN_BLIND = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
SAME = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def run_module(module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"xling.report.{module}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def distance(left: str, right: str, eye: tuple[tuple[float, ...], ...]) -> float:
    """Return how far apart two colours are for an eye, as a share of black to white."""
    seen = []
    for colour in (left, right):
        linear = [((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in to_rgb(colour)]
        mixed = [sum(weight * part for weight, part in zip(row, linear, strict=True)) for row in eye]
        seen.append([max(part, 0) ** (1 / 2.4) for part in mixed])
    return sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5 / 3**0.5


@pytest.mark.parametrize("eye", [SAME, RED_BLIND, GREEN_BLIND], ids=["common", "red-blind", "green-blind"])
@pytest.mark.parametrize("colours", [style.LANGUAGE_COLOURS, style.GROUP_COLOURS, style.MODEL_COLOURS])
def test_colours_of_one_figure_can_be_told_apart(colours: dict[str, str], eye: tuple[tuple[float, ...], ...]) -> None:
    assert min(distance(a, b, eye) for a, b in itertools.combinations(sorted({*colours.values()}), 2)) > 0.1


def test_the_same_role_has_the_same_colour_everywhere() -> None:
    colours = style.MODEL_COLOURS
    assert colours["bilingual"] == colours["biMLM"]
    assert colours["monolingual"] == colours["MLM align"] == colours["BERT"]
    assert colours["random"] == colours["untrained"]


@pytest.mark.parametrize(
    ("colour", "ink"), [((1, 1, 1), "#000000"), ((0, 0, 0), "#ffffff"), ((0.03, 0.11, 0.35), "#ffffff")]
)
def test_ink_stands_out(colour: tuple[float, float, float], ink: str) -> None:
    assert style.ink_on(colour) == ink


def test_intervals_are_drawn_to_scale() -> None:
    cells = [Cell("Default", "ner", "fr", 50.0, 10.0, 47.0, 54.0), Cell("Default", "ner", "ru", 40.0, 10.0)]
    with style.styled():
        with_bar, without = figure3(cells, published.settings()[:1]).axes
    (bar,) = with_bar.containers[-1][2]
    assert bar.get_segments()[0][:, 0].tolist() == [47.0, 54.0]
    assert len(without.containers) == 2


def test_the_floor_divides_a_bar() -> None:
    cells = [Cell("Default", "ner", "fr", 50.0, 10.0), Cell("Sep Emb", "ner", "fr", 7.0, 10.0)]
    with style.styled():
        (axes,) = figure3(cells, published.settings()).axes
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 50), (10, 40), (0, 7), (10, 0)]


def test_what_was_not_run_is_marked() -> None:
    cells = [Cell("Default", "ner", "fr", 50.0, 10.0)]
    some = [score for score in published.figure7() if score.pair != "en-de" or score.model != "bilingual"]
    with style.styled():
        bars, heat = figure3(cells, published.settings()).axes[0], figure7(some).axes[0]
    assert [text.get_text() for text in bars.texts].count("not run") == 9
    assert [text.get_text() for text in heat.texts].count("not run") == 10


def test_an_average_needs_every_layer() -> None:
    some = [score for score in published.figure7() if score.layer not in {"AVER", "L3"} or score.pair != "en-ru"]
    with style.styled():
        heat = figure7(some).axes[0]
    assert [text.get_text() for text in heat.texts].count("not run") == 6


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    draw_paper(folder)
    return folder


def test_another_process_with_other_matplotlib_settings_draws_the_same_bytes(paper: Path, tmp_path: Path) -> None:
    rc, out = tmp_path / "matplotlibrc", tmp_path / "out"
    rc.write_text("font.size: 20\naxes.facecolor: black\n", encoding="utf-8")
    done = run_module("paper_figures", "--out-dir", str(out), PYTHONHASHSEED="5", MATPLOTLIBRC=str(rc))
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in paper.iterdir())
    assert names == sorted(path.name for path in out.iterdir())
    assert len(names) == 14
    assert [name for name in names if (paper / name).read_bytes() != (out / name).read_bytes()] == []


@pytest.mark.parametrize("name", ["figure3", "figure7"])
def test_figures_carry_their_fonts_and_no_dates(paper: Path, name: str) -> None:
    pdf, svg = (paper / f"{name}.pdf").read_bytes(), (paper / f"{name}.svg").read_text(encoding="utf-8")
    assert b"/FontFile2" in pdf
    assert not re.search(rb"/CreationDate|/ModDate|/Producer", pdf)
    assert "<text" not in svg
    assert "<dc:date>" not in svg
    assert (paper / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_numbers_of_a_figure_lie_beside_it(paper: Path) -> None:
    assert tuple(read_records(paper / "figure3.csv", Cell)) == published.table1().cells
    assert tuple(read_records(paper / "figure7.csv", CkaScore)) == published.figure7()


def test_the_commands_draw_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_records(tmp_path / "figure3.csv", Cell, published.table1().cells[:5])
    write_records(tmp_path / "figure7.csv", CkaScore, published.figure7()[:45])
    out = str(tmp_path / "out")
    for main, flag, name in (
        (table1_main, "--cells", "figure3.csv"),
        (figure3_main, "--cells", "figure3.csv"),
        (figure7_main, "--records", "figure7.csv"),
    ):
        monkeypatch.setattr(sys, "argv", ["command", flag, str(tmp_path / name), "--out-dir", out])
        main()
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {
        *(f"{name}.{suffix}" for name in ("table1", "table1-compared") for suffix in ("csv", "md", "tex")),
        *(f"{name}.{suffix}" for name in ("figure3", "figure7") for suffix in ("png", "pdf", "svg", "csv")),
    }


@pytest.mark.parametrize(("module", "flag", "kind"), [("figure3", "--cells", Cell), ("figure7", "--records", CkaScore)])
def test_nothing_to_draw_is_one_line(module: str, flag: str, kind: type[Cell | CkaScore], tmp_path: Path) -> None:
    write_records(tmp_path / "empty.csv", kind, [])
    done = run_module(module, flag, str(tmp_path / "empty.csv"), "--out-dir", str(tmp_path / "out"))
    assert done.returncode == 2
    assert re.fullmatch(r"error: \S+empty\.csv: no records: nothing to draw\n", done.stderr)
    assert not (tmp_path / "out").exists()
