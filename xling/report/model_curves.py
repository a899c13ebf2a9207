"""The training of one model: losses, learning rate, and cross-lingual structure by layer."""

import math
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xling.report import style
from xling.report.direct_labels import Label, label_ends
from xling.report.metrics_file import Metrics, Validation
from xling.report.names import pair_title

MOST_POINTS = 300  # more cannot be told apart on a page
HEIGHT = 2.2  # inches
MARGINS = {"left": 0.5, "right": 0.1, "top": 0.42, "bottom": 0.42, "between": 0.42}  # inches
LOSS, RATE, LAYERS = 2.3, 0.9, 1.1  # inches: the widths of the panels
MOST_LABELS = 6
DOTTED = (0, (1, 1.5))


def model_figure(metrics: Metrics, title: str, shown: Mapping[str, str]) -> Figure:
    """Return the curves of one model; a monolingual one has no panels for cross-lingual structure."""
    structure = any(point.cka for point in metrics.validations)
    loss = LOSS if structure else LOSS + 2 * (LAYERS + MARGINS["between"])  # all figures are equally wide
    figure, panels = _panels([loss, RATE, LAYERS, LAYERS] if structure else [loss, RATE])
    height = HEIGHT - MARGINS["top"] - MARGINS["bottom"]
    _losses(panels[0], metrics, shown, (loss, height))
    _rate(panels[1], metrics)
    if structure:
        chance = 100 / max(point.sentences for point in metrics.validations)
        measured = [point for point in metrics.validations if point.cka]
        retrieval = [(point.update, _retrieval(point)) for point in measured]
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
    figure = style.new_figure(width=whole, height=HEIGHT, fitted=False)
    panels, left = [], MARGINS["left"]
    height = HEIGHT - MARGINS["top"] - MARGINS["bottom"]
    for width in widths:
        panels.append(figure.add_axes((left / whole, MARGINS["bottom"] / HEIGHT, width / whole, height / HEIGHT)))
        left += width + MARGINS["between"]
    return figure, panels


def thinned(xs: Sequence[float], ys: Sequence[float], most: int = MOST_POINTS) -> tuple[list[float], list[float]]:
    """Return at most so many points, each the mean of neighbours."""
    size = -(-len(xs) // most)
    blocks = [slice(start, start + size) for start in range(0, len(xs), size)] if size else []
    return [sum(xs[b]) / len(xs[b]) for b in blocks], [sum(ys[b]) / len(ys[b]) for b in blocks]


def update_ticks(axes: Axes, last: int, most: int) -> None:
    """Mark round numbers of updates, none beyond the last one."""
    ticks = MaxNLocator(most, steps=[1, 2, 5, 10], integer=True).tick_values(0, max(last, 1))
    inside = [float(tick) for tick in ticks if tick <= max(last, 1)]
    axes.set_xticks(inside, [thousands(tick) for tick in inside])


def thousands(number: float) -> str:
    """Return a number of updates in few letters."""
    return f"{number / 1000:g}k" if abs(number) >= 10000 else f"{number:g}"


def _losses(axes: Axes, metrics: Metrics, shown: Mapping[str, str], size: tuple[float, float]) -> None:
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


def _layers(axes: Axes, points: Sequence[tuple[int, Sequence[float]]], least: float, size: tuple[float, float]) -> None:
    """Draw a line a layer, lower ones lighter; the axis goes at least so high."""
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


def _retrieval(point: Validation) -> list[float]:
    """Return the mean of both directions at each layer, in per cent."""
    directions = list(point.retrieval.values())
    return [100 * sum(scores) / len(scores) for scores in zip(*directions, strict=True)]
