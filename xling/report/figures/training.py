"""Training curves by model, of all models and of cross-lingual structure; zero-shot scores by the number of updates.

The figure of a model shows its losses, with the unigram entropy as the loss of a model without context, the learning
rate, and for two languages the retrieval and CKA of parallel sentences by layer. The overview shows the validation loss
of every model as a share of its unigram entropy. The third figure, emergence, shows bilingual models only.

A study of when transfer emerges contains several copies of a setting that differ only in `train.updates`; the first
copy in the config gives the panel its name. Each number of updates is a separate training run with its own
learning-rate decay.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xling.core.errors import XlingError
from xling.report import style
from xling.report.figures.study import MONO, Metrics, Sharing, Study, model_name, read_metrics, split_name
from xling.report.names import DEFAULT, TASKS, in_order, pair_title, task_title
from xling.report.records import Cell

MOST_POINTS = 300  # more points cannot be distinguished on a page
MODEL_HEIGHT = 2.2  # inches
MARGINS = {"left": 0.5, "right": 0.1, "top": 0.42, "bottom": 0.42, "between": 0.42}  # inches
LOSS, RATE, LAYERS = 2.3, 0.9, 1.1  # inches: the widths of the panels
PANEL = MODEL_HEIGHT - MARGINS["top"] - MARGINS["bottom"]  # inches: the height of the panels
MOST_LABELS = 6

COLUMNS = (5, 4)
HEIGHT, DECORATION = 1.45, (0.35, 0.45)  # inches: a panel, and the part that its labels take
LETTERS = 18  # per inch of a title
LOSS_NOTE = (
    "Dotted: as good as knowing how frequent each subword is. Pale: Default, same pair. "
    "Losses are means over a model's languages, one line per seed."
)
STRUCTURE_NOTE = "Means over all layers, one line per seed. Pale: Default, same pair."
UPDATES_NOTE = "Each mark is a model that was trained for this many updates. Pale: Default, same pair."
APART = 0.28  # minimum distance of the labels of numbers of updates as a share of the axis
Trained = Mapping[str, Metrics]  # by name of the model


class Measure(NamedTuple):
    """A block of panels: its title, values by update for each model, and the level to compare with, if any."""

    title: str
    lines: Mapping[str, Mapping[Any, float]]
    level: float | None = None


def training(study: Study, metrics: Sequence[Path]) -> Iterator[tuple[str, Figure, Any]]:
    """Yield each figure with its name and rows: one per model (no rows), the overview and, if measured, emergence."""
    trained = {model_name(path): read_metrics(path) for path in metrics}
    for name, own in trained.items():
        languages, setting = split_name(name)
        title = f"{study.label(setting)}, {study.pair(languages)}"
        yield f"training/{name}", model_figure(own, title, study.shown), None
    yield "training", *overview(trained, study)
    if any(own.measured for own in trained.values()):
        yield "emergence", *emergence(trained, study)


def model_figure(metrics: Metrics, title: str, shown: Mapping[str, str]) -> Figure:
    """Return the curves of one model; a monolingual model has no panels for cross-lingual structure."""
    measured = metrics.measured
    loss = LOSS if measured else LOSS + 2 * (LAYERS + MARGINS["between"])  # all figures are equally wide
    widths = [loss, RATE, LAYERS, LAYERS] if measured else [loss, RATE]
    whole = MARGINS["left"] + sum(widths) + MARGINS["between"] * (len(widths) - 1) + MARGINS["right"]
    figure = style.new_figure(width=whole, height=MODEL_HEIGHT, fitted=False)  # fitting takes too long for many figures
    panels, left = [], MARGINS["left"]
    for width in widths:
        place = (left / whole, MARGINS["bottom"] / MODEL_HEIGHT, width / whole, PANEL / MODEL_HEIGHT)
        panels.append(figure.add_axes(place))
        style.light_grid(panels[-1], "y")
        left += width + MARGINS["between"]
    _losses(panels[0], metrics, shown, (loss, PANEL))
    rate = panels[1]
    rate.plot(*thinned([step.update for step in metrics.steps], [step.lr for step in metrics.steps]), color=style.BLACK)
    rate.set_ylim(bottom=0)
    rate.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    rate.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    rate.set_title("learning rate", loc="right", fontsize=7, y=1.0)
    if measured:
        chance = 100 / max(point.sentences for point in metrics.validations)
        updates, retrieved = [point.update for point in measured], [point.retrieved for point in measured]
        _layers(panels[2], updates, retrieved, 10 * chance)  # values near chance should look flat
        _layers(panels[3], updates, [point.cka for point in measured], 1.0)
        panels[2].set_title("retrieval, P@1 (%)", loc="left", fontsize=7)
        panels[3].set_title("linear CKA", loc="left", fontsize=7)
        panels[2].axhline(chance, color=style.GREY, linestyle=style.DOTTED, linewidth=1)
    for axes in panels:
        axes.set_xlabel("update")
        update_ticks(axes, metrics.validations[-1].update, 4 if axes is panels[0] else 2)
    figure.suptitle(title, x=0.01, y=0.985, ha="left", fontsize=9, fontweight="bold")
    return figure


def thinned(xs: Sequence[float], ys: Sequence[float], most: int = MOST_POINTS) -> tuple[list[float], list[float]]:
    """Return at most `most` points, each the mean of neighbouring points."""
    size = -(-len(xs) // most)
    blocks = [slice(start, start + size) for start in range(0, len(xs), size)] if size else []
    return [sum(xs[b]) / len(xs[b]) for b in blocks], [sum(ys[b]) / len(ys[b]) for b in blocks]


def update_ticks(axes: Axes, last: int, most: int) -> None:
    """Set ticks at round numbers of updates up to the last update, with short labels."""
    ticks = MaxNLocator(most, steps=[1, 2, 5, 10], integer=True).tick_values(0, max(last, 1))
    inside = [float(tick) for tick in ticks if tick <= max(last, 1)]
    thousands = max(inside) >= 10000
    axes.set_xticks(inside, [f"{tick / 1000:g}k" if thousands and tick else f"{tick:g}" for tick in inside])


def _losses(axes: Axes, metrics: Metrics, shown: Mapping[str, str], size: style.Size) -> None:
    labels = []
    languages = list(metrics.validations[-1].losses)
    updates = [point.update for point in metrics.validations]
    for language in languages:
        code = shown.get(language, language)
        name, (colour, marker) = pair_title(code), style.language_look(code, languages)
        steps = [step for step in metrics.steps if language in step.losses]
        axes.plot(*thinned([s.update for s in steps], [s.losses[language] for s in steps]), color=colour, linewidth=0.5)
        losses = [point.losses[language] for point in metrics.validations]
        axes.plot(updates, losses, color=colour, marker=marker, markersize=3)
        entropy = metrics.validations[-1].entropy[language]
        axes.axhline(entropy, color=colour, linestyle=style.DOTTED, linewidth=1)
        ending = f"{name} {losses[-1]:.2f} (ppl {math.exp(losses[-1]):.3g})"
        labels += [(ending, losses[-1], colour), ("unigrams", entropy, colour)]
    axes.set_ylim(bottom=0)
    style.label_ends(axes, labels, size, (updates[0], max(updates[-1], 1)))
    axes.set_title("loss: thin training, marked validation", loc="left", fontsize=7, y=1.0)
    axes.set_ylabel("nats a predicted token")


def _layers(axes: Axes, updates: Sequence[int], values: Sequence[Sequence[float]], least: float) -> None:
    """Draw one line per layer, lower layers lighter; the y axis goes up to `least` or higher."""
    curves, colours, labels = list(zip(*values, strict=True)), mpl.colormaps["viridis_r"], []
    for layer, curve in enumerate(curves):
        colour = mpl.colors.to_hex(colours(0.15 + 0.85 * layer / max(len(curves) - 1, 1)))
        axes.plot(updates, curve, color=colour, linewidth=1)
        if layer % -(-len(curves) // MOST_LABELS) == 0:
            labels.append((f"L{layer}", curve[-1], colour))
    axes.set_ylim(0, 1.04 * max(least, *map(max, values)))
    style.label_ends(axes, labels, (LAYERS, PANEL), (updates[0], max(updates[-1], 1)))


def overview(trained: Trained, study: Study) -> tuple[Figure, list[dict[str, Any]]]:
    """Return the validation losses of all models, one panel per setting and one line per model, and their rows.

    A loss is shown as a share of the unigram entropy, both summed over languages; the rows have both by language.
    """
    lines = {
        name: {at.update: sum(at.losses.values()) / sum(at.entropy.values()) for at in metrics.validations}
        for name, metrics in trained.items()
    }
    rows = [
        {"model": name, "language": x, "update": at.update, "loss": loss, "unigram_entropy": at.entropy[x]}
        for name, metrics in trained.items()
        for at in metrics.validations
        for x, loss in at.losses.items()
    ]
    measure = Measure("Validation loss as a share of the unigram entropy", lines, 1.0)
    return draw_settings([measure], study, LOSS_NOTE), rows


def emergence(trained: Trained, study: Study) -> tuple[Figure, list[dict[str, Any]]]:
    """Return two blocks of panels by setting: retrieval and CKA of parallel sentences, averaged over layers.

    The rows have every layer. Retrieval (the mean of both directions) and its chance level are in per cent.
    """
    found = {name: measured for name, metrics in trained.items() if (measured := metrics.measured)}
    rows: list[dict[str, Any]] = [
        {"model": name, "update": at.update, "layer": layer}
        | {"retrieval": retrieved, "chance": 100 / at.sentences, "cka": cka}
        for name, points in found.items()
        for at in points
        for layer, (retrieved, cka) in enumerate(zip(at.retrieved, at.cka, strict=True))
    ]
    chance = max(row["chance"] for row in rows)
    lines = [
        {name: {at.update: fmean(getattr(at, value)) for at in points} for name, points in found.items()}
        for value in ("retrieved", "cka")
    ]
    title = f"Sentence retrieval, P@1 (%), no mapping; chance is {chance:.2g}"
    measures = [Measure(title, lines[0], chance), Measure("Linear CKA", lines[1])]
    return draw_settings(measures, study, STRUCTURE_NOTE), rows


def draw_settings(measures: Sequence[Measure], study: Study, note: str) -> Figure:
    """Return one block of panels per measure, with a panel per setting; the footnote lists cells that were not run."""
    run = [split_name(model) for model in measures[0].lines]
    names = in_order({setting for _, setting in run}, [*(setting.name for setting in study.settings), MONO])
    columns = min(COLUMNS, key=lambda number: -len(names) % number)
    rows = -(-len(names) // columns)
    figure = style.new_figure(height=len(measures) * (rows * HEIGHT + 0.25) + 0.45)
    parts = figure.subfigures(len(measures), 1, squeeze=False)[:, 0]
    size = (style.PAGE_WIDTH / columns - DECORATION[0], HEIGHT - DECORATION[1])
    for part, measure in zip(parts, measures, strict=True):
        panels = list(part.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
        for setting, axes in zip(names, panels, strict=False):
            _panel(axes, setting, measure, study, size)
        for axes in panels[len(names) :]:
            axes.set_axis_off()
        for axes in panels[len(names) - columns : len(names)]:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("updates", fontsize=7)
        part.suptitle(measure.title, x=0.01, ha="left", fontsize=8, fontweight="bold")
    absent = {
        pair: [known.label for known in study.settings if (pair.split("-"), known.name) not in run]
        for pair in study.pairs
    }
    texts = [f"{pair}: {', '.join(labels)}" for pair, labels in absent.items() if labels]
    missing = f"Not run: {'; '.join(texts)}." if texts else ""
    style.footnote(figure, f"{note}\nOpen marker: before training. {missing}")
    return figure


def _panel(axes: Axes, setting: str, measure: Measure, study: Study, size: style.Size) -> None:
    """Draw the models of one setting over the Default models of the same languages."""
    style.light_grid(axes, "y")
    values = np.array([value for line in measure.lines.values() for value in line.values()])
    axes.set_ylim(0, 1.08 * max(values[np.isfinite(values)].max(), measure.level or 0))
    if measure.level is not None:
        axes.axhline(measure.level, color=style.GREY, linestyle=style.DOTTED, linewidth=1)
    models = {model: split_name(model) for model in measure.lines}
    here = [model for model, (_, own) in models.items() if own == setting]
    pairs = [models[model][0] for model in here]
    default = [model for model, (pair, own) in models.items() if study.label(own) == DEFAULT and pair in pairs]
    codes = {model: study.written(pair[-1]) for model, (pair, _) in models.items()}
    labels = {}
    for model in [*default, *here]:
        colour, marker = style.language_look(codes[model], sorted({*codes.values()}))
        xs, ys = list(measure.lines[model]), list(measure.lines[model].values())
        if model not in here:
            axes.plot(xs, ys, color=style.pale(colour), linewidth=1, zorder=1)
            continue
        axes.plot(xs, ys, color=colour, marker=marker, markersize=2.5, linewidth=1)
        axes.plot(xs[0], ys[0], color=colour, marker=marker, markersize=3, markerfacecolor="white")
        labels[codes[model]] = (pair_title(codes[model]), ys[-1], colour)
    last = max(update for line in measure.lines.values() for update in line)
    style.label_ends(axes, list(labels.values()), size, (0, max(last, 1)))
    update_ticks(axes, last, 3)
    label = study.label(setting)
    axes.set_title(label, loc="left", fontsize=style.fitting(7.5, label, int(size[0] * LETTERS)))


# --- transfer by the number of updates -------------------------------------------------------------------------------


class Point(NamedTuple):
    """One score of a model; the score of the untrained encoder has 0 updates."""

    setting: str
    task: str
    language: str
    seed: int | None
    updates: int
    score: float


def families(settings: Iterable[Sharing]) -> dict[str, list[Sharing]]:
    """Group the settings that differ only in their number of updates (if it is known), by the name of the first."""
    found: dict[Sharing, list[Sharing]] = {}
    for own in (own for own in settings if own.updates):
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
    figure, ticks = draw_settings(measures, named, UPDATES_NOTE), labelled(lengths)
    for axes in figure.axes:
        axes.set_xticks([*ticks.values()], [*ticks])
    return figure, shown
