"""Training curves: one figure per model, all models of a study in one, and what their languages have in common.

A model's figure has its losses with the unigram entropy as the level that needs no context, the learning rate, and
(two languages) retrieval and CKA of parallel sentences by layer. The overview has the validation loss of every model as
a share of its unigram entropy. The third, emergence, is of bilingual models only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xling.report import style
from xling.report.figures.labels import Label, label_ends
from xling.report.figures.metrics import Metrics
from xling.report.figures.study import MONO, ModelName, Study
from xling.report.names import DEFAULT, in_order, pair_title

MOST_POINTS = 300  # more cannot be told apart on a page
MODEL_HEIGHT = 2.2  # inches
MARGINS = {"left": 0.5, "right": 0.1, "top": 0.42, "bottom": 0.42, "between": 0.42}  # inches
LOSS, RATE, LAYERS = 2.3, 0.9, 1.1  # inches: the widths of the panels
MOST_LABELS = 6
DOTTED = (0, (1, 1.5))

COLUMNS = (5, 4)
HEIGHT, DECORATION = 1.45, (0.35, 0.45)  # inches: a panel, and what its own labels take
LETTERS = 18  # of a title per inch
LOSS_NOTE = (
    "Dotted: as good as knowing how frequent each subword is. Pale: Default, same pair. "
    "Losses are means over a model's languages."
)
STRUCTURE_NOTE = "Means over all layers. Pale: Default, same pair."
Trained = Mapping[ModelName, Metrics]


@dataclass(frozen=True)
class ValidationLoss:
    """A point of the overview."""

    KEY: ClassVar = ("model", "language", "update")
    model: str
    language: str
    update: int
    loss: float
    unigram_entropy: float


@dataclass(frozen=True)
class Structure:
    """What a model's two languages have in common at one layer and update; retrieval in per cent, both directions."""

    KEY: ClassVar = ("model", "update", "layer")
    model: str
    update: int
    layer: int
    retrieval: float
    chance: float
    cka: float


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


def model_figure(metrics: Metrics, title: str, shown: Mapping[str, str]) -> Figure:
    """Return the curves of one model; a monolingual one has no panels for cross-lingual structure."""
    structure = any(point.cka for point in metrics.validations)
    loss = LOSS if structure else LOSS + 2 * (LAYERS + MARGINS["between"])  # all figures are equally wide
    figure, panels = _panels([loss, RATE, LAYERS, LAYERS] if structure else [loss, RATE])
    height = MODEL_HEIGHT - MARGINS["top"] - MARGINS["bottom"]
    _losses(panels[0], metrics, shown, (loss, height))
    _rate(panels[1], metrics)
    if structure:
        chance = 100 / max(point.sentences for point in metrics.validations)
        measured = [point for point in metrics.validations if point.cka]
        retrieval = [(point.update, point.retrieved) for point in measured]
        _layers(panels[2], retrieval, 10 * chance, (LAYERS, height))  # at chance it shall look flat
        _layers(panels[3], [(point.update, point.cka) for point in measured], 1.0, (LAYERS, height))
        panels[2].set_title("retrieval, P@1 (%)", loc="left", fontsize=7)
        panels[3].set_title("linear CKA", loc="left", fontsize=7)
        panels[2].axhline(chance, color=style.GREY, linestyle=DOTTED, linewidth=1)
    for axes in panels:
        axes.set_xlabel("update")
        update_ticks(axes, metrics.validations[-1].update, 4 if axes is panels[0] else 2)
    figure.suptitle(title, x=0.01, y=0.985, ha="left", fontsize=9, fontweight="bold")
    return figure


def _panels(widths: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of these widths in fixed places: fitting each of many figures would take longer."""
    whole = MARGINS["left"] + sum(widths) + MARGINS["between"] * (len(widths) - 1) + MARGINS["right"]
    figure = style.new_figure(width=whole, height=MODEL_HEIGHT, fitted=False)
    panels, left = [], MARGINS["left"]
    low, height = MARGINS["bottom"] / MODEL_HEIGHT, (MODEL_HEIGHT - MARGINS["top"] - MARGINS["bottom"]) / MODEL_HEIGHT
    for width in widths:
        panels.append(figure.add_axes((left / whole, low, width / whole, height)))
        left += width + MARGINS["between"]
    return figure, panels


def thinned(xs: Sequence[float], ys: Sequence[float], most: int = MOST_POINTS) -> tuple[list[float], list[float]]:
    """Return at most so many points, each the mean of neighbours."""
    size = -(-len(xs) // most)
    blocks = [slice(start, start + size) for start in range(0, len(xs), size)] if size else []
    return [sum(xs[b]) / len(xs[b]) for b in blocks], [sum(ys[b]) / len(ys[b]) for b in blocks]


def update_ticks(axes: Axes, last: int, most: int) -> None:
    """Mark round numbers of updates, none beyond the last one, in few letters."""
    ticks = MaxNLocator(most, steps=[1, 2, 5, 10], integer=True).tick_values(0, max(last, 1))
    inside = [float(tick) for tick in ticks if tick <= max(last, 1)]
    axes.set_xticks(inside, [f"{tick / 1000:g}k" if abs(tick) >= 10000 else f"{tick:g}" for tick in inside])


def _losses(axes: Axes, metrics: Metrics, shown: Mapping[str, str], size: style.Size) -> None:
    style.light_grid(axes, "y")
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
        axes.axhline(entropy, color=colour, linestyle=DOTTED, linewidth=1)
        ending = f"{name} {losses[-1]:.2f} (ppl {math.exp(losses[-1]):.3g})"
        labels += [Label(ending, losses[-1], colour), Label("unigrams", entropy, colour)]
    axes.set_ylim(bottom=0)
    label_ends(axes, labels, size, (updates[0], max(updates[-1], 1)))
    axes.set_title("loss: thin training, marked validation", loc="left", fontsize=7, y=1.0)
    axes.set_ylabel("nats a predicted token")


def _rate(axes: Axes, metrics: Metrics) -> None:
    style.light_grid(axes, "y")
    axes.plot(*thinned([step.update for step in metrics.steps], [step.lr for step in metrics.steps]), color=style.BLACK)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.set_title("learning rate", loc="right", fontsize=7, y=1.0)


def _layers(axes: Axes, points: Sequence[tuple[int, Sequence[float]]], least: float, size: style.Size) -> None:
    """Draw one line per layer, lower ones lighter; the axis goes at least so high."""
    style.light_grid(axes, "y")
    updates, count = [update for update, _ in points], len(points[-1][1])
    colours = mpl.colormaps["viridis_r"]
    labels = []
    for layer in range(count):
        colour = mpl.colors.to_hex(colours(0.15 + 0.85 * layer / max(count - 1, 1)))
        curve = [values[layer] for _, values in points]
        axes.plot(updates, curve, color=colour, linewidth=1)
        if layer % -(-count // MOST_LABELS) == 0:
            labels.append(Label(f"L{layer}", curve[-1], colour))
    axes.set_ylim(0, 1.04 * max(least, *(max(values) for _, values in points)))
    label_ends(axes, labels, size, (updates[0], max(updates[-1], 1)))


def loss_records(trained: Trained) -> list[ValidationLoss]:
    """Return the numbers of the overview, language by language."""
    return [
        ValidationLoss(str(name), language, point.update, loss, point.entropy[language])
        for name, metrics in trained.items()
        for point in metrics.validations
        for language, loss in point.losses.items()
    ]


def overview(trained: Trained, study: Study) -> Figure:
    """Return the validation losses of all models, one panel per setting and one line per model."""
    lines = tuple(Line(name, tuple(shares(metrics))) for name, metrics in trained.items())
    return draw_settings([Measure("Validation loss as a share of the unigram entropy", lines, 1.0)], study, LOSS_NOTE)


def shares(metrics: Metrics) -> list[tuple[int, float]]:
    """Return the validation loss as a share of the unigram entropy, both summed over languages, at each validation."""
    return [(point.update, sum(point.losses.values()) / sum(point.entropy.values())) for point in metrics.validations]


def structures(trained: Trained) -> list[Structure]:
    """Return what was measured of all bilingual models at each validation."""
    return [
        Structure(str(name), point.update, layer, retrieval, 100 / point.sentences, cka)
        for name, metrics in trained.items()
        for point in metrics.validations
        for layer, (retrieval, cka) in enumerate(zip(point.retrieved, point.cka, strict=True))
    ]


def emergence(records: Sequence[Structure], study: Study) -> Figure:
    """Return two blocks of panels, retrieval and CKA of parallel sentences, one panel per setting."""
    chance = max(record.chance for record in records)
    retrieval = f"Sentence retrieval, P@1 (%), no mapping; chance is {chance:.2g}"
    measures = [
        Measure(retrieval, _means(records, "retrieval"), chance),
        Measure("Linear CKA", _means(records, "cka")),
    ]
    return draw_settings(measures, study, STRUCTURE_NOTE)


def _means(records: Sequence[Structure], field: str) -> tuple[Line, ...]:
    """Return for every model the mean over layers at each update."""
    values: dict[str, dict[int, list[float]]] = {}
    for record in records:
        values.setdefault(record.model, {}).setdefault(record.update, []).append(getattr(record, field))
    return tuple(
        Line(ModelName.of(model), tuple((update, math.fsum(found) / len(found)) for update, found in points.items()))
        for model, points in values.items()
    )


def draw_settings(measures: Sequence[Measure], study: Study, note: str) -> Figure:
    """Return one block of panels per measure, with all settings that have a line."""
    found = {line.model.setting for measure in measures for line in measure.lines}
    names = in_order(found, [*(setting.name for setting in study.settings), MONO])
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
    absent = not_run(study, measures[0].lines)
    style.footnote(figure, f"{note}\nAcross: updates. Open marker: before training. {absent}")
    return figure


def not_run(study: Study, lines: Sequence[Line]) -> str:
    """Say which crossings of Table 1 have no line, by language."""
    run = {(line.model.languages, line.model.setting) for line in lines}
    texts = []
    for pair in study.pairs:
        absent = [known.label for known in study.settings if (tuple(pair.split("-")), known.name) not in run]
        if absent:
            texts.append(f"{pair}: {', '.join(absent)}")
    return f"Not run: {'; '.join(texts)}." if texts else ""


def _panel(axes: Axes, setting: str, measure: Measure, study: Study, size: style.Size) -> None:
    style.light_grid(axes, "y")
    highest = max(value for line in measure.lines for _, value in line.points if math.isfinite(value))
    axes.set_ylim(0, 1.08 * max(highest, measure.level or 0))
    if measure.level is not None:
        axes.axhline(measure.level, color=style.GREY, linestyle=DOTTED, linewidth=1)
    here = [line for line in measure.lines if line.model.setting == setting]
    pairs = {line.model.languages for line in here}
    default = [
        line for line in measure.lines if study.label(line.model.setting) == DEFAULT and line.model.languages in pairs
    ]
    codes = sorted({study.written(line.model.language) for line in measure.lines})
    labels: dict[str, Label] = {}
    for line in [*default, *here]:
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
