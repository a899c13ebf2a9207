"""When does transfer emerge? Zero-shot scores against the number of training updates.

A study of this question contains several copies of a setting that differ only in `train.updates`; the first copy in the
config gives the panel its name. Each number of updates is a separate training run with its own learning-rate decay.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from matplotlib.figure import Figure

from xling.core.errors import XlingError
from xling.report.figures.study import Sharing, Study
from xling.report.figures.training import Measure, draw_settings
from xling.report.names import TASKS, in_order, task_title
from xling.report.records import Cell

NOTE = "Each mark is a model that was trained for this many updates. Pale: Default, same pair."
APART = 0.28  # minimum distance of labels as a share of the axis


class Point(NamedTuple):
    """One score of a model; the score of the untrained encoder has 0 updates."""

    setting: str
    task: str
    language: str
    seed: int | None
    updates: int
    score: float


def families(settings: Iterable[Sharing]) -> dict[str, list[Sharing]]:
    """Group the settings that differ only in their number of updates, by the name of the first."""
    found: dict[Sharing, list[Sharing]] = {}
    for own in settings:
        found.setdefault(replace(own, name="", label="", group="", updates=0), []).append(own)
    return {members[0].name: members for members in found.values()}


def points(cells: Sequence[Cell], study: Study) -> list[Point]:
    """Return the scores of all settings with several numbers of updates, and of their untrained encoders."""
    several = {name: own for name, own in families(study.settings).items() if len(own) > 1}
    known = {own.label: (name, own.updates) for name, members in several.items() for own in members}
    scores = {(cell.setting, cell.task, cell.language, cell.seed): cell.score for cell in cells}
    found = set()
    for cell in cells:
        if cell.setting in known:
            name, updates = known[cell.setting]
            where = (cell.task, cell.language, cell.seed)
            found.add(Point(name, *where, updates, cell.score))
            if (floor := scores.get((cell.floor, *where))) is not None:
                found.add(Point(name, *where, 0, floor))
    order = list(several)
    return sorted(found, key=lambda x: (order.index(x.setting), x.task, x.language, x.seed or 0, x.updates))


def place(updates: int, shortest: int) -> float:
    """Return the axis position of a number of updates: one step from 0 to the shortest, then one step per doubling."""
    return 1 + math.log2(updates / shortest) if updates else 0.0


def labelled(lengths: Sequence[int]) -> dict[str, float]:
    """Return the tick labels and their positions: 0, the longest, and those that are far enough from other labels."""
    found, last = {"0": 0.0}, place(lengths[-1], lengths[0])
    for length in (lengths[-1], *lengths[:-1]):
        if all(abs(place(length, lengths[0]) - other) >= APART * last for other in found.values()):
            found[f"{length / 1000:.0f}k" if length >= 1000 else str(length)] = place(length, lengths[0])
    return found


def updates(records: Sequence[Cell], study: Study) -> tuple[Figure, list[Point]]:
    """Return a block of panels per task, with a panel per setting and a line per language and seed, and the points."""
    shown = points(records, study)
    lengths = sorted({point.updates for point in shown} - {0})
    if not lengths:
        raise XlingError("no setting of the study was trained for several numbers of updates: nothing to draw")
    lines: dict[str, dict[str, dict[float, float]]] = {}
    for point in shown:
        model = f"{study.source}-{point.language}.{point.setting}.s{point.seed}"
        lines.setdefault(point.task, {}).setdefault(model, {})[place(point.updates, lengths[0])] = point.score
    measures = [Measure(task_title(task), lines[task]) for task in in_order(lines, TASKS)]
    named = replace(study, settings=tuple(first for first, *_ in families(study.settings).values()))
    figure, ticks = draw_settings(measures, named, NOTE), labelled(lengths)
    for axes in figure.axes:
        axes.set_xticks([*ticks.values()], [*ticks])
    return figure, shown
