"""Scores against layers: the panels of Figures 4b, 5, 6 and 8."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xling.report import style
from xling.report.direct_labels import Label, label_ends, room_for
from xling.report.names import NOT_RUN

MEASURED, UNTRAINED, REFERENCE = "-", (0, (4, 2)), (0, (1, 1.5))  # how a line is drawn says what it is
WIDTHS = {MEASURED: 1.4, UNTRAINED: 1.0, REFERENCE: 1.0}
TICK, DIGIT = 0.06, 0.07  # inches that the number of a layer needs, and each of its digits
ASIDE = 0.006  # of the axis: curves with intervals stand a little beside each other, so that all can be seen
DECORATION = (0.45, 0.42)  # inches that a panel's own labels take, across and down

Interval = tuple[float | None, float | None]


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


@dataclass(frozen=True)
class Panel:
    """One panel: its title, its curves, and the names of those that were not run."""

    title: str
    curves: tuple[Curve, ...]
    absent: tuple[str, ...] = ()


def level(label: str, value: float, layers: Sequence[int], colour: str, interval: Interval = (None, None)) -> Curve:
    """Return a level that holds at every layer, with the band of its interval where one is known."""
    ends = tuple(Point(layer, value, *interval) for layer in (layers[0], layers[-1]))
    return Curve(label, ends, colour, dashes=REFERENCE)


def points(records: Iterable[Any], value: str) -> tuple[Point, ...]:
    """Return the points of some records in the order of their layers."""
    made = [Point(record.layer, getattr(record, value), record.low, record.high) for record in records]
    return tuple(sorted(made, key=lambda point: point.layer))


def draw_grid(rows: Sequence[Sequence[Panel]], height: float, ylabels: Sequence[str], note: str) -> Figure:
    """Return a figure of panels, rows of the same measure with the same scale; height is a row's in inches."""
    columns = max(len(row) for row in rows)
    figure = style.new_figure(height=0.35 + height * len(rows))
    grid = figure.subplots(len(rows), columns, sharey="row", squeeze=False)
    size = (style.PAGE_WIDTH / columns - DECORATION[0], height - DECORATION[1])
    curves = [curve for row in rows for panel in row for curve in panel.curves]
    layers = sorted({point.layer for curve in curves for point in curve.points})
    room = room_for([_label(curve) for curve in curves], size[0])
    for row, line, ylabel in zip(rows, grid, ylabels, strict=True):
        top = max(_top(panel) for like, name in zip(rows, ylabels, strict=True) if name == ylabel for panel in like)
        for place, axes in enumerate(line):
            if place >= len(row):
                axes.set_axis_off()
                continue
            draw_panel(axes, row[place], layers, top, size, room)
        line[0].set_ylabel(ylabel)
    for axes in [axes for axes in grid.flat if axes.axison][-columns:]:
        axes.set_xlabel("layer (0: embeddings)")
    style.footnote(figure, note)
    return figure


def draw_panel(
    axes: Axes, panel: Panel, layers: Sequence[int], top: float, size: tuple[float, float], room: float
) -> None:
    """Draw one panel, every curve labelled where it ends."""
    style.light_grid(axes, "y")
    axes.set_ylim(0, 1.08 * top)
    for curve, aside in zip(panel.curves, _asides(panel.curves), strict=True):
        _draw(axes, curve, aside * (layers[-1] - layers[0]))
    labels = [_label(curve) for curve in panel.curves if curve.label]
    label_ends(axes, labels, size, (layers[0], layers[-1]), room)
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
    if known and curve.dashes == REFERENCE:
        edges = ([p.value - down for _, p, (down, _) in known], [p.value + up for _, p, (_, up) in known])
        axes.fill_between([x for x, _, _ in known], *edges, color=curve.colour, alpha=0.1, linewidth=0)
    elif known:
        bars = [[down for _, _, (down, _) in known], [up for _, _, (_, up) in known]]
        look: dict[str, Any] = {"fmt": "none", "ecolor": curve.colour, "elinewidth": 0.8, "capsize": 1.5}
        axes.errorbar([x for x, _, _ in known], [p.value for _, p, _ in known], yerr=bars, **look)


def _label(curve: Curve) -> Label:
    return Label(curve.label, curve.points[-1].value, curve.ink or curve.colour)


def _top(panel: Panel) -> float:
    values = [max(point.value, point.high or 0.0) for curve in panel.curves for point in curve.points]
    return max([*values, 1.0])
