"""Small multiples of a study: a panel a setting, a line a model in the colour of its other language."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xling.report import style
from xling.report.direct_labels import Label, label_ends
from xling.report.model_curves import update_ticks
from xling.report.names import DEFAULT, in_order, pair_title
from xling.report.study_file import ModelName, StudyFile

COLUMNS = (5, 4)
HEIGHT, DECORATION = 1.45, (0.35, 0.45)  # inches: a panel, and what its own labels take
LETTERS = 18  # of a title to the inch
BASELINE = (0, (1, 1.5))


@dataclass(frozen=True)
class Line:
    """A model and its values by update."""

    model: ModelName
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Measure:
    """A block of panels: what is measured, its lines, and the level to compare with, where there is one."""

    title: str
    lines: tuple[Line, ...]
    level: float | None = None


def draw_settings(measures: Sequence[Measure], study: StudyFile, note: str) -> Figure:
    """Return blocks of panels, one block a measure, with all settings that have a line."""
    found = {line.model.setting for measure in measures for line in measure.lines}
    names = in_order(found, study.order())
    columns = min(COLUMNS, key=lambda number: -len(names) % number)
    rows = -(-len(names) // columns)
    figure = style.new_figure(height=len(measures) * (rows * HEIGHT + 0.25) + 0.45)
    parts = figure.subfigures(len(measures), 1, squeeze=False)[:, 0]
    size = (style.PAGE_WIDTH / columns - DECORATION[0], HEIGHT - DECORATION[1])
    for part, measure in zip(parts, measures, strict=True):
        grid = part.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for setting, axes in zip(names, grid.flat, strict=False):
            _panel(axes, setting, measure, study, size)
        for axes in list(grid.flat)[len(names) :]:
            axes.set_axis_off()
        for axes in list(grid.flat)[len(names) - columns : len(names)]:
            axes.tick_params(labelbottom=True)
        part.suptitle(measure.title, x=0.01, ha="left", fontsize=8, fontweight="bold")
    style.footnote(
        figure, f"{note}\nAcross: updates. Open marker: before training. {not_run(study, measures[0].lines)}"
    )
    return figure


def not_run(study: StudyFile, lines: Sequence[Line]) -> str:
    """Say which crossings of Table 1 have no line, by language."""
    run = {(line.model.languages, line.model.setting) for line in lines}
    texts = []
    for pair in study.pairs:
        absent = [known.label for known in study.settings if (tuple(pair.split("-")), known.name) not in run]
        if absent:
            texts.append(f"{pair}: {', '.join(absent)}")
    return f"Not run: {'; '.join(texts)}." if texts else ""


def _panel(axes: Axes, setting: str, measure: Measure, study: StudyFile, size: tuple[float, float]) -> None:
    style.light_grid(axes, "y")
    highest = max(value for line in measure.lines for _, value in line.points if math.isfinite(value))
    axes.set_ylim(0, 1.08 * max(highest, measure.level or 0))
    if measure.level is not None:
        axes.axhline(measure.level, color=style.GREY, linestyle=BASELINE, linewidth=1)
    here = [line for line in measure.lines if line.model.setting == setting]
    codes = sorted({study.written(line.model.language) for line in measure.lines})
    labels: dict[str, Label] = {}
    for line in [*_for_comparison(here, measure.lines, study), *here]:
        code = study.written(line.model.language)
        colour, marker = style.language_look(code, codes)
        xs, ys = zip(*line.points, strict=True)
        if line not in here:
            axes.plot(xs, ys, color=style.pale(colour), linewidth=1, zorder=1)
            continue
        axes.plot(xs, ys, color=colour, marker=marker, markersize=2.5, linewidth=1)
        axes.plot(xs[0], ys[0], color=colour, marker=marker, markersize=3, markerfacecolor="white")
        labels[code] = Label(pair_title(code), ys[-1], colour)
    updates = [update for line in measure.lines for update, _ in line.points]
    label_ends(axes, list(labels.values()), size, (0, max(*updates, 1)))
    update_ticks(axes, max(updates), 3)
    label = study.label(setting)
    axes.set_title(label, loc="left", fontsize=style.fitting(7.5, label, int(size[0] * LETTERS)))


def _for_comparison(here: Sequence[Line], lines: Sequence[Line], study: StudyFile) -> list[Line]:
    """Return Default's lines of the same pairs."""
    pairs = {line.model.languages for line in here}
    return [line for line in lines if study.label(line.model.setting) == DEFAULT and line.model.languages in pairs]
