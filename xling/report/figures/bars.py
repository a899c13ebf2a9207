"""Bar charts: Figure 3 (transfer in each setting), Figure 4a (words without context) and the audit of anchors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report import style
from xling.report.figures.study import Study, model_name, split_name
from xling.report.means import CellMean, WordMean, by_key, cell_means, word_means
from xling.report.models import BERT, FASTTEXT, UNTRAINED
from xling.report.names import DEFAULT, LANGUAGES, NOT_RUN, PAIRS, TASKS, in_order, pair_title, task_title
from xling.report.records import Cell, Setting, WordScore
from xling.report.table1 import with_unlisted

BAR3, ROW3, PANEL3, LEGEND3 = 0.72, 0.165, 0.45, 0.45  # share of a row; inches: a row, rest of a panel, legend
VECTORS = {BERT: "BERT: embedding matrix", FASTTEXT: "fastText, same words", UNTRAINED: "untrained embeddings"}
BAR4A = 0.26  # bar width as a share of the space of a language
ANCHOR_BAR, ANCHOR_ROW = 0.36, 0.24  # bar width as a share of a row; row height in inches
ANCHOR_NOTE = (
    "An anchor is a subword that both languages use and look up in the same embedding. Beside the bars: how many "
    "different anchors there are."
)
LEGEND: dict[str, Any] = {"loc": "outside lower center", "frameon": False, "fontsize": 7}
Anchors = dict[str, Any]  # the share of a language's training text whose subwords are anchors, with counts


def figure3(records: Sequence[Cell], settings: Sequence[Setting]) -> tuple[Figure, list[CellMean]]:
    """Return Figure 3 and its cells: rows are tasks, columns are pairs, bars are settings in the order of Table 1."""
    cells = cell_means(records)
    scores = by_key(cells)
    tasks = in_order((cell.task for cell in cells), TASKS)
    languages = in_order((cell.language for cell in cells), LANGUAGES)
    rows = with_unlisted(settings, scores)
    groups = dict.fromkeys(row.group for row in rows)
    columns = min(len(languages), 3)  # with fewer columns the figure is narrower, and a page shows its text larger
    lower = -(-(len(groups) + 2) // columns) + (len(groups) + 2) // -3  # legend rows beyond those of three columns
    height = LEGEND3 + ROW3 * lower + len(tasks) * (ROW3 * len(rows) + PANEL3)
    figure = style.new_figure(style.PAGE_WIDTH * (columns + 1) / 4, height)
    panels = figure.subplots(len(tasks), len(languages), sharex="row", sharey=True, squeeze=False)
    for task, line in zip(tasks, panels, strict=True):
        for language, axes in zip(languages, line, strict=True):
            _transfer(axes, [scores.get((row.setting, task, language)) for row in rows], rows)
            axes.set_title(f"{task_title(task)}, en-{language}", loc="left", fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("score (%)")
    handles: list[Artist] = [Patch(color=style.group_colour(group), label=group or DEFAULT) for group in groups]
    handles.append(Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=style.DASHES, label="level of Default"))
    handles.append(Patch(color=style.LIGHT, label="pale: floor (untrained encoder, or chance)"))
    if any(cell.floor > cell.score for cell in cells):
        handles.append(Line2D([], [], color=style.VERMILION, linewidth=1.5, label="floor above the score"))
    figure.legend(handles=handles, ncols=columns, **LEGEND)
    return figure, cells


def _transfer(axes: Axes, cells: Sequence[Any], rows: Sequence[Setting]) -> None:
    style.light_grid(axes, "x")
    edge = 118.0  # leaves space for the numbers; the scale is the same for all tasks, studies and the paper
    look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 6.5}
    for place, (cell, row) in enumerate(zip(cells, rows, strict=True)):
        if cell is None:
            axes.text(edge, place, NOT_RUN, color=style.GREY, style="italic", **look)
            continue
        colour = style.group_colour(row.group)
        axes.barh(place, cell.score, BAR3, color=style.pale(colour))
        axes.barh(place, max(cell.score - cell.floor, 0.0), BAR3, left=cell.floor, color=colour)
        if cell.floor > cell.score:  # beyond the end of the bar
            axes.vlines(cell.floor, place - BAR3 / 2, place + BAR3 / 2, color=style.VERMILION, linewidth=1.5, zorder=4)
        if cell.low is not None:
            bars = style.reach(cell.score, cell.low, cell.high)
            axes.errorbar(cell.score, place, xerr=bars, color=style.BLACK, elinewidth=0.8, capsize=1.5, capthick=0.8)
        if row.setting == DEFAULT:
            axes.axvline(cell.score, color=style.BLACK, linewidth=0.7, linestyle=style.DASHES, zorder=3)
        axes.text(edge, place, f"{cell.score:.1f}", **look)
    axes.set_yticks(range(len(rows)), [row.setting for row in rows])
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, edge))
    axes.set_xticks(range(0, 101, 20))
    axes.tick_params(axis="y", length=0)


def figure4a(records: Sequence[WordScore]) -> tuple[Figure, list[WordMean]]:
    """Return Figure 4a and its means: embedding matrices and fastText as bars by language, chance as dotted lines."""
    scores = word_means(records)
    found = {(score.language, score.vectors): score for score in scores}
    languages = in_order((score.language for score in scores), LANGUAGES)
    top = max(max(score.p1, score.high or 0.0, 1.0) for score in scores)
    figure = style.new_figure(height=3.0)
    axes, titles = figure.subplots(), []
    style.light_grid(axes, "y")
    for place, language in enumerate(languages):
        for step, vectors in enumerate(VECTORS):
            _word_bar(axes, place + (step - 1) * (BAR4A + 0.02), found.get((language, vectors)), top)
        own = [score for score in scores if score.language == language]
        chance = max(score.chance for score in own)
        axes.hlines(
            chance, place - 0.45, place + 0.45, color=style.BLACK, linestyle=style.DOTTED, linewidth=1, zorder=4
        )
        asked = sorted({score.pairs for score in own if score.pairs is not None})  # may differ between vectors
        counts = f"\n{' or '.join(f'{number:,}' for number in asked)} pairs" if asked else ""
        titles.append(f"en-{language}{counts}")
    axes.set_xticks(range(len(languages)), titles)
    axes.set(xlim=(-0.55, max(len(languages), 3) - 0.45), ylim=(0, 1.14 * top), ylabel="word translation, P@1 (%)")
    axes.tick_params(axis="x", length=0)
    seeded = {r.seed is not None for r in records if r.vectors == FASTTEXT}
    labels = VECTORS | ({FASTTEXT: "fastText of this study's text"} if seeded == {True} else {})
    handles: list[Artist] = [Patch(color=style.MODEL_COLOURS[name], label=label) for name, label in labels.items()]
    handles.append(Line2D([], [], color=style.BLACK, linestyle=style.DOTTED, linewidth=1, label="chance"))
    figure.legend(handles=handles, ncols=4, **LEGEND)
    return figure, scores


def _word_bar(axes: Axes, x: float, score: Any, top: float) -> None:
    look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 6.5}
    if score is None:
        axes.text(x, 0.02 * top, NOT_RUN, rotation=90, style="italic", color=style.ink(style.GREY), **look)
        return
    axes.bar(x, score.p1, BAR4A, color=style.MODEL_COLOURS[score.vectors])
    if score.low is not None:
        bars = style.reach(score.p1, score.low, score.high)
        for colour, width in (("white", 2.4), (style.BLACK, 0.9)):  # the white edge is visible on a black bar
            axes.errorbar(x, score.p1, yerr=bars, color=colour, elinewidth=width, capsize=2, capthick=width)
    colour = style.MODEL_COLOURS[score.vectors]  # a score of 0 has no bar that shows it
    axes.plot(x, score.p1, "D", color=colour, markeredgecolor="white", markersize=4, zorder=5)
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.2, "alpha": 0.8}
    look |= {"ha": "left", "bbox": white, "zorder": 6}
    axes.text(x + 0.02, score.p1 + 0.01 * top, f"{score.p1:.1f}", **look)


def read_audit(path: Path, study: Study) -> list[Anchors]:
    """Read the anchors.json of a model as one record per language."""
    name, value = model_name(path), read_json(path)
    languages, setting = split_name(name)
    model = {"model": name, "setting": study.label(setting), "pair": study.pair(languages).replace("′", "'")}
    try:
        records: list[Anchors] = []
        for language in languages:
            running = value["running_tokens"][language]
            counts: Anchors = {"tokens": int(running["tokens"]), "shared": int(running["shared"])}
            counts |= {"share": float(running["share"]), "anchors": int(value["used_by_both"])}
            records.append(model | {"language": study.written(language)} | counts)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"no audit of anchors: {error}", fix="rule audit_anchors makes it") from None
    return records


def anchors(study: Study, audits: Sequence[Path]) -> tuple[Figure, list[Anchors]]:
    """Return the share of anchors in running text: panels are pairs, rows are settings; only first seeds are drawn."""
    records = [record for path in audits for record in read_audit(path, study)]
    settings = in_order((record["setting"] for record in records), [known.label for known in study.settings])
    pairs = in_order((record["pair"] for record in records), PAIRS)
    figure = style.new_figure(height=0.95 + ANCHOR_ROW * len(settings))
    panels = figure.subplots(1, len(pairs), sharex=True, sharey=True, squeeze=False)[0]
    top = max(100 * max(record["share"] for record in records), 1.0)
    for pair, axes in zip(pairs, panels, strict=True):
        _anchors(axes, [record for record in records if record["pair"] == pair], settings, top)
        axes.set_title(pair_title(pair), loc="left")
    panels[0].set_yticks(range(len(settings)), settings)
    panels[0].set_ylim(len(settings) - 0.4, -0.6)
    panels[len(pairs) // 2].set_xlabel("running subwords that are anchors (%)")
    languages = in_order((record["language"] for record in records), style.LANGUAGE_COLOURS)
    handles = [Patch(color=style.language_look(code)[0], label=pair_title(code)) for code in languages]
    figure.legend(handles=handles, ncols=len(handles), **LEGEND | {"loc": "outside upper right"})
    style.footnote(figure, ANCHOR_NOTE)
    return figure, records


def _anchors(axes: Axes, records: Sequence[Anchors], settings: Sequence[str], top: float) -> None:
    style.light_grid(axes, "x")
    axes.set_xlim(0, 1.45 * top)
    ticks = MaxNLocator(3, steps=[1, 2, 5, 10]).tick_values(0, top)
    axes.set_xticks([tick for tick in ticks if 0 <= tick <= 1.1 * top])
    axes.tick_params(axis="y", length=0)
    look: dict[str, Any] = {"va": "center", "fontsize": 6.5, "color": style.ink(style.GREY)}
    for row, setting in enumerate(settings):
        here = [record for record in records if record["setting"] == setting]
        if not here:
            axes.text(0.03 * top, row, NOT_RUN, style="italic", **look)
            continue
        first = [record for record in here if record["model"] == here[0]["model"]]
        for step, record in enumerate(first):
            colour = style.language_look(record["language"])[0]
            axes.barh(row + (step - 0.5) * ANCHOR_BAR, 100 * record["share"], ANCHOR_BAR, color=colour)
        longest = 100 * max(record["share"] for record in first)
        axes.text(longest + 0.03 * top, row, f"{first[0]['anchors']:,}", **look)
