"""Figures: every number where it belongs, intervals to scale, gaps named, readable colours; and their one command."""

import itertools
import math
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_study import FEW, records
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from report_files import verdicts

from docs.verdicts import noisy_paper
from xling.report import published, style
from xling.report.figures.__main__ import RECORDED
from xling.report.figures.__main__ import drawn as drawn_by_command
from xling.report.figures.forest import forest
from xling.report.records import Cell, LayerPair, Results

RECORDS = records()
# Machado et al. 2009, severity 1: what red-blind and green-blind readers see, in linear light.
RED_BLIND = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
GREEN_BLIND = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
SAME = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def drawn(name: str, given: list[Any] | None = None) -> tuple[list[Any], list[Axes]]:
    """Return the means of a figure's records, and its panels."""
    means, figure = RECORDED[name]
    shown = means(RECORDS[name] if given is None else given)
    with style.styled():
        return shown, list(figure(shown, **({"settings": published.settings()} if name == "figure3" else {})).axes)


def lines(axes: Axes, colour: str) -> list[list[float]]:
    """Return the heights of the lines of one colour that have more than one point."""
    found = [line for line in axes.get_lines() if line.get_color() == colour and len(line.get_xdata()) > 1]
    return [list(line.get_ydata()) for line in found]


def texts(axes: Axes) -> list[str]:
    """Return everything that is written in a panel and above it."""
    return [text.get_text() for text in axes.texts] + [axes.get_title("left"), axes.get_title("right")]


def error_bars(axes: Axes, axis: int) -> list[list[float]]:
    """Return the ends of all error bars of a panel along an axis."""
    found = [bars[2][0] for bars in axes.containers if hasattr(bars, "has_xerr")]
    return [segment[:, axis].tolist() for bars in found for segment in bars.get_segments()]


def linear(colour: str) -> list[float]:
    return [((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in to_rgb(colour)]


def distance(left: str, right: str, eye: tuple[tuple[float, ...], ...]) -> float:
    """Return how far apart two colours are for an eye, as a share of black to white."""
    seen = [np.maximum(np.array(eye) @ linear(colour), 0) ** (1 / 2.4) for colour in (left, right)]
    return math.dist(*seen) / 3**0.5


@pytest.mark.parametrize("eye", [SAME, RED_BLIND, GREEN_BLIND], ids=["common", "red-blind", "green-blind"])
@pytest.mark.parametrize("colours", [style.LANGUAGE_COLOURS, style.GROUP_COLOURS, style.MODEL_COLOURS])
def test_colours_of_one_figure_can_be_told_apart(colours: dict[str, str], eye: tuple[tuple[float, ...], ...]) -> None:
    assert min(distance(a, b, eye) for a, b in itertools.combinations(sorted({*colours.values()}), 2)) > 0.1


def test_ink_stands_out() -> None:
    for colour, ink in (((1, 1, 1), "#000000"), ((0, 0, 0), "#ffffff"), ((0.03, 0.11, 0.35), "#ffffff")):
        assert style.ink_on(colour) == ink
    for name in (style.ORANGE, style.SKY, "#F0E442", style.LIGHT, style.BLACK):
        red, green, blue = linear(style.ink(name))
        assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.45  # WCAG 2, to a step of colour
    assert style.ink(style.BLUE) == style.BLUE.lower()  # dark enough: stays as it is
    looks = [style.language_look(code, ["it", "fr", "es"]) for code in ("it", "es", "fr")]
    assert (len(set(looks)), looks[2]) == (3, (style.BLUE, "o"))  # languages of other studies have looks of their own


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12))
def test_labels_stay_apart_in_order_and_inside(wanted: list[float]) -> None:
    placed = style.spread(wanted, 0.5, 0.0, 10.0)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert all(placed[b] - placed[a] >= 0.5 - 1e-9 for a, b in itertools.pairwise(order))
    assert -1e-9 <= min(placed) <= max(placed) <= 10 + 1e-9


def test_labels_stand_as_near_to_their_lines_as_they_can() -> None:
    for wanted, high, placed in (
        ([0.0, 1.0, 2.0], 10.0, [0.0, 1.0, 2.0]),
        ([5.0, 5.0, 9.0], 10.0, [4.5, 5.5, 9.0]),  # those that touch share the shift
        ([1.0, 1.0, 1.0, 1.0], 2.0, [-1.0, 0.0, 1.0, 2.0]),  # too many: they keep their distance from the top
    ):
        assert style.spread(wanted, 1.0, 0.0, high) == placed
    with style.styled():
        axes = style.new_figure().subplots()
        axes.set_ylim(0, 10)
        style.label_ends(axes, [("a long label", 3.0, style.BLUE)], (2.0, 1.0), (0, 8))
    low, high = axes.get_xlim()
    assert low < 0 < 8 < axes.texts[0].get_position()[0] < high
    assert (high - 8) / (high - low) > 0.25  # the label is 0.6 of the panel's 2 inches


def test_figure3_divides_bars_at_the_floor_and_draws_intervals_to_scale() -> None:
    cell = Cell(setting="Default", task="ner", language="fr", seed=1, score=50.0, low=47.0, high=54.0, chance=10.0)
    others = [replace(cell, language="ru", low=None, high=None), replace(cell, setting="Sep Emb", score=7.0)]
    (first, *_), (with_bar, without) = drawn("figure3", [cell, *others])
    assert [(bar.get_x(), bar.get_width()) for bar in with_bar.patches] == [(0, 50), (10, 40), (0, 7), (10, 0)]
    assert error_bars(with_bar, 0)[0] == pytest.approx([first.low, first.high])
    assert error_bars(without, 0) == []
    assert {axes.get_xlim() for axes in (with_bar, without)} == {(0.0, 118.0)}  # one scale, whatever the scores
    figure = with_bar.figure
    with style.styled():
        figure.draw_without_rendering()
    assert figure.get_figwidth() == pytest.approx(style.PAGE_WIDTH * 3 / 4)
    assert figure.legends[0].get_window_extent().y1 < with_bar.get_tightbbox().y0


def test_figure3_and_figure7_show_the_papers_numbers() -> None:
    cells, panels = drawn("figure3")
    places = itertools.product(("xnli", "ner", "parsing"), ("fr", "ru", "zh"))
    for axes, place in zip(panels, places, strict=True):
        expected = [f"{cell.score:.1f}" for cell in cells if (cell.task, cell.language) == place]
        assert [text.get_text() for text in axes.texts] == expected
        assert [f"{bar.get_x() + bar.get_width():.1f}" for bar in axes.patches][::2] == expected
    squares, (axes, _) = drawn("figure7")
    shown = {(math.floor(text.get_position()[1]), text.get_position()[0]): text.get_text() for text in axes.texts}
    rows = [*(f"L{n}" for n in range(9)), "AVER"]
    for row, layer in enumerate(rows):
        order = itertools.product(
            ("en-en'", "en-fr", "en-de", "en-ru", "en-zh"), ("bilingual", "monolingual", "random")
        )
        values = {(square.pair, square.model): square.cka for square in squares if square.layer == layer}
        assert [shown[key] for key in sorted(shown) if key[0] == row] == [f"{values[key]:.2f}" for key in order]
    assert [label.get_text() for label in axes.get_yticklabels()] == rows
    assert axes.patches[0].get_facecolor() != axes.patches[-1].get_facecolor()
    _, (axes, bar) = drawn("figure7", [square for square in RECORDS["figure7"] if square.pair == "en-fr"])
    assert bar.get_ylim() == (0, 1)  # whatever the scores
    assert "en-ru" not in texts(axes)


def test_figure4a_has_a_bar_for_everything_measured() -> None:
    words, (axes,) = drawn("figure4a")
    assert [bar.get_height() for bar in axes.patches] == [word.p1 for word in words]
    assert error_bars(axes, 1)[::2] == [pytest.approx([word.low, word.high]) for word in words]
    assert axes.get_xticklabels()[0].get_text() == "en-fr\n1,211 pairs"
    assert axes.collections  # chance


def by_cell(mean: Any) -> int:
    return 3 * ("ner", "parsing").index(mean.task) + ("fr", "ru", "zh").index(mean.language)


@pytest.mark.parametrize(
    ("name", "value", "place", "curve", "labels"),
    [
        ("figure4b", "p1", lambda m: ("fr", "de", "ru", "zh").index(m.language), "vectors", {"BERT", "untrained", "chance"}),
        ("figure5", "score", by_cell, "series", {"MLM align", "biMLM", "untrained"}),
        ("figure8", "score", by_cell, "series", {"biMLM align", "biMLM"}),
        ("figure6", "p1", lambda m: ("en-x", "x-en").index(m.direction), "language", {"en-fr", "en-zh", "untrained", "chance"}),
    ],
)  # fmt: skip
def test_every_mean_is_a_point_of_its_curve(
    name: str, value: str, place: Callable[[Any], int], curve: str, labels: set[str]
) -> None:
    shown, panels = drawn(name)
    assert {place(mean) for mean in shown} == set(range(len(panels)))
    colours = style.LANGUAGE_COLOURS | style.MODEL_COLOURS
    for mean in (mean for mean in shown if mean.layer is not None):
        panel = panels[place(mean)]
        assert labels <= set(texts(panel))
        points = [ys[mean.layer] for ys in lines(panel, colours[getattr(mean, curve)]) if len(ys) == 9]
        assert getattr(mean, value) in points
        assert mean.low is None or pytest.approx([mean.low, mean.high]) in error_bars(panel, 1)


def test_levels_have_bands_and_floors_a_colour_where_they_differ(inputs: Path) -> None:
    words, (panel,) = drawn("figure4b", FEW["figure4b"])
    (level,) = [word for word in words if word.vectors == "fastText"]
    assert lines(panel, style.MODEL_COLOURS["fastText"]) == [[level.p1] * 2]
    (band,) = [found for found in panel.collections if isinstance(found, PolyCollection)]
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((level.low, level.high))
    assert lines(drawn("figure5", FEW["figure5"])[1][0], style.GREY) == [[5.0] * 9]
    higher = [replace(r, score=7.0) if (r.series, r.encoder) == ("biMLM", "untrained") else r for r in FEW["figure5"]]
    apart = drawn("figure5", higher)[1][0]
    assert lines(apart, style.GREY) == []
    assert [7.0] * 9 in lines(apart, style.BLUE)
    assert [5.0] * 9 in lines(apart, style.VERMILION)
    for laser in (False, True):
        with style.styled():
            given = Namespace(figure="figure6", records=inputs / "figure6.csv", laser=laser)
            ((_, figure, _),) = drawn_by_command(given)
        said = [texts(axes) for axes in figure.axes]
        assert ["LASER: over 95" in panel for panel in said] == [laser, laser]


@pytest.mark.parametrize(
    ("name", "kept", "panel", "text", "count"),
    [
        ("figure3", lambda r: r.task == "ner" and (r.setting, r.language) != ("Sep Emb", "ru"), 1, "not run", 1),
        ("figure4a", lambda r: (r.language, r.vectors) != ("ru", "fastText"), 0, "not run", 1),
        ("figure4b", lambda r: (r.language, r.vectors) == ("ru", "BERT"), 0, "not run: fastText, untrained", 1),
        ("figure5", lambda r: (r.task, r.language) != ("ner", "ru"), 1, "not run", 1),
        ("figure5", lambda r: (r.series, r.language) != ("biMLM", "zh"), 2, "not run: biMLM", 1),
        ("figure6", lambda r: r.model == "monolingual", 0, "not run: untrained", 1),
        ("figure6", lambda r: r.language != "ru" or r.direction == "en-x", 1, "not run: en-ru monolingual, en-ru untrained", 1),
        ("figure7", lambda r: (r.pair, r.model) != ("en-de", "bilingual"), 0, "not run", 10),
        ("figure7", lambda r: r.pair != "en-ru" or r.layer not in {"AVER", "L3"}, 0, "not run", 6),  # it has no average
        ("cka_matrix", lambda r: r.model == "bilingual", 5, "not run", 1),
    ],
)  # fmt: skip
def test_what_was_not_run_is_named(name: str, kept: Callable[[Any], bool], panel: int, text: str, count: int) -> None:
    _, panels = drawn(name, [record for record in RECORDS[name] if kept(record)])
    assert texts(panels[panel]).count(text) == count
    if len(panels) > 2:
        assert not any("not run" in other for other in texts(panels[0]))


@pytest.mark.parametrize(("name", "layers"), [("figure5", 1), ("figure5", 24), ("figure6", 12)])
def test_any_number_of_layers_can_be_drawn(name: str, layers: int) -> None:
    first = [record for record in RECORDS[name] if record.layer == 0]
    _, panels = drawn(name, [replace(record, layer=layer) for record in first for layer in range(layers + 1)])
    ticks = [tick for tick in panels[0].get_xticks() if tick <= layers]
    assert ticks[0] == 0
    assert 2 <= len(ticks) <= 13


def test_matrices_have_the_first_encoder_across_and_the_second_upwards() -> None:
    _, panels = drawn(
        "cka_matrix", [LayerPair("en-fr", "bilingual", 0, 0, 0.1), LayerPair("en-fr", "bilingual", 1, 0, 0.9)]
    )
    colours = panels[0].images[0].get_array()
    assert colours[0][0].sum() > colours[0][1].sum()  # a higher value is darker; row 0 is the lowest
    assert panels[0].images[0].origin == "lower"


def test_the_forest_plot_has_a_row_for_each_part_and_puts_what_holds_on_the_right() -> None:
    claims = verdicts(noisy_paper())
    parts = [part for claim in claims["claims"] for part in claim["parts"] if part["checks"]]
    with style.styled():
        figure, marks = forest(claims)
        nothing = forest(verdicts(Results()))[1]
    means = marks[marks["kind"] == "mean"]
    assert list(zip(means["part"], means["value"], strict=True)) == [(part["what"], part["value"]) for part in parts]
    assert (marks["kind"] == "cell").sum() == sum(len(part["checks"]) for part in parts)
    holds = [part["verdict"] in ("supported", "mixed") for part in parts]
    assert [margin > 1 for margin in means["margin"]] == holds  # the interval is one to each side
    said = [" ".join(text.split()) for text in texts(figure.axes[0])]
    assert [text for text in said if text in set(means["part"])] == list(means["part"])
    assert figure.get_facecolor() == to_rgba("white")  # for dark pages
    assert (len(nothing), list(nothing)) == (0, list(marks))
