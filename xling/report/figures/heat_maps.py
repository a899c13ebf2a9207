"""Heat maps of CKA: Figure 7 (the same layer of both encoders), and matrices (every layer against every layer)."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from xling.report import style
from xling.report.means import CkaMean, cka_means
from xling.report.models import AVERAGE, CKA_MODELS
from xling.report.names import NOT_RUN, PAIRS, in_order, pair_title
from xling.report.records import CkaScore, LayerPair

GAP = 0.25  # space between pairs and above the average row, in cells
ROW = 0.29  # inches
MATRIX_NOTE = (
    "Left to right: layers of the English encoder. Upwards: layers of the other one; 0: embeddings. "
    "Dots: the same layer in both, as in Figure 7. Rings: the layer of the other encoder that is most similar."
)


def figure7(records: Sequence[CkaScore]) -> tuple[Figure, list[CkaMean]]:
    """Return Figure 7 and its means: CKA by layer, pair and model; squares that were not run are hatched."""
    scores = cka_means(records)
    table = {(score.layer, score.pair, score.model): score.cka for score in scores}
    layers = sorted({score.layer for score in scores} - {AVERAGE}, key=lambda layer: int(layer.removeprefix("L")))
    rows = {layer: float(row) for row, layer in enumerate(layers)}
    rows[AVERAGE] = len(rows) + GAP
    pairs = in_order((score.pair for score in scores), PAIRS)
    figure = style.new_figure(height=1.15 + ROW * len(rows))
    axes = figure.subplots()
    colours = ScalarMappable(Normalize(0, 1), mpl.colormaps[style.HEAT_MAP])  # same scale in all studies and the paper
    width = len(CKA_MODELS) + GAP
    columns = {(p, model): n * width + place for n, p in enumerate(pairs) for place, model in enumerate(CKA_MODELS)}
    for (pair, model), x in columns.items():
        for layer, y in rows.items():
            _square(axes, x, y, table.get((layer, pair, model)), colours)
    axes.set(xlim=(0, len(pairs) * width - GAP), ylim=(len(rows) + GAP, 0))
    axes.set_yticks([y + 0.5 for y in rows.values()], list(rows))
    ticks, names = [x + 0.5 for x in columns.values()], [model for _, model in columns]
    axes.set_xticks(ticks, names, rotation=40, ha="right", rotation_mode="anchor")
    for number, pair in enumerate(pairs):
        middle = number * width + len(CKA_MODELS) / 2
        axes.text(middle, -0.25, pair_title(pair), ha="center", va="bottom", fontsize=9, fontweight="bold")
    _finish(figure, [axes], colours, 30)
    halves = [(score.high - score.low) / 2 for score in scores if score.low is not None]
    if halves:
        style.footnote(figure, f"95% intervals over seeds, of a square: ±{np.median(halves):.2f} (median).")
    return figure, scores


def _square(axes: Axes, x: float, y: float, value: float | None, colours: ScalarMappable) -> None:
    if value is None:
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor="white", edgecolor=style.GREY, hatch="////", linewidth=0))
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
        axes.text(x + 0.5, y + 0.5, NOT_RUN, fontsize=5, color=style.GREY, bbox=box, **style.CENTRED)
        return
    red, green, blue, _ = (float(part) for part in colours.to_rgba(np.array([value]))[0])
    colour = (red, green, blue)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.6))
    axes.text(x + 0.5, y + 0.5, f"{value:.2f}", fontsize=6.5, color=style.ink_on(colour), **style.CENTRED)


def _finish(figure: Figure, panels: Sequence[Axes], colours: ScalarMappable, aspect: int) -> None:
    """Remove the ticks and spines of the panels and draw the colour bar beside them."""
    for axes in panels:
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    bar = figure.colorbar(colours, ax=panels, fraction=0.025, pad=0.01, aspect=aspect)
    bar.set_label("linear CKA", fontsize=7)
    bar.outline.set_visible(False)


def cka_matrix(records: Sequence[LayerPair]) -> tuple[Figure, Sequence[LayerPair]]:
    """Return a grid of matrices and their records: rows are kinds of models, columns are pairs."""
    layers = range(max(max(record.layer_a, record.layer_b) for record in records) + 1)
    pairs = in_order((record.pair for record in records), PAIRS)
    table = {(r.pair, r.model, r.layer_a, r.layer_b): r.cka for r in records}
    width = (style.PAGE_WIDTH - 0.8) / max(len(pairs), 4)
    figure = style.new_figure(width=0.8 + width * max(len(pairs), 2), height=0.6 + len(CKA_MODELS) * width)
    grid = figure.subplots(len(CKA_MODELS), len(pairs), squeeze=False, sharex=True, sharey=True)
    colours = ScalarMappable(Normalize(0, 1), mpl.colormaps[style.HEAT_MAP])
    size = len(layers)
    for model, line in zip(CKA_MODELS, grid, strict=True):
        for pair, axes in zip(pairs, line, strict=True):
            values = np.array([[table.get((pair, model, a, b), np.nan) for a in layers] for b in layers])
            axes.set(xlim=(-0.5, size - 0.5), ylim=(-0.5, size - 0.5), aspect="equal")
            axes.set(xticks=layers[:: 2 if size <= 9 else 4], yticks=layers[:: 2 if size <= 9 else 4])
            if np.isnan(values).all():
                middle = (size - 1) / 2
                axes.text(middle, middle, NOT_RUN, color=style.ink(style.GREY), style="italic", **style.CENTRED)
                continue
            axes.imshow(colours.to_rgba(values), origin="lower", interpolation="nearest")
            inks = [style.ink_on([float(part) for part in colour]) for colour in colours.to_rgba(np.diag(values))]
            axes.scatter(layers, layers, s=2, c=inks)
            most = np.nan_to_num(values, nan=-1.0).argmax(axis=0)
            edges = [style.ink_on([float(part) for part in one]) for one in colours.to_rgba(values[most, list(layers)])]
            axes.scatter(layers, most, s=16, facecolors="none", edgecolors=edges, linewidths=0.7)
        line[0].set_ylabel(model)
    for pair, axes in zip(pairs, grid[0], strict=True):
        axes.set_title(pair_title(pair), fontweight="bold")
    _finish(figure, list(grid.flat), colours, 40)
    style.footnote(figure, MATRIX_NOTE)
    return figure, records
