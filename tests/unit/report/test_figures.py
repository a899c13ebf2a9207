"""Figures: every number where it belongs, intervals to scale, gaps named, readable colours; and their one command."""

import itertools
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_curves import LANGUAGES, contextual, sentences, words_4a, words_4b
from made_up_records import matrices, study, write_model
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from report_files import verdicts

from docs.verdicts import noisy_paper
from xling.report import published, style
from xling.report.figures.__main__ import FIGURES, main
from xling.report.figures.bars import figure3, figure4a
from xling.report.figures.forest import forest, marks
from xling.report.figures.heat_maps import annotation, cka_matrix, figure7
from xling.report.figures.labels import Label, label_ends, spread
from xling.report.figures.layers import SERIES, contextual_figure, encoder_curves, figure4b, figure6, read_comparison
from xling.report.means import CellMean, ContextualMean, cka_means
from xling.report.paper_figures import main as paper_main
from xling.report.records import (
    ContextualScore,
    LayerPair,
    Results,
    SentenceScore,
    WordScore,
    read_records,
    write_records,
)

FIGURE7 = """\
0.76 0.75 0.52 0.61 0.65 0.46 0.66 0.64 0.46 0.56 0.56 0.42 0.56 0.6 0.44
0.75 0.77 0.6 0.74 0.71 0.55 0.76 0.7 0.54 0.67 0.65 0.5 0.65 0.67 0.51
0.74 0.74 0.58 0.71 0.7 0.52 0.72 0.69 0.52 0.64 0.63 0.47 0.61 0.65 0.49
0.75 0.71 0.58 0.73 0.7 0.53 0.73 0.69 0.54 0.65 0.64 0.48 0.59 0.64 0.5
0.73 0.66 0.6 0.73 0.64 0.55 0.73 0.63 0.56 0.65 0.61 0.5 0.58 0.6 0.52
0.69 0.58 0.52 0.72 0.59 0.48 0.74 0.6 0.49 0.64 0.56 0.44 0.59 0.56 0.46
0.64 0.48 0.44 0.71 0.5 0.41 0.7 0.52 0.42 0.63 0.5 0.37 0.57 0.51 0.39
0.48 0.24 0.32 0.67 0.34 0.31 0.6 0.39 0.31 0.6 0.34 0.29 0.5 0.37 0.3
0.55 0.4 0.3 0.62 0.4 0.28 0.64 0.43 0.28 0.5 0.39 0.26 0.51 0.4 0.27
0.68 0.59 0.5 0.69 0.58 0.46 0.7 0.59 0.46 0.62 0.54 0.41 0.57 0.56 0.43"""
figure5, figure8 = (partial(contextual_figure, series=series) for series in SERIES.values())
WORDS = [replace(score, low=score.p1 - 2, high=score.p1 + 2, pairs=1211) for score in words_4a()]
WORDS_BY_LAYER = [replace(score, low=score.p1 - 2, high=score.p1 + 2) for score in words_4b()]
TRANSFER, BILINGUAL = contextual("MLM align", "biMLM"), contextual("biMLM align", "biMLM")
SENTENCES = [
    replace(s, p1=p1, low=p1 - 3, high=p1 + 3)
    for s in sentences()
    for p1 in [s.p1 - 3 * LANGUAGES.index(s.language) - (s.direction == "x-en")]
]
SIMILARITIES = cka_means(published.figure7())
SHOWN: dict[str, Any] = {
    "figure3": published.table1().means[:5],
    "figure4a": WORDS[:6],
    "figure4b": WORDS_BY_LAYER[:19],
    "figure5": TRANSFER[:12],
    "figure6": SENTENCES[:12],
    "figure7": SIMILARITIES[:45],
    "figure8": BILINGUAL[:12],
    "cka_matrix": matrices(2)[:27],
}


def contextual_records(shown: ContextualMean) -> Iterator[ContextualScore]:
    """Yield the rows of one seed that a point of Figure 5 or 8 is the mean of, its floor's last."""
    own = {key: value for key, value in asdict(shown).items() if key != "floor"}
    yield ContextualScore(encoder="trained", seed=1, **own)
    yield ContextualScore(encoder="untrained", seed=1, **own | {"score": shown.floor})


RECORDS: dict[str, Any] = SHOWN | {
    "figure3": published.table1().cells[:5],
    "figure4a": [WordScore(**asdict(shown), seed=1) for shown in SHOWN["figure4a"]],
    "figure4b": [WordScore(**asdict(shown), seed=1) for shown in SHOWN["figure4b"]],
    "figure5": [record for shown in SHOWN["figure5"] for record in contextual_records(shown)],
    "figure6": [SentenceScore(**asdict(shown), seed=1) for shown in SHOWN["figure6"]],
    "figure7": published.figure7()[:45],
    "figure8": [record for shown in SHOWN["figure8"] for record in contextual_records(shown)],
}
MODELS = ("en-fr.default.s1", "en-fr.sep-emb.s1", "en-en2.sep-emb.s1", "fr.mono.s1")
CODE = "import json, sys\nfrom test_figures import draw\ndraw(json.loads(sys.argv[1]))"
# Machado et al. 2009, severity 1: what red-blind and green-blind readers see, in linear light.
RED_BLIND = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
GREEN_BLIND = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
SAME = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def drawn(figure: Callable[..., Any], *arguments: Any) -> list[Axes]:
    """Return the panels of a figure."""
    with style.styled():
        return list(figure(*arguments).axes)


def lines(axes: Axes, colour: str) -> list[list[float]]:
    """Return the heights of the lines of one colour that have more than one point."""
    found = [line for line in axes.get_lines() if line.get_color() == colour and len(line.get_xdata()) > 1]
    return [list(line.get_ydata()) for line in found]


def texts(axes: Axes) -> list[str]:
    """Return everything that is written in a panel and above it."""
    return [text.get_text() for text in axes.texts] + [axes.get_title("left"), axes.get_title("right")]


def linear(colour: str) -> list[float]:
    return [((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in to_rgb(colour)]


def distance(left: str, right: str, eye: tuple[tuple[float, ...], ...]) -> float:
    """Return how far apart two colours are for an eye, as a share of black to white."""
    seen = []
    for colour in (left, right):
        mixed = [sum(weight * part for weight, part in zip(row, linear(colour), strict=True)) for row in eye]
        seen.append([max(part, 0) ** (1 / 2.4) for part in mixed])
    return math.dist(*seen) / 3**0.5


@pytest.mark.parametrize("eye", [SAME, RED_BLIND, GREEN_BLIND], ids=["common", "red-blind", "green-blind"])
@pytest.mark.parametrize("colours", [style.LANGUAGE_COLOURS, style.GROUP_COLOURS, style.MODEL_COLOURS])
def test_colours_of_one_figure_can_be_told_apart(colours: dict[str, str], eye: tuple[tuple[float, ...], ...]) -> None:
    assert min(distance(a, b, eye) for a, b in itertools.combinations(sorted({*colours.values()}), 2)) > 0.1


def test_ink_stands_out() -> None:
    for colour, ink in (((1, 1, 1), "#000000"), ((0, 0, 0), "#ffffff"), ((0.03, 0.11, 0.35), "#ffffff")):
        assert style.ink_on(colour) == ink
    for name in (style.ORANGE, style.SKY, "#F0E442", style.LIGHT, style.BLACK):
        luminance = sum(
            weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(style.ink(name)), strict=True)
        )
        assert 1.05 / (luminance + 0.05) >= 4.45
    assert style.ink(style.BLUE) == style.BLUE.lower()  # dark enough: stays as it is


def test_languages_of_other_studies_have_looks_of_their_own() -> None:
    looks = [style.language_look(code, ["it", "fr", "es"]) for code in ("it", "es", "fr")]
    assert len(set(looks)) == 3
    assert looks[2] == (style.BLUE, "o")


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12))
def test_labels_stay_apart_in_order_and_inside(wanted: list[float]) -> None:
    placed = spread(wanted, 0.5, 0.0, 10.0)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert all(placed[b] - placed[a] >= 0.5 - 1e-9 for a, b in itertools.pairwise(order))
    assert -1e-9 <= min(placed) <= max(placed) <= 10 + 1e-9


def test_labels_stand_as_near_to_their_lines_as_they_can() -> None:
    for wanted, high, placed in (
        ([0.0, 1.0, 2.0], 10.0, [0.0, 1.0, 2.0]),
        ([5.0, 5.0, 9.0], 10.0, [4.5, 5.5, 9.0]),  # those that touch share the shift
        ([1.0, 1.0, 1.0, 1.0], 2.0, [-1.0, 0.0, 1.0, 2.0]),  # too many: they keep their distance from the top
    ):
        assert spread(wanted, 1.0, 0.0, high) == placed
    with style.styled():
        axes = style.new_figure().subplots()
        axes.set_ylim(0, 10)
        label_ends(axes, [Label("a long label", 3.0, style.BLUE)], (2.0, 1.0), (0, 8))
    low, high = axes.get_xlim()
    assert low < 0 < 8 < axes.texts[0].get_position()[0] < high
    assert (high - 8) / (high - low) > 0.25  # the label is 0.6 of the panel's 2 inches


def test_figure3_divides_bars_at_the_floor_and_draws_intervals_to_scale() -> None:
    cells = [CellMean("Default", "ner", "fr", 50.0, 10.0, 47.0, 54.0), CellMean("Default", "ner", "ru", 40.0, 10.0)]
    with_bar, without = drawn(figure3, [*cells, CellMean("Sep Emb", "ner", "fr", 7.0, 10.0)], published.settings())
    bars = [(bar.get_x(), bar.get_width()) for bar in with_bar.patches]
    assert bars == [(0, 50), (10, 40), (0, 7), (10, 0)]
    (bar,) = next(found for found in with_bar.containers if hasattr(found, "has_xerr"))[2]
    assert bar.get_segments()[0][:, 0].tolist() == [47.0, 54.0]
    assert not any(hasattr(found, "has_xerr") for found in without.containers)
    assert texts(with_bar).count("not run") == 8


def test_figure3_shows_the_papers_numbers() -> None:
    cells = published.table1().means
    panels = drawn(figure3, cells, published.settings())
    places = itertools.product(("xnli", "ner", "parsing"), ("fr", "ru", "zh"))
    for axes, place in zip(panels, places, strict=True):
        expected = [f"{cell.score:.1f}" for cell in cells if (cell.task, cell.language) == place]
        assert [text.get_text() for text in axes.texts] == expected
        assert [f"{bar.get_x() + bar.get_width():.1f}" for bar in axes.patches][::2] == expected


def test_figure7_shows_the_papers_numbers_and_what_was_not_run() -> None:
    axes = drawn(figure7, SIMILARITIES)[0]
    shown = {(math.floor(text.get_position()[1]), text.get_position()[0]): text.get_text() for text in axes.texts}
    rows = [[shown[key] for key in sorted(shown) if key[0] == row] for row in range(10)]
    assert [" ".join(row) for row in rows] == FIGURE7.split("\n")
    assert [label.get_text() for label in axes.get_yticklabels()] == [*(f"L{n}" for n in range(9)), "AVER"]
    assert [annotation(value) for value in (0.604, 0.056, 1.0, 0.0)] == ["0.6", "0.06", "1", "0"]
    some = [x for x in SIMILARITIES if x.pair != "en-de" or x.model != "bilingual"]
    assert texts(drawn(figure7, some)[0]).count("not run") == 10
    layers = [x for x in SIMILARITIES if x.layer not in {"AVER", "L3"} or x.pair != "en-ru"]
    assert texts(drawn(figure7, layers)[0]).count("not run") == 6  # an average needs every layer


def test_figure4a_has_a_bar_for_everything_measured() -> None:
    (axes,) = drawn(figure4a, WORDS)
    assert [bar.get_height() for bar in axes.patches] == [score.p1 for score in WORDS]
    assert axes.get_xticklabels()[0].get_text() == "en-fr\n1,211 pairs"
    assert axes.collections  # chance
    scores = [score for score in WORDS if score.language == "fr" and score.vectors != "fastText"]
    (axes,) = drawn(figure4a, scores)
    ends = {tuple(bar[2][0].get_segments()[0][:, 1]) for bar in axes.containers if hasattr(bar, "has_yerr")}
    assert ends == {(scores[0].low, scores[0].high), (scores[1].low, scores[1].high)}
    assert texts(axes).count("not run") == 1


def test_figure4b_has_a_panel_per_language_with_both_baselines() -> None:
    panels = drawn(figure4b, WORDS_BY_LAYER)
    assert [panel.get_title("left") for panel in panels] == ["en-fr", "en-de", "en-ru", "en-zh"]
    for panel, language in zip(panels, ("fr", "de", "ru", "zh"), strict=True):
        scores = [score for score in WORDS_BY_LAYER if score.language == language]
        bert = [score.p1 for score in scores if score.vectors == "BERT"]
        assert lines(panel, style.MODEL_COLOURS["BERT"]) == [bert]
        assert lines(panel, style.MODEL_COLOURS["fastText"]) == [[scores[0].p1] * 2]
        (band,) = [found for found in panel.collections if isinstance(found, PolyCollection)]
        heights = band.get_paths()[0].vertices[:, 1]  # the interval of a level is a band
        assert (heights.min(), heights.max()) == pytest.approx((scores[0].low, scores[0].high))
        assert {"BERT", "fastText", "untrained", "chance"} <= set(texts(panel))
    assert len({panel.get_ylim() for panel in panels}) == 1
    (panel,) = drawn(figure4b, [s for s in WORDS_BY_LAYER if s.language == "ru" and s.vectors == "BERT"])
    assert "not run: fastText, untrained" in texts(panel)


def test_figures_5_and_8_draw_series_and_floors_by_task_and_pair() -> None:
    panels = drawn(figure5, TRANSFER)
    assert [panel.get_title("left") for panel in panels] == ["en-fr", "en-ru", "en-zh"] * 2
    assert (panels[0].get_ylabel(), panels[3].get_ylabel()) == ("NER (F1)", "Parsing (LAS)")
    here = [s.score for s in TRANSFER if (s.task, s.language, s.series) == ("parsing", "ru", "biMLM")]
    assert lines(panels[4], style.BLUE) == [here]
    assert lines(panels[4], style.GREY) == [[5.0] * 9]
    apart = drawn(figure5, [replace(s, floor=s.floor + 2 * (s.series == "biMLM")) for s in TRANSFER])
    assert lines(apart[0], style.GREY) == []
    assert [7.0] * 9 in lines(apart[0], style.BLUE)
    assert [5.0] * 9 in lines(apart[0], style.VERMILION)
    eight = drawn(figure8, BILINGUAL)
    assert {"biMLM", "biMLM align", "untrained"} <= set(texts(eight[0]))


def test_absent_series_and_panels_are_named() -> None:
    scores = [s for s in TRANSFER if (s.task, s.language) != ("ner", "ru")]
    panels = drawn(figure5, [s for s in scores if s.series == "MLM align" or s.language != "zh"])
    assert "not run" in texts(panels[1])
    assert "not run: biMLM" in texts(panels[2])
    assert "not run" not in "".join(texts(panels[0]))
    some = [s for s in SENTENCES if s.model == "monolingual" and (s.language, s.direction) != ("ru", "x-en")]
    first, second = drawn(figure6, some)
    assert "not run: untrained" in texts(first)
    assert "not run: en-ru monolingual, untrained" in texts(second)


def test_figure6_has_a_panel_per_direction_and_laser_only_on_request() -> None:
    panels = drawn(figure6, [replace(s, low=None, high=None) if s.layer else s for s in SENTENCES])
    mono = [s.p1 for s in SENTENCES if (s.language, s.model, s.direction) == ("de", "monolingual", "x-en")]
    assert len(panels) == 2
    assert mono in lines(panels[1], style.ORANGE)
    assert {"en-fr", "en-de", "en-ru", "en-zh", "untrained", "chance"} <= set(texts(panels[0]))
    (bar,) = panels[0].containers[0][2]
    first = SENTENCES[0]
    assert [segment[:, 1].tolist() for segment in bar.get_segments()] == [pytest.approx([first.low, first.high])]
    assert not any("LASER" in text for panel in panels for text in texts(panel))
    assert all("LASER: over 95" in texts(panel) for panel in drawn(figure6, SENTENCES, True))


@pytest.mark.parametrize("layers", [1, 12, 24])
def test_any_number_of_layers_can_be_drawn(layers: int) -> None:
    for figure, records in ((figure5, TRANSFER), (figure6, SENTENCES)):
        first = [record for record in records if record.layer == 0]
        panels = drawn(figure, [replace(record, layer=layer) for record in first for layer in range(layers + 1)])
        ticks = [tick for tick in panels[0].get_xticks() if tick <= layers]
        assert ticks[0] == 0
        assert 2 <= len(ticks) <= 13


def test_matrices_have_the_first_encoder_across_and_the_second_upwards() -> None:
    records = [LayerPair("en-fr", "bilingual", 0, 0, 0.1), LayerPair("en-fr", "bilingual", 1, 0, 0.9)]
    panels = drawn(cka_matrix, records)
    colours = panels[0].images[0].get_array()
    assert colours[0][0].sum() > colours[0][1].sum()  # a higher value is darker; row 0 is the lowest
    assert panels[0].images[0].origin == "lower"
    assert [texts(panel).count("not run") for panel in panels[:3]] == [0, 1, 1]


def compared(path: Path, depths: int, plain: bool = True) -> Path:
    """Write what `xling compare` would have."""
    rows = [
        {"left": i, "right": 2 * i, "cka": 0.5 + i / 100, "plain": i / 10 if plain else None, "mapped": 0.5 + i / 20}
        for i in range(depths)
    ]
    path.write_text(json.dumps({"layers": rows, "chance": 0.001, "config": "abc"}))
    return path


def test_encoders_have_one_colour_per_comparison_in_both_panels(tmp_path: Path) -> None:
    records = read_comparison("a+b.en-fr", compared(tmp_path / "a.json", 3))
    records += read_comparison("c+d.en-fr", compared(tmp_path / "c.json", 5, plain=False))
    panels = drawn(encoder_curves, records)
    assert lines(panels[0], style.BLUE) == [[record.cka for record in records[:3]]]
    assert lines(panels[0], style.VERMILION) == [[record.cka for record in records[3:]]]
    assert lines(panels[1], style.BLUE) == [pytest.approx([50.0, 55.0, 60.0]), pytest.approx([0.0, 10.0, 20.0])]
    assert len(lines(panels[1], style.VERMILION)) == 1  # without a map nothing is known
    assert lines(panels[1], style.GREY) == [pytest.approx([0.1, 0.1])]
    assert {"a+b.en-fr", "c+d.en-fr", "chance"} <= {text for axes in panels for text in texts(axes)}


def test_the_forest_plot_has_a_row_for_each_part_and_puts_what_holds_on_the_right() -> None:
    claims = verdicts(noisy_paper())
    parts = [part for claim in claims["claims"] for part in claim["parts"] if part["checks"]]
    found = marks(claims)
    assert [(m.part, m.value) for m in found if m.kind == "mean"] == [(part["what"], part["value"]) for part in parts]
    assert len([m for m in found if m.kind == "cell"]) == sum(len(part["checks"]) for part in parts)
    for mark, part in zip((m for m in found if m.kind == "mean"), parts, strict=True):
        assert (mark.margin > 1) is (part["verdict"] in ("supported", "mixed"))  # the interval is one to each side
    (axes,) = drawn(forest, claims)
    said = texts(axes)
    assert [part["what"] for part in parts] == [
        " ".join(text.split()) for text in said if " ".join(text.split()) in {part["what"] for part in parts}
    ]
    assert axes.figure.get_facecolor() == to_rgba("white")  # for dark pages
    assert marks(verdicts(Results())) == []


def commands(inputs: Path, out: Path) -> list[list[str]]:
    """Return every command that draws, on files of one folder."""
    models = [inputs / "models" / name for name in MODELS]
    from_study = ["--study", str(inputs / "study.json")]
    made = [
        *([name, "--records", str(inputs / f"{name}.csv")] for name in RECORDS),
        *([name, *from_study] for name in ("figure1", "figure2")),
        ["forest", "--claims", str(inputs / "claims.json")],
        ["training", *from_study, "--metrics", *(str(model / "metrics.jsonl") for model in models)],
        ["anchors", *from_study, "--audits", *(str(model / "anchors.json") for model in models[:-1])],
        [
            "encoders",
            *(f"--comparison=n{n}={inputs / 'compare.json'}" for n in range(9)),
        ],  # more than there are colours
    ]
    assert {name for name, *_ in made} == set(FIGURES)
    return [[*command, "--out-dir", str(out)] for command in made]


def draw(lines: list[list[str]]) -> None:
    """Run several commands in this process."""
    for line in lines:
        sys.argv = ["figures", *line]
        main()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    for name, records in RECORDS.items():
        write_records(folder / f"{name}.csv", type(records[0]), records)
    settings = [known for known in study()["records"] if known["name"] in {"default", "sep-emb"}]
    (folder / "study.json").write_text(json.dumps(study() | {"records": settings}), encoding="utf-8")
    compared(folder / "compare.json", 3)
    (folder / "claims.json").write_text(json.dumps(verdicts()), encoding="utf-8")
    for model in MODELS:
        write_model(folder / "models", model)
    return folder


@pytest.fixture(scope="module")
def figures(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, arguments = tmp_path_factory.mktemp("figures"), sys.argv
    try:
        draw(commands(inputs, folder))
        sys.argv = ["paper", "--out-dir", str(folder / "paper")]
        paper_main()
    finally:
        sys.argv = arguments
    return folder


def names(folder: Path) -> list[str]:
    """Return all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def without_interval(record: Any) -> Any:
    """Return a record without what xling.report.means has put around its value."""
    return replace(record, low=None, high=None) if hasattr(record, "low") else record


def test_each_figure_has_three_pictures_and_its_numbers(figures: Path) -> None:
    whole = [*FIGURES, "emergence", "paper/figure3", "paper/figure7"]
    expected = [f"{name}.{suffix}" for name in whole for suffix in ("png", "pdf", "svg", "csv")]
    expected += [f"training/{model}.{suffix}" for model in MODELS for suffix in ("png", "svg")]
    expected += [f"paper/{name}.{suffix}" for name in ("table1", "table1-deltas") for suffix in ("csv", "md", "tex")]
    assert names(figures) == sorted(expected)
    for name, shown in SHOWN.items():
        found = read_records(figures / f"{name}.csv", type(shown[0]))
        assert [without_interval(own) for own in found] == [without_interval(own) for own in shown]
    assert read_records(figures / "paper/figure3.csv", CellMean) == published.table1().means


def test_pictures_carry_their_fonts_and_say_nothing_of_when_and_where(figures: Path) -> None:
    for path in figures.rglob("*.svg"):
        assert not re.search("<dc:date>|<text", path.read_text(encoding="utf-8"))
    for path in figures.rglob("*.pdf"):
        assert not re.search(rb"/CreationDate|/ModDate|/Producer", path.read_bytes())
        assert b"/FontFile2" in path.read_bytes()


def test_another_process_with_other_settings_draws_the_same_bytes(inputs: Path, figures: Path, tmp_path: Path) -> None:
    rc, out = tmp_path / "matplotlibrc", tmp_path / "out"
    rc.write_text("font.size: 20\naxes.facecolor: black\n", encoding="utf-8")
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    some = [line for line in commands(inputs, out) if line[0] in ("figure1", "figure4b", "figure7")]  # of every make
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(some)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(rc)},
    )
    assert done.returncode == 0, done.stderr
    assert len(names(out)) == 4 * len(some)
    assert [name for name in names(out) if (out / name).read_bytes() != (figures / name).read_bytes()] == []


@pytest.mark.parametrize("name", RECORDS)
def test_nothing_to_draw_and_nonsense_are_one_line(name: str, tmp_path: Path, call: Callable[..., Any]) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out"
    write_records(path, type(RECORDS[name][0]), [])
    command = (main, name, "--records", path, "--out-dir", out)
    assert call(*command)[:2] == (2, f"error: {path}: no records: nothing to draw\n")
    path.write_text("colour\nred\n", encoding="utf-8")
    code, error, _ = call(*command)
    assert (code, error.count("\n")) == (2, 1)
    assert f"{path}, line 1: unknown column 'colour'" in error
    assert not out.exists()


def test_bad_inputs_of_the_other_figures_are_one_line(inputs: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    write_model(tmp_path, "en-fr.default.s1")
    model, out = tmp_path / "en-fr.default.s1", tmp_path / "out"
    (tmp_path / "loose.json").write_text("{}", encoding="utf-8")
    (model / "anchors.json").write_text("{}", encoding="utf-8")
    for name, flag, path, problem in (
        ("anchors", "--audits", model / "anchors.json", "no audit of anchors: 'running_tokens'"),
        ("anchors", "--audits", tmp_path / "loose.json", "not in the folder of a model (a folder"),
        ("training", "--metrics", tmp_path / "none", "not in the folder of a model"),
        ("training", "--metrics", model / "none.jsonl", "none.jsonl: no such file"),
        ("encoders", "--comparison", f"x={tmp_path / 'loose.json'}", "loose.json: no result of `xling compare`"),
    ):
        known = [] if name == "encoders" else ["--study", inputs / "study.json"]
        code, error, _ = call(main, name, *known, flag, path, "--out-dir", out)
        assert (code, error.count("\n")) == (2, 1)
        assert problem in error
    assert not out.exists()
