"""The front page's figure and verdicts: what the reference run found beside what the paper printed.

python -m docs.headline

Draws docs/headline.svg and writes the lines between the two markers of README.md, both from results/reference.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from xling.core.errors import run
from xling.core.io import atomic_path
from xling.report import published, style
from xling.report.cells import Cells
from xling.report.estimate import Estimate, mean
from xling.report.means import cell_means
from xling.report.names import DEFAULT, TASKS
from xling.report.records import Cell, read_records

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "results/reference/mini"
START, END = "<!-- made by python -m docs.headline -->", "<!-- end of what docs.headline makes -->"
OURS, PAPER = "this run", "paper"
PAPER_TASKS = tuple(published.CHANCE)
SPREAD = 0.17  # of a row: how far the two marks stand from its middle


def languages_with_signal(ours: Cells, task: str) -> list[str]:
    """Return the languages in which a task's Default is far enough above its floor."""
    found = {language for setting, known, language in ours.by_key if (setting, known) == (DEFAULT, task)}
    return sorted(language for language in found if ours.has_signal(task, language))


def tasks_with_signal(ours: Cells) -> list[str]:
    """Return the paper's tasks in which Default is far enough above its floor in some language."""
    return [task for task in PAPER_TASKS if languages_with_signal(ours, task)]


def mean_kept(cells: Cells, setting: str, task: str, languages: Sequence[str]) -> Estimate | None:
    """Return the mean share of Default's transfer that a setting keeps in some languages; None where there are none."""
    if not languages or not all(cells.has(setting, task, language) for language in languages):
        return None
    return mean([cells.kept(setting, task, language) for language in languages])


def draw(ours: Cells, theirs: Cells) -> Figure:
    """Return one panel per task: each setting's mean kept share, this run's beside the paper's."""
    names = [row.setting for row in published.settings() if row.setting != DEFAULT]
    colours = {row.setting: style.GROUP_COLOURS[row.group] for row in published.settings()}
    figure = style.new_figure(height=3.0)
    tasks = tasks_with_signal(ours)
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        languages = languages_with_signal(ours, task)
        axes.set_title(f"{TASKS[task]}: {', '.join(languages)}", loc="left")
        style.light_grid(axes, "x")
        axes.axvline(1, color=style.BLACK, linewidth=0.7, linestyle=(0, (4, 3)))
        for place, name in enumerate(names):
            _mark(axes, place + SPREAD, mean_kept(theirs, name, task, languages), colours[name], filled=False)
            _mark(axes, place - SPREAD, mean_kept(ours, name, task, languages), colours[name], filled=True)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    marks = [
        Line2D([], [], linestyle="", marker="o", color=style.BLACK, markerfacecolor=face, label=label)
        for label, face in ((OURS, style.BLACK), (PAPER, "white"))
    ]
    level = Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=(0, (4, 3)), label=DEFAULT)
    figure.legend(handles=[*marks, level], loc="outside upper center", ncols=3, frameon=False, fontsize=7)
    figure.supxlabel("share of Default's transfer that is kept, mean over languages", fontsize=8)
    return figure


def _mark(axes: Axes, place: float, kept: Estimate | None, colour: str, filled: bool) -> None:
    if kept is None:
        return
    reach = style.reach(kept.value, kept.low, kept.high)
    bars = None if reach is None else [[reach[0]], [reach[1]]]
    face = colour if filled else "white"
    axes.errorbar(
        kept.value, place, xerr=bars, fmt="o", color=colour, markerfacecolor=face, elinewidth=0.8, capsize=1.5
    )


def without_signal(ours: Cells) -> list[str]:
    """Return a sentence that names the tasks without enough signal, if there are any."""
    known = tasks_with_signal(ours)
    names = ", ".join(TASKS[task] for task in PAPER_TASKS if task not in known)
    return [f"Too little signal in every language: {names}."] if names else []


def verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence that lists the claims by verdict."""
    names: dict[str, list[str]] = {}
    for claim in claims:
        names.setdefault(claim["verdict"], []).append(claim["claim"])
    found = [f"{len(names[verdict])} {verdict} ({', '.join(names[verdict])})" for verdict in sorted(names, key=len)]
    return f"Verdicts on the paper's {len(claims)} claims: {'; '.join(found)}."


def block(ours: Cells, claims: Mapping[str, Any]) -> str:
    """Return the text from the first marker of the README to the second."""
    return "\n".join([START, verdicts(claims["claims"]), *without_signal(ours), END])


def with_block(readme: str, made: str) -> str:
    """Return the README with a new text in place of the one between its markers."""
    before, rest = readme.split(START)
    return before + made + rest.split(END)[1]


def read_reference(folder: Path = REFERENCE) -> tuple[Cells, Cells, dict[str, Any]]:
    """Return the cells of a reference run, those of the paper, and the run's verdicts."""
    claims = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    cells = cell_means(read_records(folder / "records/figure3.csv", Cell))
    return Cells(cells), Cells(published.table1().means), claims


def main() -> None:
    """Draw the figure and write the verdicts into the README."""
    ours, theirs, claims = read_reference()
    with style.styled():
        style.save_images(draw(ours, theirs), ROOT / "docs", "headline", ["svg"])
    path = ROOT / "README.md"
    text = with_block(path.read_text(encoding="utf-8"), block(ours, claims))
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
