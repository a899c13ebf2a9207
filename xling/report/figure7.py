"""Figure 7: CKA of two encoders by layer, pair and model, as a heat map.

python -m xling.report.figure7 --records figure7.csv --out-dir figures
"""

import math
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.cka_table import layers_of, similarity
from xling.report.names import NOT_RUN, PAIRS, in_order, pair_title
from xling.report.records import AVERAGE, CkaScore
from xling.report.records import CKA_MODELS as MODELS

GAP = 0.25  # between pairs, and above the average row, in cells
ROW = 0.29  # inches


def annotation(value: float) -> str:
    """Return a similarity as Figure 7 prints it: two decimals, a trailing zero dropped."""
    return f"{round(value, 2):g}"


def figure7(scores: Sequence[CkaScore]) -> Figure:
    """Return the heat map; what was not run is hatched."""
    table = similarity(scores)
    rows = [*layers_of(scores), AVERAGE]
    pairs = in_order({*PAIRS, *(score.pair for score in scores)}, PAIRS)
    figure = style.new_figure(height=1.15 + ROW * len(rows))
    axes = figure.subplots()
    colours = ScalarMappable(Normalize(*_limits(list(table.values()))), mpl.colormaps[style.HEAT_MAP])
    for number, pair in enumerate(pairs):
        for place, model in enumerate(MODELS):
            for row, layer in enumerate(rows):
                x, y = number * (len(MODELS) + GAP) + place, row + (GAP if layer == AVERAGE else 0)
                _square(axes, x, y, table.get((layer, pair, model)), colours)
    _label(axes, rows, pairs)
    bar = figure.colorbar(colours, ax=axes, fraction=0.025, pad=0.01, aspect=30)
    bar.set_label("linear CKA", fontsize=7)
    bar.outline.set_visible(False)
    return figure


def _limits(values: Sequence[float]) -> tuple[float, float]:
    return math.floor(10 * min(values)) / 10, math.ceil(10 * max(values)) / 10


def _square(axes: Axes, x: float, y: float, value: float | None, colours: ScalarMappable) -> None:
    if value is None:
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor="white", edgecolor=style.GREY, hatch="////", linewidth=0))
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
        axes.text(x + 0.5, y + 0.5, NOT_RUN, ha="center", va="center", fontsize=5, color=style.GREY, bbox=box)
        return
    red, green, blue, _ = (float(part) for part in colours.to_rgba(np.array([value]))[0])
    colour = (red, green, blue)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.6))
    ink = style.ink_on(colour)
    axes.text(x + 0.5, y + 0.5, annotation(value), ha="center", va="center", fontsize=6.5, color=ink)


def _label(axes: Axes, rows: Sequence[str], pairs: Sequence[str]) -> None:
    width = len(MODELS) + GAP
    axes.set_xlim(0, len(pairs) * width - GAP)
    axes.set_ylim(len(rows) + GAP, 0)
    axes.set_yticks([row + 0.5 + (GAP if layer == AVERAGE else 0) for row, layer in enumerate(rows)], rows)
    ticks = [number * width + place + 0.5 for number in range(len(pairs)) for place in range(len(MODELS))]
    axes.set_xticks(ticks, [*MODELS] * len(pairs), rotation=40, ha="right", rotation_mode="anchor")
    for number, pair in enumerate(pairs):
        middle = number * width + len(MODELS) / 2
        axes.text(middle, -0.25, pair_title(pair), ha="center", va="bottom", fontsize=9, fontweight="bold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def main() -> None:
    """Draw Figure 7 of a study."""
    args = records_parser(__doc__).parse_args()
    scores = some_records(args.records, CkaScore)
    with style.styled():
        style.save_figure(figure7(scores), args.out_dir, "figure7", scores)


if __name__ == "__main__":
    run(main)
