"""Figures 4a, 4b, 5, 6, 8 and the matrices: every number where it belongs, baselines beside it, gaps named."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_records import contextual, matrices, sentences, words_4a, words_4b
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from xling.report import style
from xling.report.cka_matrix import LayerPair, cka_matrix
from xling.report.cka_matrix import main as matrix_main
from xling.report.figure4a import figure4a
from xling.report.figure4a import main as figure4a_main
from xling.report.figure4b import figure4b
from xling.report.figure4b import main as figure4b_main
from xling.report.figure5 import figure5
from xling.report.figure5 import main as figure5_main
from xling.report.figure6 import figure6
from xling.report.figure6 import main as figure6_main
from xling.report.figure8 import figure8
from xling.report.figure8 import main as figure8_main
from xling.report.record_files import write_records

MAINS = {
    "figure4a": (figure4a_main, words_4a()),
    "figure4b": (figure4b_main, words_4b()),
    "figure5": (figure5_main, contextual()),
    "figure6": (figure6_main, sentences()),
    "figure8": (figure8_main, contextual(("biMLM align", "biMLM"))),
    "cka_matrix": (matrix_main, matrices()),
}


def drawn(figure: Callable[..., Any], *arguments: Any) -> list[Axes]:
    """Return the panels of a figure."""
    with style.styled():
        return figure(*arguments).axes


def lines(axes: Axes, colour: str) -> list[list[float]]:
    """Return the heights of the lines of one colour that have more than one point."""
    found = [line for line in axes.get_lines() if line.get_color() == colour and len(line.get_xdata()) > 1]
    return [list(line.get_ydata()) for line in found]


def texts(axes: Axes) -> list[str]:
    """Return everything that is written in a panel and above it."""
    return [text.get_text() for text in axes.texts] + [axes.get_title("left"), axes.get_title("right")]


def test_figure4a_has_a_bar_for_everything_measured() -> None:
    (axes,) = drawn(figure4a, words_4a())
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == [score.p1 for score in words_4a()]
    assert axes.get_xticklabels()[0].get_text() == "en-fr\n1,211 pairs"
    assert axes.collections  # chance


def test_figure4a_draws_intervals_to_scale_and_names_gaps() -> None:
    scores = [score for score in words_4a() if score.language == "fr" and score.vectors != "fastText"]
    (axes,) = drawn(figure4a, scores)
    ends = {tuple(bar[2][0].get_segments()[0][:, 1]) for bar in axes.containers if hasattr(bar, "has_yerr")}
    assert ends == {(scores[0].low, scores[0].high), (scores[1].low, scores[1].high)}
    assert texts(axes).count("not run") == 1


def test_figure4b_has_a_panel_a_language_with_both_baselines() -> None:
    panels = drawn(figure4b, words_4b())
    assert [panel.get_title("left") for panel in panels] == ["en-fr", "en-de", "en-ru", "en-zh"]
    for panel, language in zip(panels, ("fr", "de", "ru", "zh"), strict=True):
        scores = [score for score in words_4b() if score.language == language]
        bert = [score.p1 for score in scores if score.vectors == "BERT"]
        assert lines(panel, style.MODEL_COLOURS["BERT"]) == [bert]
        assert lines(panel, style.MODEL_COLOURS["fastText"]) == [[scores[0].p1] * 2]
        assert {"BERT", "fastText", "untrained", "chance"} <= set(texts(panel))
    assert len({panel.get_ylim() for panel in panels}) == 1


def test_figure4b_says_what_was_not_run() -> None:
    (panel,) = drawn(figure4b, [s for s in words_4b() if s.language == "ru" and s.vectors == "BERT"])
    assert "not run: fastText, untrained" in texts(panel)


def test_figure5_draws_series_and_floor_by_task_and_pair() -> None:
    panels = drawn(figure5, contextual())
    assert [panel.get_title("left") for panel in panels] == ["en-fr", "en-ru", "en-zh"] * 2
    assert panels[0].get_ylabel() == "NER (F1)"
    assert panels[3].get_ylabel() == "Parsing (LAS)"
    here = [s.score for s in contextual() if (s.task, s.language, s.series) == ("parsing", "ru", "biMLM")]
    assert lines(panels[4], style.BLUE) == [here]
    assert lines(panels[4], style.GREY) == [[7.0] * 9]


def test_floors_that_differ_are_drawn_apart() -> None:
    scores = [replace(s, floor=s.floor + 2 * (s.series == "biMLM")) for s in contextual()]
    panels = drawn(figure5, scores)
    assert lines(panels[0], style.GREY) == []
    assert [8.0] * 9 in lines(panels[0], style.BLUE)
    assert [6.0] * 9 in lines(panels[0], style.VERMILION)


def test_absent_series_and_panels_are_named() -> None:
    scores = [s for s in contextual() if (s.task, s.language) != ("ner", "ru")]
    panels = drawn(figure5, [s for s in scores if s.series == "MLM align" or s.language != "zh"])
    assert "not run" in texts(panels[1])
    assert "not run: biMLM" in texts(panels[2])
    assert "not run" not in "".join(texts(panels[0]))


def test_figure8_compares_the_bilingual_model_with_itself() -> None:
    panels = drawn(figure8, contextual(("biMLM align", "biMLM")))
    assert {"biMLM", "biMLM align", "untrained"} <= set(texts(panels[0]))


def test_figure6_has_a_panel_a_direction_and_laser_only_on_request() -> None:
    panels = drawn(figure6, sentences())
    assert len(panels) == 2
    mono = [s.p1 for s in sentences() if (s.language, s.model, s.direction) == ("de", "monolingual", "x-en")]
    assert mono in lines(panels[1], style.ORANGE)
    assert {"en-fr", "en-de", "en-ru", "en-zh", "untrained", "chance"} <= set(texts(panels[0]))
    assert not any("LASER" in text for panel in panels for text in texts(panel))
    assert all("LASER: over 95" in texts(panel) for panel in drawn(figure6, sentences(), True))


def test_intervals_of_curves_are_drawn_to_scale() -> None:
    panels = drawn(figure6, [replace(s, low=None, high=None) if s.layer else s for s in sentences()])
    (bar,) = panels[0].containers[0][2]
    first = sentences()[0]
    assert [segment[:, 1].tolist() for segment in bar.get_segments()] == [pytest.approx([first.low, first.high])]


def test_matrices_have_the_first_encoder_across_and_the_second_upwards() -> None:
    records = [LayerPair("en-fr", "bilingual", 0, 0, 0.1), LayerPair("en-fr", "bilingual", 1, 0, 0.9)]
    panels = drawn(cka_matrix, records)
    colours = panels[0].images[0].get_array()
    assert colours[0][0].sum() > colours[0][1].sum()  # a higher value is darker; row 0 is the lowest
    assert panels[0].images[0].origin == "lower"
    assert [texts(panel).count("not run") for panel in panels[:3]] == [0, 1, 1]


@pytest.mark.parametrize("layers", [1, 12, 24])
def test_any_number_of_layers_can_be_drawn(layers: int) -> None:
    for panels in (drawn(figure5, contextual(layers=layers)), drawn(figure6, sentences(layers))):
        ticks = [tick for tick in panels[0].get_xticks() if tick <= layers]
        assert ticks[0] == 0
        assert 2 <= len(ticks) <= 13


@pytest.mark.parametrize("name", MAINS)
def test_nothing_to_draw_and_nonsense_are_one_line(name: str, tmp_path: Path, call: Callable[..., Any]) -> None:
    main, records = MAINS[name]
    path, out = tmp_path / "in.csv", tmp_path / "out"
    write_records(path, type(records[0]), [])
    assert call(main, "--records", path, "--out-dir", out) == (2, f"error: {path}: no records: nothing to draw\n")
    path.write_text("colour\nred\n", encoding="utf-8")
    code, error = call(main, "--records", path, "--out-dir", out)
    assert (code, error.count("\n")) == (2, 1)
    assert f"{path}, line 2: unknown column 'colour'" in error
    assert not out.exists()


def test_figure6_names_a_missing_kind_of_encoder_once() -> None:
    scores = [s for s in sentences() if s.model == "monolingual" and (s.language, s.direction) != ("ru", "x-en")]
    first, second = drawn(figure6, scores)
    assert "not run: untrained" in texts(first)
    assert "not run: en-ru monolingual, untrained" in texts(second)


def test_the_interval_of_a_level_is_a_band() -> None:
    panels = drawn(figure4b, words_4b())
    (band,) = [found for found in panels[0].collections if isinstance(found, PolyCollection)]
    reference = next(score for score in words_4b() if score.vectors == "fastText" and score.language == "fr")
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((reference.low, reference.high))
