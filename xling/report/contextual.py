"""The panels of Figures 5 and 8: transfer through the first layers of an encoder, by task and language."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from xling.report import style
from xling.report.layer_curves import UNTRAINED as DASHED
from xling.report.layer_curves import Curve, Panel, Point, draw_grid, points
from xling.report.names import LANGUAGES, TASKS, in_order, task_title
from xling.report.records import ContextualScore

MARKERS = {"MLM align": "s", "biMLM": "o", "biMLM align": "^"}
NOTE = "Dashed: the untrained encoder, its task layers trained in the same way; in a series' colour where they differ."


def contextual_figure(scores: Sequence[ContextualScore], series: Sequence[str]) -> Figure:
    """Return the figure: rows are tasks, columns are pairs, lines are the series."""
    tasks = in_order((score.task for score in scores), TASKS)
    languages = in_order((score.language for score in scores), LANGUAGES)
    rows = [[_panel(scores, task, language, series) for language in languages] for task in tasks]
    return draw_grid(rows, 2.2, [task_title(task) for task in tasks], NOTE)


def _panel(scores: Sequence[ContextualScore], task: str, language: str, series: Sequence[str]) -> Panel:
    here = [score for score in scores if (score.task, score.language) == (task, language)]
    of = {name: [score for score in here if score.series == name] for name in series}
    curves = [
        Curve(name, points(found, "score"), style.MODEL_COLOURS[name], MARKERS[name])
        for name, found in of.items()
        if found
    ]
    absent = tuple(name for name, found in of.items() if not found)
    return Panel(f"en-{language}", (*curves, *_floors(of)), absent)


def _floors(of: dict[str, list[ContextualScore]]) -> list[Curve]:
    """Return the untrained encoder's scores: one line where all series have the same, else one a series."""
    lines = {
        name: tuple(Point(point.layer, point.value) for point in points(_without_interval(found), "floor"))
        for name, found in of.items()
        if found
    }
    if len(set(lines.values())) == 1:
        return [Curve("untrained", next(iter(lines.values())), style.GREY, dashes=DASHED)]
    return [Curve("untrained", line, style.MODEL_COLOURS[name], dashes=DASHED) for name, line in lines.items()]


def _without_interval(scores: Sequence[ContextualScore]) -> list[ContextualScore]:
    """An interval belongs to the score, not to its floor."""
    return [replace(score, low=None, high=None) for score in scores]
