"""Figures: every number where it belongs, intervals to scale, gaps named, and colours that everyone can tell apart."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from figure_files import RECORDS
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from PIL import Image

from xling.report import published, style
from xling.report.figures.__main__ import FIGURES
from xling.report.figures.forest import forest, marks
from xling.report.records import Cell, LayerPair

# Machado et al. 2009, severity 1: what red-blind and green-blind readers see, in linear light.
EYES = {
    "common": np.eye(3),
    "red-blind": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "green-blind": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def drawn(name, given=None, **more):
    """Return the means of a figure's records, and its panels."""
    more |= {"settings": published.settings()} if name == "figure3" else {}
    with style.styled():
        figure, means = FIGURES[name](RECORDS[name] if given is None else given, **more)
    return list(means), list(figure.axes)


def lines(axes, colour):
    """Return the heights of the lines of one colour that have more than one point."""
    found = [line for line in axes.get_lines() if line.get_color() == colour and len(line.get_xdata()) > 1]
    return [list(line.get_ydata()) for line in found]


def texts(axes):
    """Return everything that is written in a panel and above it."""
    return [text.get_text() for text in axes.texts] + [axes.get_title("left"), axes.get_title("right")]


def error_bars(axes, axis):
    """Return the ends of all error bars of a panel along an axis."""
    found = [bars[2][0] for bars in axes.containers if hasattr(bars, "has_xerr")]
    return [segment[:, axis].tolist() for bars in found for segment in bars.get_segments()]


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("colours", [style.LANGUAGE_COLOURS, style.GROUP_COLOURS, style.MODEL_COLOURS])
def test_colours_of_one_figure_can_be_told_apart(colours, eye):
    light = [[((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(colour)] for colour in sorted({*colours.values()})]
    seen = [np.maximum(np.array(EYES[eye]) @ linear, 0) ** (1 / 2.4) for linear in light]
    assert min(math.dist(a, b) / 3**0.5 for a, b in itertools.combinations(seen, 2)) > 0.1  # black to white is 1


def test_ink_stands_out():
    for colour, light in (("#ff0000", 0.2126), ("#00ff00", 0.7152), ("#0000ff", 0.0722), ("#808080", 0.2159)):
        assert style.luminance(to_rgb(colour)) == pytest.approx(light, abs=1e-4)
    for name in (style.ORANGE, style.SKY, "#F0E442", style.LIGHT, style.BLACK):
        assert 1.05 / (style.luminance(to_rgb(style.ink(name))) + 0.05) >= 4.45  # WCAG 2, to a step of colour
    assert style.ink(style.BLUE) == style.BLUE.lower()  # dark enough: stays as it is
    assert [style.ink_on(x) for x in ((1, 1, 1), (0.03, 0.11, 0.35))] == ["#000000", "#ffffff"]
    looks = [style.language_look(code, ["it", "fr", "es"]) for code in ("it", "es", "fr")]
    assert (len(set(looks)), looks[2]) == (3, (style.BLUE, "o"))  # languages of other studies have looks of their own


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12))
def test_labels_stay_apart_in_order_and_inside(wanted):
    placed = style.spread(wanted, 0.5, 0.0, 10.0)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert all(placed[b] - placed[a] >= 0.5 - 1e-9 for a, b in itertools.pairwise(order))
    assert -1e-9 <= min(placed) <= max(placed) <= 10 + 1e-9


def test_labels_stand_as_near_to_their_lines_as_they_can():
    assert style.spread([5.0, 5.0, 9.0], 1.0, 0.0, 10.0) == [4.5, 5.5, 9.0]  # labels that touch share the shift
    assert style.spread([1.0] * 4, 1.0, 0.0, 2.0) == [-1.0, 0.0, 1.0, 2.0]  # too many: they keep away from the top


def test_figure3_divides_bars_at_the_floor_and_draws_intervals_to_scale():
    cell = Cell(setting="Default", task="ner", language="fr", seed=1, score=50.0, low=47.0, high=54.0, chance=10.0)
    others = [replace(cell, language="ru", low=None, high=None), replace(cell, setting="Sep Emb", score=7.0)]
    (first, *_), (with_bar, without) = drawn("figure3", [cell, *others])
    assert [(bar.get_x(), bar.get_width()) for bar in with_bar.patches] == [(0, 50), (10, 40), (0, 7), (10, 0)]
    assert error_bars(with_bar, 0)[0] == pytest.approx([first.low, first.high])
    assert (error_bars(without, 0), texts(without).count("50.0"), texts(without).count("not run")) == ([], 1, 9)
    figure = with_bar.figure
    hidden = [
        lines.get_segments()[0][:, 0].tolist() for lines in with_bar.collections if lines.get_linewidth() == [1.5]
    ]
    assert hidden == [[10, 10]]  # the floor of Sep Emb, beyond its bar
    with style.styled():
        figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().y1 < with_bar.get_tightbbox().y0


@pytest.mark.parametrize(
    ("name", "value", "panel", "curve"),
    [
        ("figure4b", "p1", lambda m: ("fr", "de", "ru", "zh").index(m.language), "vectors"),
        ("figure5", "score", lambda m: 3 * (m.task == "parsing") + ("fr", "ru", "zh").index(m.language), "series"),
        ("figure6", "p1", lambda m: ("en-x", "x-en").index(m.direction), "language"),
    ],
)
def test_every_mean_is_a_point_of_its_curve(name, value, panel, curve):
    """The other figures, and what is written in them, are compared with a reference run's in test_figure_commands."""
    means, panels = drawn(name)
    for mean in (mean for mean in means if mean.layer is not None):
        axes, colour = panels[panel(mean)], (style.LANGUAGE_COLOURS | style.MODEL_COLOURS)[getattr(mean, curve)]
        assert getattr(mean, value) in [ys[mean.layer] for ys in lines(axes, colour) if len(ys) == 9]
        assert mean.low is None or pytest.approx([mean.low, mean.high]) in error_bars(axes, 1)


def test_floors_have_the_colour_of_their_series_if_they_differ_and_laser_is_shown_if_asked():
    assert lines(drawn("figure5")[1][0], style.GREY) == [[5.0] * 9]
    few = [record for record in RECORDS["figure5"] if (record.language, record.task) == ("fr", "ner")]
    higher = [replace(r, score=7.0) if (r.series, r.encoder) == ("biMLM", "untrained") else r for r in few]
    _, (apart,) = drawn("figure5", higher)
    assert lines(apart, style.GREY) == []
    assert [7.0] * 9 in lines(apart, style.BLUE)
    assert [5.0] * 9 in lines(apart, style.VERMILION)
    for laser in (False, True):
        assert ["LASER: over 95" in texts(axes) for axes in drawn("figure6", laser=laser)[1]] == [laser, laser]


@pytest.mark.parametrize(
    ("name", "kept", "panel", "text", "count"),
    [
        ("figure4a", lambda r: (r.language, r.vectors) != ("ru", "fastText"), 0, "not run", 1),
        ("figure4b", lambda r: (r.language, r.vectors) == ("ru", "BERT"), 0, "not run: fastText, untrained", 1),
        ("figure5", lambda r: (r.task, r.language) != ("ner", "ru"), 1, "not run", 1),
        ("figure5", lambda r: (r.series, r.language) != ("biMLM", "zh"), 2, "not run: biMLM", 1),
        ("figure6", lambda r: r.model == "monolingual", 0, "not run: untrained", 1),
        ("figure6", lambda r: r.language != "ru" or r.direction == "en-x", 1, "not run: en-ru monolingual, en-ru untrained", 1),
        ("figure7", lambda r: (r.pair, r.model) != ("en-de", "bilingual"), 0, "not run", 10),
        ("cka_matrix", lambda r: r.model == "bilingual", 5, "not run", 1),
    ],
)  # fmt: skip
def test_what_was_not_run_is_named(name, kept, panel, text, count):
    _, panels = drawn(name, [record for record in RECORDS[name] if kept(record)])
    assert texts(panels[panel]).count(text) == count
    if len(panels) > 2:
        assert not any("not run" in other for other in texts(panels[0]))


@pytest.mark.parametrize(("name", "layers"), [("figure5", 1), ("figure5", 24), ("figure6", 12)])
def test_any_number_of_layers_can_be_drawn(name, layers):
    first = [record for record in RECORDS[name] if record.layer == 0]
    _, panels = drawn(name, [replace(record, layer=layer) for record in first for layer in range(layers + 1)])
    ticks = [tick for tick in panels[0].get_xticks() if tick <= layers]
    assert ticks[0] == 0
    assert 2 <= len(ticks) <= 13


def test_matrices_have_the_first_encoder_across_and_the_second_upwards():
    _, panels = drawn("cka_matrix", [LayerPair("en-fr", "bilingual", layer, 0, 0.1 + 0.8 * layer) for layer in (0, 1)])
    colours = panels[0].images[0].get_array()
    assert colours[0][0].sum() > colours[0][1].sum() > 1  # a higher value is darker, no value is 0; row 0 is the lowest
    assert panels[0].images[0].origin == "lower"


def test_a_ring_marks_the_most_similar_layer():
    values = {(0, 0): 0.5, (0, 1): 0.9, (1, 0): 0.4, (1, 1): 0.3}
    _, panels = drawn("cka_matrix", [LayerPair("en-fr", "bilingual", *key, value) for key, value in values.items()])
    assert panels[0].collections[1].get_offsets().tolist() == [[0, 1], [1, 0]]


def test_one_seed_of_contextual_transfer_is_said_to_be_one():
    one = [record for record in RECORDS["figure5"] if record.seed == RECORDS["figure5"][0].seed]
    for records in (one, [*one, *(replace(record, seed=9) for record in one)]):
        note = drawn("figure5", records)[1][0].figure.get_supxlabel()
        assert ("of the test items alone" in note) == (records is one)


def test_a_picture_keeps_the_colours_of_all_languages(tmp_path):
    colours = [*style.LANGUAGE_COLOURS.values()]
    with style.styled():
        figure = style.new_figure(fitted=False)
        axes = figure.subplots()
        axes.imshow(np.linspace(0, 1, 400).reshape(20, 20), cmap=style.HEAT_MAP)  # takes most of the palette
        axes.scatter(range(len(colours)), [3] * len(colours), c=colours, s=12)
        style.save_images(figure, tmp_path, "colours", ["png"])
    with Image.open(tmp_path / "colours.png") as picture:
        seen = np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)
    for colour in colours:
        assert np.abs(seen - 255 * np.array(to_rgb(colour))).max(axis=1).min() < 16, colour


def test_the_forest_plot_of_no_claims_is_empty_and_no_bar_is_drawn_where_none_reaches():
    """That of a reference run is compared in test_figure_commands."""
    part = {"what": "a", "checks": [{"shown": False}], "value": 9.0, "low": 8.0, "high": 10.0, "threshold": 0.0}
    part |= {"relation": "above", "paper": None, "verdict": "supported", "clear": 1, "open": 0, "against": 0}
    part |= {"seeds_to_decide": None, "unit": "points", "ours": False}
    with style.styled():
        assert len(forest({"claims": []})[1]) == 0
        figure, _ = forest({"claims": [{"claim": "1", "parts": [part]}]})
    bars = [line.get_xdata() for line in figure.axes[0].get_lines() if line.get_linewidth() == 3.5]
    assert [list(ends) for ends in bars] == [[4, 4]]  # nine half-widths away: beyond the edge


@pytest.mark.parametrize(
    ("low", "high", "relation"),
    [(-0.77, 0.114, "at most"), (0.0, 0.5, "above"), (0.1, 4.0, "above"), (-3.0, 0.16, "at most")],
)
def test_a_bar_contains_0_where_its_interval_contains_the_threshold_also_if_it_is_not_symmetric(low, high, relation):
    part = {"what": "a", "checks": [], "value": 0.1, "low": low, "high": high, "threshold": 0.15, "relation": relation}
    shown = marks({"claim": "1"}, part | {"paper": None})
    ends = sorted(shown.loc[shown["kind"].isin(["low", "high"]), "margin"])
    assert (ends[0] <= 0 <= ends[1]) == (low <= 0.15 <= high)
    assert ends[1] - ends[0] == pytest.approx(2)  # half-widths
