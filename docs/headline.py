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
from xling.report.evidence import mean
from xling.report.measured import Study, kept_share
from xling.report.names import DEFAULT, TASKS
from xling.report.records import Cell, Results, read_records
from xling.report.rule import Relation, Standing, Verdict, standing

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "results/reference/mini"
START, END = "<!-- made by python -m docs.headline -->", "<!-- end of what docs.headline makes -->"
OURS, ABOVE_CHANCE, PAPER = "this run, above the untrained encoder", "this run, above chance", "paper, above chance"
PAPER_TASKS = tuple(published.CHANCE)
SPREAD = 0.25  # of a row: how far the marks stand from each other


def languages_with_signal(ours: Study, task: str) -> list[str]:
    """Return the languages in which a task's Default is far enough above its floor."""
    found = [key for key in ours.cells if key[:2] == (DEFAULT, task)]
    return sorted(key[2] for key in found if ours.clear(*key))


def tasks_with_signal(ours: Study) -> list[str]:
    """Return the paper's tasks in which Default is far enough above its floor in some language."""
    return [task for task in PAPER_TASKS if languages_with_signal(ours, task)]


def mean_kept(study: Study, setting: str, task: str, languages: Sequence[str]) -> Standing | None:
    """Return the mean share of Default's transfer that a setting keeps in some languages; None where there are none."""
    if not languages or not all(study.has(setting, task, language) for language in languages):
        return None
    return standing(mean([kept_share(study, setting, task, x) for x in languages]), Relation.ABOVE, 0.0)


def draw(ours: Study, above_chance: Study, theirs: Study) -> Figure:
    """Return one panel per task: each setting's mean kept share, this run's beside the paper's.

    The paper's share can only be computed above chance, so ours above chance stands beside it.
    """
    names = [row.setting for row in published.settings() if row.setting != DEFAULT]
    colours = {row.setting: style.GROUP_COLOURS[row.group] for row in published.settings()}
    figure = style.new_figure(height=3.4)
    tasks = tasks_with_signal(ours)
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        languages = languages_with_signal(ours, task)
        axes.set_title(f"{TASKS[task]}: {', '.join(languages)}", loc="left")
        style.light_grid(axes, "x")
        axes.axvline(1, color=style.BLACK, linewidth=0.7, linestyle=(0, (4, 3)))
        for place, name in enumerate(names):
            pale = style.pale(colours[name])
            for step, (study, face) in enumerate(((ours, colours[name]), (above_chance, pale), (theirs, "white")), -1):
                _mark(axes, place + step * SPREAD, mean_kept(study, name, task, languages), colours[name], face)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    marks = [
        Line2D([], [], linestyle="", marker="o", color=style.BLACK, markerfacecolor=face, label=label)
        for label, face in ((OURS, style.BLACK), (ABOVE_CHANCE, style.pale(style.BLACK)), (PAPER, "white"))
    ]
    level = Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=(0, (4, 3)), label=DEFAULT)
    figure.legend(handles=[*marks, level], loc="outside upper center", ncols=4, frameon=False, fontsize=7)
    figure.supxlabel("share of Default's transfer that is kept, mean over languages", fontsize=8)
    return figure


def _mark(axes: Axes, place: float, kept: Standing | None, colour: str, face: str) -> None:
    if kept is None:
        return
    bars = [[kept.value - kept.low], [kept.high - kept.value]] if kept.high > kept.low else None
    look: dict[str, Any] = {"color": colour, "markerfacecolor": face, "elinewidth": 0.8, "capsize": 1.5}
    axes.errorbar(kept.value, place, xerr=bars, fmt="o", **look)


def without_signal(ours: Study) -> list[str]:
    """Return a sentence that names the tasks without enough signal, if there are any."""
    known = tasks_with_signal(ours)
    names = ", ".join(TASKS[task] for task in PAPER_TASKS if task not in known)
    return (
        [f"Not judged, because in no language Default is at least 5 points above the untrained encoder: {names}."]
        if names
        else []
    )


def verdicts(claims: Mapping[str, Any]) -> str:
    """Return the first sentence of the verdicts, and which claims have which."""
    names: dict[str, list[str]] = {}
    for claim in claims["claims"]:
        names.setdefault(claim["verdict"], []).append(claim["claim"])
    listed = [f"{verdict} {', '.join(names[verdict])}" for verdict in Verdict if verdict in names]
    return f"{claims['headline']} In detail: {'; '.join(listed)}."


def block(ours: Study, claims: Mapping[str, Any]) -> str:
    """Return the text from the first marker of the README to the second."""
    return "\n".join([START, verdicts(claims), *without_signal(ours), END])


def with_block(readme: str, made: str) -> str:
    """Return the README with a new text in place of the one between its markers."""
    before, rest = readme.split(START)
    return before + made + rest.split(END)[1]


def read_reference(folder: Path = REFERENCE) -> tuple[list[Study], dict[str, Any]]:
    """Return a reference run, the same above chance, and the paper; and the run's verdicts."""
    claims = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    cells = Results(figure3=tuple(read_records(folder / "records/figure3.csv", Cell)))
    return [Study(cells), Study(cells, chance=True), Study(published.results())], claims


def main() -> None:
    """Draw the figure and write the verdicts into the README."""
    studies, claims = read_reference()
    with style.styled():
        style.save_images(draw(*studies), ROOT / "docs", "headline", ["svg"])
    path = ROOT / "README.md"
    text = with_block(path.read_text(encoding="utf-8"), block(studies[0], claims))
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
