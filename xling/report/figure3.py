"""Figure 3: transfer under each setting as bars, one panel for each task and pair.

python -m xling.report.figure3 --cells figure3.csv --out-dir figures
"""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from xling.core.errors import run
from xling.report import published, style
from xling.report.arguments import cells_parser, some_records
from xling.report.cells import Cells
from xling.report.names import DEFAULT, LANGUAGES, NOT_RUN, TASKS, in_order, task_title
from xling.report.record_files import read_records
from xling.report.records import Cell, Setting
from xling.report.table1 import with_unlisted

BAR = 0.72  # share of its row
ROW, PANEL, LEGEND = 0.165, 0.45, 0.45  # inches: a bar's row, what a panel needs besides, the legend
DASHES = (0, (4, 3))
Scores = Mapping[tuple[str, str, str], Cell]


def figure3(cells: Sequence[Cell], settings: Sequence[Setting]) -> Figure:
    """Return the figure: rows are tasks, columns are pairs, bars are settings from top to bottom as in Table 1."""
    scores = Cells(cells).by_key
    tasks = in_order((cell.task for cell in cells), TASKS)
    languages = in_order((cell.language for cell in cells), LANGUAGES)
    rows = with_unlisted(settings, scores)
    figure = style.new_figure(height=LEGEND + len(tasks) * (ROW * len(rows) + PANEL))
    panels = figure.subplots(len(tasks), len(languages), sharex="row", sharey=True, squeeze=False)
    for task, line in zip(tasks, panels, strict=True):
        top = max(_top(cell) for cell in cells if cell.task == task)
        for language, axes in zip(languages, line, strict=True):
            _bars(axes, [scores.get((row.setting, task, language)) for row in rows], rows, top)
            axes.set_title(f"{task_title(task)}, en-{language}", loc="left", fontsize=8)
    _legend(figure, rows)
    return figure


def _bars(axes: Axes, cells: Sequence[Cell | None], rows: Sequence[Setting], top: float) -> None:
    style.light_grid(axes, "x")
    for place, (cell, row) in enumerate(zip(cells, rows, strict=True)):
        if cell is not None:
            _bar(axes, place, cell, style.GROUP_COLOURS.get(row.group, style.PURPLE))
            if row.setting == DEFAULT:
                axes.axvline(cell.score, color=style.BLACK, linewidth=0.7, linestyle=DASHES, zorder=3)
        _number(axes, place, cell, 1.27 * top)
    axes.set_yticks(range(len(rows)), [row.setting for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1.27 * top)
    step = 20 if top > 40 else 5
    axes.set_xticks(range(0, int(top) + 1, step))  # none under the numbers at the right edge
    axes.tick_params(axis="y", length=0)


def _bar(axes: Axes, place: int, cell: Cell, colour: str) -> None:
    axes.barh(place, cell.score, BAR, color=style.pale(colour))
    axes.barh(place, max(cell.score - cell.floor, 0.0), BAR, left=cell.floor, color=colour)
    error = style.reach(cell.score, cell.low, cell.high)
    if error is not None:
        errors = [[error[0]], [error[1]]]
        axes.errorbar(cell.score, place, xerr=errors, color=style.BLACK, elinewidth=0.8, capsize=1.5, capthick=0.8)


def _number(axes: Axes, place: int, cell: Cell | None, edge: float) -> None:
    if cell is None:
        axes.text(edge, place, NOT_RUN, ha="right", va="center", fontsize=6.5, color=style.GREY, style="italic")
    else:
        axes.text(edge, place, f"{cell.score:.1f}", ha="right", va="center", fontsize=6.5)


def _top(cell: Cell) -> float:
    return max(cell.score, cell.high or 0.0)


def _legend(figure: Figure, rows: Sequence[Setting]) -> None:
    groups = list(dict.fromkeys(row.group for row in rows))
    handles: list[Artist] = [
        Patch(color=style.GROUP_COLOURS.get(group, style.PURPLE), label=group or DEFAULT) for group in groups
    ]
    handles.append(Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=DASHES, label="level of Default"))
    handles.append(Patch(color=style.LIGHT, label="pale: floor (untrained encoder, or chance)"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=7)


def main() -> None:
    """Draw Figure 3 of a study."""
    args = cells_parser(__doc__).parse_args()
    cells = some_records(args.cells, Cell)
    settings = read_records(args.settings, Setting) if args.settings else published.settings()
    with style.styled():
        style.save_figure(figure3(cells, settings), args.out_dir, "figure3", cells)


if __name__ == "__main__":
    run(main)
