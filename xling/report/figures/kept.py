"""The headline figure of a study: the share of Default's transfer that each setting keeps, and the paper's shares."""

from collections import namedtuple
from collections.abc import Sequence
from itertools import product
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from xling.report import published, style
from xling.report.measured import SIGNAL, Study, kept_share
from xling.report.names import DEFAULT, LANGUAGES, TASKS, in_order
from xling.report.records import Cell, Results, Setting
from xling.report.rule import Relation, standing
from xling.report.table1 import with_unlisted
from xling.report.value import mean

SERIES = ("this run, above the untrained encoder", "this run, above chance", "paper, above chance")
LABEL = "share of Default's transfer that is kept, mean over languages"
LEFT_OUT = f"left out, Default less than {SIGNAL:g} points above its floor: "
NO_SIGNAL = f"In no task and language is Default at least {SIGNAL:g} points above its floor: no share can be given."
SPREAD = 0.25  # distance between marks as a share of a row
WIDTH, ROW, PANEL, AROUND = 3.5, 0.165, 0.42, 1.35  # inches: figure width, a row, the rest of a panel and of the figure
# A mark of the figure: the mean share that a setting keeps in the languages with signal.
Kept = namedtuple("Kept", "task languages setting series kept low high")


def languages_with_signal(ours: Study) -> dict[str, list[str]]:
    """Return for each task the languages in which Default has signal; tasks without such languages are left out."""
    found: dict[str, list[str]] = {task: [] for task in in_order({task for _, task, _ in ours.cells}, TASKS)}
    for setting, task, language in ours.cells:
        if setting == DEFAULT and ours.clear(setting, task, language):
            found[task].append(language)
    return {task: in_order(own, LANGUAGES) for task, own in found.items() if own}


def without_signal(ours: Study) -> str:
    """Return a line that names the tasks and languages in which Default has no signal, empty if there are none."""
    clear = languages_with_signal(ours)
    left: dict[str, list[str]] = {}
    for setting, task, language in ours.cells:
        if setting == DEFAULT and language not in clear.get(task, []):
            left.setdefault(task, []).append(language)
    parts = [f"{TASKS.get(task, task)} {' '.join(in_order(left[task], LANGUAGES))}" for task in in_order(left, TASKS)]
    return LEFT_OUT + "; ".join(parts) if parts else ""


def kept_shares(beside: Sequence[Study], names: Sequence[str]) -> list[Kept]:
    """Return a mark for each task with signal, setting and series: a mean over the languages that the setting has here.

    `beside` has the study of each of SERIES. All series are averaged over the same languages, so a setting that was run
    in one language is compared in that one.
    """
    marks = []
    for task, clear in languages_with_signal(beside[0]).items():
        for setting, (series, study) in product(names, zip(SERIES, beside, strict=True)):
            languages = [x for x in clear if beside[0].has(setting, task, x)]
            if languages and all(study.has(name, task, x) for x in languages for name in (setting, DEFAULT)):
                shares = mean([kept_share(study, setting, task, x) for x in languages])
                own = standing(shares, Relation.ABOVE, 0.0)
                marks.append(Kept(task, " ".join(languages), setting, series, own.value, own.low, own.high))
    return marks


def kept(records: Sequence[Cell], settings: Sequence[Setting], across: bool = False) -> tuple[Figure, list[Kept]]:
    """Return a figure with one panel per task, below each other or (`across`) side by side, and its marks.

    The paper's share can only be computed above chance, so our share above chance is shown for comparison.
    """
    own = Results(figure3=tuple(records))
    beside = [Study(own), Study(own, chance=True), Study(published.results())]
    floors = {cell.floor for cell in records}
    rows = [row for row in with_unlisted(settings, beside[0].cells) if row.setting not in {DEFAULT, *floors}]
    marks = kept_shares(beside, [row.setting for row in rows])
    rows = [row for row in rows if any(mark.setting == row.setting for mark in marks)]
    tasks = list(dict.fromkeys(mark.task for mark in marks))
    high = AROUND + (1 if across else len(tasks)) * (PANEL + ROW * len(rows)) if marks else 1.0
    figure = style.new_figure(style.PAGE_WIDTH if across else WIDTH, high)
    if not marks:
        figure.text(0.5, 0.5, NO_SIGNAL, fontsize=7, **style.CENTRED)
        return figure, marks
    shape = (1, len(tasks)) if across else (len(tasks), 1)
    panels = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False).flat
    for task, axes in zip(tasks, panels, strict=True):
        _panel(axes, [mark for mark in marks if mark.task == task], rows)
    faces = (style.BLACK, style.pale(style.BLACK), "white")
    shown = [
        Line2D([], [], linestyle="", marker="o", color=style.BLACK, markerfacecolor=face, label=label)
        for label, face in zip(SERIES, faces, strict=True)
        if any(mark.series == label for mark in marks)
    ]
    level = Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=style.DASHES, label=DEFAULT)
    columns = 4 if across else 1
    figure.legend(handles=[*shown, level], loc="outside upper center", ncols=columns, frameon=False, fontsize=7)
    around = int(18 * figure.get_figwidth())  # letters that fit in a line
    figure.supxlabel("\n".join(wrap(LABEL, around) + wrap(without_signal(beside[0]), around)), fontsize=7)
    return figure, marks


def _panel(axes: Axes, marks: Sequence[Kept], rows: Sequence[Setting]) -> None:
    found = dict.fromkeys(mark.languages for mark in marks)
    every = in_order({x for some in found for x in some.split()}, LANGUAGES)
    partly = " (each setting where it was run)" if len(found) > 1 else ""
    axes.set_title(f"{TASKS.get(marks[0].task, marks[0].task)}: {', '.join(every)}{partly}", loc="left")
    style.light_grid(axes, "x")
    axes.axvline(1, color=style.BLACK, linewidth=0.7, linestyle=style.DASHES)
    axes.axvline(0, color=style.BLACK, linewidth=0.7, linestyle=style.DOTTED)
    axes.tick_params(labelbottom=True)
    places = {row.setting: (place, style.group_colour(row.group)) for place, row in enumerate(rows)}
    for mark in marks:
        place, colour = places[mark.setting]
        step = SERIES.index(mark.series)
        bars = style.reach(mark.kept, mark.low, mark.high) if mark.high > mark.low else None
        face = (colour, style.pale(colour), "white")[step]
        look: dict[str, Any] = {"color": colour, "markerfacecolor": face, "elinewidth": 0.8, "capsize": 1.5}
        axes.errorbar(mark.kept, place + (step - 1) * SPREAD, xerr=bars, fmt="o", markersize=3.5, **look)
    axes.set_yticks(range(len(rows)), [row.setting for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
