"""Scores against layers: Figures 4b, 5, 6 and 8, and comparisons of published encoders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report import style
from xling.report.figures.labels import Label, label_ends, room_for
from xling.report.means import ContextualMean, SentenceMean, WordMean
from xling.report.names import LANGUAGES, NOT_RUN, TASKS, in_order, task_title
from xling.report.records import (
    BERT,
    BI_MLM,
    BI_MLM_ALIGN,
    FASTTEXT,
    MLM_ALIGN,
    MONOLINGUAL,
    UNTRAINED,
)

MEASURED, DASHED, DOTTED = "-", (0, (4, 2)), (0, (1, 1.5))  # what was measured; untrained encoders; levels
WIDTHS = {MEASURED: 1.4, DASHED: 1.0, DOTTED: 1.0}
TICK, DIGIT = 0.06, 0.07  # inches that the number of a layer needs, and each of its digits
ASIDE = 0.006  # of the axis: curves with intervals stand a little beside each other, so that all can be seen
DECORATION = (0.45, 0.42)  # inches that a panel's own labels take, across and down

WORD_COLUMNS = 2
WORD_NOTE = "Dashed: the untrained encoder. Dotted: fastText on the same words, with its interval, and chance."
SERIES = {"figure5": (MLM_ALIGN, BI_MLM), "figure8": (BI_MLM_ALIGN, BI_MLM)}
SERIES_MARKERS = {MLM_ALIGN: "s", BI_MLM: "o", BI_MLM_ALIGN: "^"}
SERIES_NOTE = (
    "Dashed: the untrained encoder, its task layers trained in the same way; in a series' colour where they differ."
)
LASER = 95.0  # section 5.1.3: "over 95%, obtained by LASER" on Tatoeba; a bound from the text, no measurement of ours
DIRECTIONS = {"en-x": "English to other language", "x-en": "Other language to English"}
SENTENCE_NOTE = "Solid: monolingual encoders. Dashed, same colour: untrained encoders. Dotted: chance."
LASER_NOTE = " LASER: the level that the paper's text gives; not run here."
ENCODER_COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.BLACK)
ENCODER_MARKERS = ("o", "^", "D", "s", "v", "P", "X")
ENCODER_NOTE = (
    "Layers of the first encoder of a comparison (0: embeddings), the second one's at the same depth. "
    "Below: solid after an orthogonal map, dashed without one (none where the widths differ). Dotted: chance."
)


@dataclass(frozen=True)
class Point:
    """A score at a layer, with its interval where one is known."""

    layer: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A line of a panel: its name, look and points."""

    label: str
    points: tuple[Point, ...]
    colour: str
    marker: str = ""
    dashes: Any = MEASURED
    ink: str = ""  # of the label, where it is not the line's colour

    @property
    def end(self) -> Label:
        """The label at the curve's end."""
        return Label(self.label, self.points[-1].value, self.ink or self.colour)


@dataclass(frozen=True)
class Panel:
    """One panel: its title, its curves, and the names of those that were not run."""

    title: str
    curves: tuple[Curve, ...]
    absent: tuple[str, ...] = ()

    @property
    def top(self) -> float:
        """The highest value or end of an interval."""
        return max([*(max(p.value, p.high or 0.0) for curve in self.curves for p in curve.points), 1.0])


@dataclass(frozen=True)
class EncoderLayer:
    """Two layers at the same depth of a comparison: CKA, and how many percent of the sentences are found."""

    KEY: ClassVar = ("comparison", "layer")
    comparison: str
    layer: int
    right_layer: int
    cka: float
    plain: float | None
    mapped: float
    chance: float


def figure4b(scores: Sequence[WordMean]) -> Figure:
    """Return Figure 4b: translation of words by their mean contextual vectors, one panel per language."""
    layers = sorted({score.layer for score in scores if score.layer is not None}) or [0, 1]
    panels = []
    for language in in_order((score.language for score in scores), LANGUAGES):
        here = [score for score in scores if score.language == language]
        of = {name: [score for score in here if score.vectors == name] for name in (BERT, FASTTEXT, UNTRAINED)}
        curves = []
        for name, dashes, marker in ((BERT, MEASURED, "o"), (UNTRAINED, DASHED, "")):
            if found := points([score for score in of[name] if score.layer is not None], "p1"):
                curves.append(Curve(name, found, style.MODEL_COLOURS[name], marker, dashes))
        curves += [level(FASTTEXT, x.p1, layers, style.MODEL_COLOURS[FASTTEXT], x.low, x.high) for x in of[FASTTEXT]]
        curves.append(level("chance", max(score.chance for score in here), layers, style.GREY))
        panels.append(Panel(f"en-{language}", tuple(curves), tuple(name for name in of if not of[name])))
    rows = [panels[start : start + WORD_COLUMNS] for start in range(0, len(panels), WORD_COLUMNS)]
    return draw_grid(rows, 2.1, ["P@1 (%)"] * len(rows), WORD_NOTE)


def contextual_figure(scores: Sequence[ContextualMean], series: Sequence[str]) -> Figure:
    """Return Figure 5 or 8, which differ in their series: transfer through the first layers, by task and language."""
    tasks = in_order((score.task for score in scores), TASKS)
    languages = in_order((score.language for score in scores), LANGUAGES)
    rows = [[_contextual_panel(scores, task, language, series) for language in languages] for task in tasks]
    return draw_grid(rows, 2.2, [task_title(task) for task in tasks], SERIES_NOTE)


def _contextual_panel(scores: Sequence[ContextualMean], task: str, language: str, series: Sequence[str]) -> Panel:
    here = [score for score in scores if (score.task, score.language) == (task, language)]
    of = {name: [score for score in here if score.series == name] for name in series}
    found = {name: own for name, own in of.items() if own}
    curves = [
        Curve(name, points(own, "score"), style.MODEL_COLOURS[name], SERIES_MARKERS[name])
        for name, own in found.items()
    ]
    # The interval of a record belongs to its score, not to its floor.
    floors = {name: tuple(Point(p.layer, p.value) for p in points(own, "floor")) for name, own in found.items()}
    if len(set(floors.values())) == 1:
        curves.append(Curve(UNTRAINED, next(iter(floors.values())), style.GREY, dashes=DASHED))
    else:
        curves += [Curve(UNTRAINED, line, style.MODEL_COLOURS[name], dashes=DASHED) for name, line in floors.items()]
    return Panel(f"en-{language}", tuple(curves), tuple(name for name in of if name not in found))


def figure6(scores: Sequence[SentenceMean], laser: bool = False) -> Figure:
    """Return Figure 6: sentence retrieval after mapping, one panel per direction; LASER's level on request."""
    panels = [_direction(scores, direction, laser) for direction in DIRECTIONS]
    return draw_grid([panels], 3.0, ["sentence retrieval, P@1 (%)"], SENTENCE_NOTE + (LASER_NOTE if laser else ""))


def _direction(scores: Sequence[SentenceMean], direction: str, laser: bool) -> Panel:
    layers = sorted({score.layer for score in scores})
    here = [score for score in scores if score.direction == direction]
    languages = in_order((score.language for score in scores), LANGUAGES)
    curves = []
    for language in languages:
        colour, marker = style.language_look(language, languages)
        named = UNTRAINED if language == languages[-1] else ""  # one label for all of them
        for model, label, mark, dashes in (
            (MONOLINGUAL, f"en-{language}", marker, MEASURED),
            (UNTRAINED, named, "", DASHED),
        ):
            if found := points([x for x in here if (x.language, x.model) == (language, model)], "p1"):
                curves.append(Curve(label, found, colour, mark, dashes, style.GREY if model == UNTRAINED else ""))
    if here:
        curves.append(level("chance", max(score.chance for score in here), layers, style.GREY))
    if laser and here:
        curves.append(level("LASER: over 95", LASER, layers, style.BLACK))
    run = {(score.model, score.language) for score in here}
    absent = []
    for model in (MONOLINGUAL, UNTRAINED):
        lacking = [language for language in languages if (model, language) not in run]
        absent += [model] if lacking == languages else [f"en-{language} {model}" for language in lacking]
    return Panel(DIRECTIONS[direction], tuple(curves), tuple(absent))


def read_comparison(name: str, path: Path) -> list[EncoderLayer]:
    """Return the layers of a comparison that `xling compare` wrote; shares become percent."""
    result = read_json(path)
    if not isinstance(result, dict) or not {"layers", "chance"} <= set(result):
        raise InputError(path, "no result of `xling compare`")
    return [_encoder_layer(name, row, result["chance"]) for row in result["layers"]]


def _encoder_layer(name: str, row: Mapping[str, Any], chance: float) -> EncoderLayer:
    plain = None if row["plain"] is None else 100 * row["plain"]
    return EncoderLayer(name, row["left"], row["right"], row["cka"], plain, 100 * row["mapped"], 100 * chance)


def encoder_curves(records: Sequence[EncoderLayer]) -> Figure:
    """Return CKA above and retrieval below, one colour per comparison.

    Encoders differ in how many layers they have: a curve follows those of the first one.
    """
    layers = sorted({record.layer for record in records})
    chance = level("chance", max(record.chance for record in records), layers, style.GREY)
    similar = Panel("similarity", tuple(_encoders(records, "cka")))
    found = (*_encoders(records, "mapped"), *_encoders(records, "plain", DASHED), chance)
    return draw_grid([[similar], [Panel("sentence retrieval", found)]], 2.6, ["linear CKA", "P@1 (%)"], ENCODER_NOTE)


def _encoders(records: Sequence[EncoderLayer], value: str, dashes: Any = MEASURED) -> Iterator[Curve]:
    names = dict.fromkeys(record.comparison for record in records)
    for name, colour, marker in zip(names, cycle(ENCODER_COLOURS), cycle(ENCODER_MARKERS), strict=False):
        own = [record for record in records if record.comparison == name]
        known = tuple(Point(record.layer, y) for record in own if (y := getattr(record, value)) is not None)
        if known and dashes == MEASURED:
            yield Curve(name, known, colour, marker)
        elif known:
            yield Curve("", known, colour, dashes=dashes)


def level(
    label: str, value: float, layers: Sequence[int], colour: str, low: float | None = None, high: float | None = None
) -> Curve:
    """Return a level that holds at every layer, with the band of its interval where one is known."""
    ends = tuple(Point(layer, value, low, high) for layer in (layers[0], layers[-1]))
    return Curve(label, ends, colour, dashes=DOTTED)


def points(records: Iterable[Any], value: str) -> tuple[Point, ...]:
    """Return the points of some records in the order of their layers."""
    made = [Point(record.layer, getattr(record, value), record.low, record.high) for record in records]
    return tuple(sorted(made, key=lambda point: point.layer))


def draw_grid(rows: Sequence[Sequence[Panel]], height: float, ylabels: Sequence[str], note: str) -> Figure:
    """Return a figure of panels; rows of one measure have one scale, and each is `height` inches high."""
    columns = max(len(row) for row in rows)
    figure = style.new_figure(height=0.35 + height * len(rows))
    grid = figure.subplots(len(rows), columns, sharey="row", squeeze=False)
    size = (style.PAGE_WIDTH / columns - DECORATION[0], height - DECORATION[1])
    curves = [curve for row in rows for panel in row for curve in panel.curves]
    layers = sorted({point.layer for curve in curves for point in curve.points})
    room = room_for([curve.end for curve in curves], size[0])
    for row, line, ylabel in zip(rows, grid, ylabels, strict=True):
        top = max(panel.top for like, name in zip(rows, ylabels, strict=True) if name == ylabel for panel in like)
        for place, axes in enumerate(line):
            if place < len(row):
                _draw_panel(axes, row[place], layers, top, size, room)
            else:
                axes.set_axis_off()
        line[0].set_ylabel(ylabel)
    for axes in [axes for axes in grid.flat if axes.axison][-columns:]:
        axes.set_xlabel("layer (0: embeddings)")
    style.footnote(figure, note)
    return figure


def _draw_panel(axes: Axes, panel: Panel, layers: Sequence[int], top: float, size: style.Size, room: float) -> None:
    style.light_grid(axes, "y")
    axes.set_ylim(0, 1.08 * top)
    for curve, aside in zip(panel.curves, _asides(panel.curves), strict=True):
        _draw(axes, curve, aside * (layers[-1] - layers[0]))
    label_ends(axes, [curve.end for curve in panel.curves if curve.label], size, (layers[0], layers[-1]), room)
    needed = len(layers) * (TICK + DIGIT * len(str(layers[-1])))
    axes.set_xticks(layers[:: ceil(needed / (size[0] * (1 - room)))])
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.set_title(panel.title, loc="left")
    if not panel.curves:
        axes.text(0.5, 0.5, NOT_RUN, transform=axes.transAxes, ha="center", color=style.ink(style.GREY), style="italic")
    elif panel.absent:
        text = f"{NOT_RUN}: {', '.join(panel.absent)}"
        letters = int(21 * size[0] - 1.6 * len(panel.title))  # what the title leaves
        small = style.fitting(6.5, text, max(letters, 8))
        axes.set_title(text, loc="right", fontsize=small, color=style.ink(style.GREY), style="italic")


def _asides(curves: Sequence[Curve]) -> list[float]:
    """Return how far each curve is moved, as a share of the axis: levels and curves without intervals stay."""
    moved = [curve for curve in curves if curve.dashes == MEASURED and any(p.low is not None for p in curve.points)]
    places = {id(curve): (place - (len(moved) - 1) / 2) * ASIDE for place, curve in enumerate(moved)}
    return [places.get(id(curve), 0.0) for curve in curves]


def _draw(axes: Axes, curve: Curve, aside: float) -> None:
    xs, ys = [point.layer + aside for point in curve.points], [point.value for point in curve.points]
    width = WIDTHS[curve.dashes]
    axes.plot(xs, ys, color=curve.colour, marker=curve.marker, linestyle=curve.dashes, linewidth=width, clip_on=False)
    known = [(x, p, e) for x, p in zip(xs, curve.points, strict=True) if (e := style.reach(p.value, p.low, p.high))]
    if known and curve.dashes == DOTTED:
        edges = ([p.value - down for _, p, (down, _) in known], [p.value + up for _, p, (_, up) in known])
        axes.fill_between([x for x, _, _ in known], *edges, color=curve.colour, alpha=0.1, linewidth=0)
    elif known:
        bars = [[down for _, _, (down, _) in known], [up for _, _, (_, up) in known]]
        look: dict[str, Any] = {"fmt": "none", "ecolor": curve.colour, "elinewidth": 0.8, "capsize": 1.5}
        axes.errorbar([x for x, _, _ in known], [p.value for _, p, _ in known], yerr=bars, **look)
