"""Scores against layers: Figures 4b, 5, 6 and 8."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xling.report import style
from xling.report.means import ContextualMean, SentenceMean, WordMean, contextual_means, sentence_means, word_means
from xling.report.models import BERT, BI_MLM, BI_MLM_ALIGN, FASTTEXT, MLM_ALIGN, MONOLINGUAL, UNTRAINED
from xling.report.names import LANGUAGES, NOT_RUN, TASKS, in_order, task_title
from xling.report.records import ContextualScore, SentenceScore, WordScore

MEASURED, DASHED, DOTTED = "-", (0, (4, 2)), style.DOTTED  # lines of measured curves, untrained encoders, levels
WIDTHS = {MEASURED: 1.4, DASHED: 1.0, DOTTED: 1.0}
TICK, DIGIT = 0.06, 0.07  # inches that a layer number needs, plus inches for each of its digits
ASIDE = 0.006  # share of the axis by which curves with intervals are shifted sideways to keep all error bars visible
DECORATION = (0.45, 0.42)  # inches that the labels of a panel take, horizontally and vertically

WORD_COLUMNS = 2
WORD_NOTE = "Dashed: the untrained encoder. Dotted: fastText on the same words, with its interval, and chance."
SERIES_MARKERS = {MLM_ALIGN: "s", BI_MLM: "o", BI_MLM_ALIGN: "^"}
SERIES_NOTE = (
    "Dashed: the untrained encoder, its task layers trained in the same way; in a series' colour where they differ."
)
ONE_SEED_NOTE = (
    "\nBars: 95% intervals of the test items alone, as there is one seed. Another seed can move a whole curve much "
    "further, which claim 6b allows for."
)
LASER = 95.0  # section 5.1.3: "over 95%, obtained by LASER" on Tatoeba; quoted from the text, not measured by us
DIRECTIONS = {"en-x": "English to other language", "x-en": "Other language to English"}
SENTENCE_NOTE = "Solid: monolingual encoders. Dashed, same colour: untrained encoders. Dotted: chance."
LASER_NOTE = " LASER: the level that the paper's text gives; not run here."
Points = Sequence[tuple[int, float, float | None, float | None]]  # layer, value, and its interval if known
Panel = tuple[str, Sequence["Curve"], Sequence[str]]  # title, curves, and names of the curves that were not run


@dataclass(frozen=True)
class Curve:
    """A line of a panel: its label, style and points."""

    label: str
    points: Points
    colour: str
    marker: str = ""
    dashes: Any = MEASURED
    ink: str = ""  # colour of the label, if it is not that of the line


def points(records: Sequence[Any], value: str, intervals: bool = True) -> Points:
    """Return the points of the records ordered by layer, with or without their intervals."""
    ordered = sorted(records, key=lambda record: record.layer)
    return [(r.layer, getattr(r, value), *((r.low, r.high) if intervals else (None, None))) for r in ordered]


def level(label: str, value: float, layers: Sequence[int], colour: str, *ends: float | None) -> Curve:
    """Return a horizontal line across all layers, with its interval as a band if `ends` are given."""
    low, high = ends or (None, None)
    return Curve(label, [(layer, value, low, high) for layer in (layers[0], layers[-1])], colour, dashes=DOTTED)


def chosen(scores: Sequence[Any], **where: str) -> list[Any]:
    """Return the scores whose attributes have the given values."""
    return [score for score in scores if all(getattr(score, name) == value for name, value in where.items())]


def figure4b(records: Sequence[WordScore]) -> tuple[Figure, list[WordMean]]:
    """Return Figure 4b and its means: translation of words by mean contextual vectors, one panel per language."""
    scores = word_means(records)
    layers = sorted({score.layer for score in scores if score.layer is not None}) or [0, 1]
    panels = []
    for language in in_order((score.language for score in scores), LANGUAGES):
        here = chosen(scores, language=language)
        of = {name: chosen(here, vectors=name) for name in (BERT, FASTTEXT, UNTRAINED)}
        curves = []
        for name, dashes, marker in ((BERT, MEASURED, "o"), (UNTRAINED, DASHED, "")):
            if found := points([score for score in of[name] if score.layer is not None], "p1"):
                curves.append(Curve(name, found, style.MODEL_COLOURS[name], marker, dashes))
        curves += [level(FASTTEXT, x.p1, layers, style.MODEL_COLOURS[FASTTEXT], x.low, x.high) for x in of[FASTTEXT]]
        curves.append(level("chance", max(score.chance for score in here), layers, style.GREY))
        panels.append((f"en-{language}", curves, [name for name in of if not of[name]]))
    rows = [panels[start : start + WORD_COLUMNS] for start in range(0, len(panels), WORD_COLUMNS)]
    return draw_grid(rows, 2.1, ["P@1 (%)"] * len(rows), WORD_NOTE), scores


def figure5(records: Sequence[ContextualScore]) -> tuple[Figure, list[ContextualMean]]:
    """Return Figure 5 and its means: monolingual encoders with a map, and a bilingual encoder."""
    return _contextual(records, (MLM_ALIGN, BI_MLM))


def figure8(records: Sequence[ContextualScore]) -> tuple[Figure, list[ContextualMean]]:
    """Return Figure 8 and its means: a bilingual encoder with and without a map."""
    return _contextual(records, (BI_MLM_ALIGN, BI_MLM))


def _contextual(records: Sequence[ContextualScore], series: Sequence[str]) -> tuple[Figure, list[ContextualMean]]:
    """Return transfer through the first layers by task and language, one curve for each of the series."""
    scores = contextual_means(records)
    tasks = in_order((score.task for score in scores), TASKS)
    languages = in_order((score.language for score in scores), LANGUAGES)
    rows: list[list[Panel]] = [[] for _ in tasks]
    for row, task in zip(rows, tasks, strict=True):
        for language in languages:
            of = {name: chosen(scores, task=task, language=language, series=name) for name in series}
            found = {name: (style.MODEL_COLOURS[name], own) for name, own in of.items() if own}
            curves = [
                Curve(name, points(own, "score"), colour, SERIES_MARKERS[name]) for name, (colour, own) in found.items()
            ]
            # The interval of a record belongs to its score, not to its floor.
            floors = [(points(own, "floor", intervals=False), colour) for colour, own in found.values()]
            if len({tuple(floor) for floor, _ in floors}) == 1:
                floors = [(floors[0][0], style.GREY)]
            curves += [Curve(UNTRAINED, floor, colour, dashes=DASHED) for floor, colour in floors]
            row.append((f"en-{language}", curves, [name for name in of if not of[name]]))
    note = SERIES_NOTE + (ONE_SEED_NOTE if len({record.seed for record in records}) == 1 else "")
    return draw_grid(rows, 2.2, [task_title(task) for task in tasks], note), scores


def figure6(records: Sequence[SentenceScore], laser: bool = False) -> tuple[Figure, list[SentenceMean]]:
    """Return Figure 6 and its means: sentence retrieval after mapping by direction; `laser` adds the level of LASER."""
    scores = sentence_means(records)
    layers = sorted({score.layer for score in scores})
    languages = in_order((score.language for score in scores), LANGUAGES)
    panels = []
    for direction, title in DIRECTIONS.items():
        here = chosen(scores, direction=direction)
        curves, lacking = [], {model: list[str]() for model in (MONOLINGUAL, UNTRAINED)}
        for language, model in product(languages, lacking):
            own, (colour, marker) = (
                chosen(here, language=language, model=model),
                style.language_look(language, languages),
            )
            if not own:
                lacking[model].append(language)
            elif model == MONOLINGUAL:
                curves.append(Curve(f"en-{language}", points(own, "p1"), colour, marker))
            else:
                label = UNTRAINED if language == languages[-1] else ""  # one label for all languages
                curves.append(Curve(label, points(own, "p1"), colour, "", DASHED, style.GREY))
        if here:
            curves.append(level("chance", max(score.chance for score in here), layers, style.GREY))
        if laser and here:
            curves.append(level("LASER: over 95", LASER, layers, style.BLACK))
        absent = []
        for model, codes in lacking.items():
            absent += [model] if codes == languages else [f"en-{code} {model}" for code in codes]
        panels.append((title, curves, absent))
    note = SENTENCE_NOTE + (LASER_NOTE if laser else "")
    return draw_grid([panels], 3.0, ["sentence retrieval, P@1 (%)"], note), scores


def draw_grid(rows: Sequence[Sequence[Panel]], height: float, ylabels: Sequence[str], note: str) -> Figure:
    """Return a figure of panels; rows with the same label have the same scale, and each is `height` inches high."""
    columns = max(len(row) for row in rows)
    figure = style.new_figure(height=0.35 + height * len(rows))
    grid = figure.subplots(len(rows), columns, sharey="row", squeeze=False)
    size = (style.PAGE_WIDTH / columns - DECORATION[0], height - DECORATION[1])
    curves = [(name, c) for row, name in zip(rows, ylabels, strict=True) for _, own, _ in row for c in own]
    layers = sorted({layer for _, curve in curves for layer, *_ in curve.points})
    room = style.room_for([curve.label for _, curve in curves], size[0])
    for row, line, ylabel in zip(rows, grid, ylabels, strict=True):
        ends = [max(value, high or 0.0) for name, c in curves if name == ylabel for _, value, _, high in c.points]
        top = max([*ends, 1.0])
        for panel, axes in zip(row, line, strict=False):
            _draw_panel(axes, panel, layers, top, size, room)
        for axes in line[len(row) :]:
            axes.set_axis_off()
        line[0].set_ylabel(ylabel)
    for axes in [axes for axes in grid.flat if axes.axison][-columns:]:
        axes.set_xlabel("layer (0: embeddings)")
    style.footnote(figure, note)
    return figure


def _draw_panel(axes: Axes, panel: Panel, layers: Sequence[int], top: float, size: style.Size, room: float) -> None:
    title, curves, absent = panel
    style.light_grid(axes, "y")
    axes.set_ylim(0, 1.08 * top)
    moved = [c for c in curves if c.dashes != DOTTED and any(low is not None for _, _, low, _ in c.points)]
    for curve in curves:
        place = moved.index(curve) - (len(moved) - 1) / 2 if curve in moved else 0.0
        _draw(axes, curve, place * ASIDE * (layers[-1] - layers[0]))
    labels = [(curve.label, curve.points[-1][1], curve.ink or curve.colour) for curve in curves if curve.label]
    style.label_ends(axes, labels, size, (layers[0], layers[-1]), room)
    needed = len(layers) * (TICK + DIGIT * len(str(layers[-1])))
    axes.set_xticks(layers[:: ceil(needed / (size[0] * (1 - room)))])
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.set_title(title, loc="left")
    look: dict[str, Any] = {"color": style.ink(style.GREY), "style": "italic"}
    if not curves:
        axes.text(0.5, 0.5, NOT_RUN, transform=axes.transAxes, ha="center", **look)
    elif absent:
        text = f"{NOT_RUN}: {', '.join(absent)}"
        letters = int(21 * size[0] - 1.6 * len(title))  # letters that fit beside the title
        axes.set_title(text, loc="right", fontsize=style.fitting(6.5, text, max(letters, 8)), **look)


def _draw(axes: Axes, curve: Curve, aside: float) -> None:
    layers, values, lows, highs = np.array(curve.points, dtype=float).T
    xs, width = layers + aside, WIDTHS[curve.dashes]
    line = {"marker": curve.marker, "linestyle": curve.dashes, "linewidth": width}
    axes.plot(xs, values, color=curve.colour, clip_on=False, **line)
    ends = style.reach(values, lows, highs)
    known = ~np.isnan(ends[0])
    down, up = ends[:, known]
    if known.any() and curve.dashes == DOTTED:
        edges = values[known] - down, values[known] + up
        axes.fill_between(xs[known], *edges, color=curve.colour, alpha=0.1, linewidth=0)
    elif known.any():
        look: dict[str, Any] = {"fmt": "none", "ecolor": curve.colour, "elinewidth": 0.8, "capsize": 1.5}
        axes.errorbar(xs[known], values[known], yerr=[down, up], **look)
