"""Every layer of one encoder against every layer of the other: CKA as a matrix for each pair and model of Figure 7.

python -m xling.report.cka_matrix --records cka_matrix.csv --out-dir figures
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.names import NOT_RUN, PAIRS, in_order, pair_title
from xling.report.records import CKA_MODELS

NOTE = (
    "Left to right: layers of the English encoder. Upwards: layers of the other one; 0: embeddings. "
    "Dots: the same layer in both, as in Figure 7."
)


@dataclass(frozen=True)
class LayerPair:
    """Similarity of a layer of the first language's encoder with a layer of the second's."""

    KEY: ClassVar = ("pair", "model", "layer_a", "layer_b")
    CHOICES: ClassVar = {"model": CKA_MODELS}
    pair: str
    model: str
    layer_a: int
    layer_b: int
    cka: float


def cka_matrix(records: Sequence[LayerPair]) -> Figure:
    """Return the matrices: rows are kinds of models, columns are pairs."""
    layers = range(max(max(record.layer_a, record.layer_b) for record in records) + 1)
    pairs = in_order((record.pair for record in records), PAIRS)
    table = {(r.pair, r.model, r.layer_a, r.layer_b): r.cka for r in records}
    width = (style.PAGE_WIDTH - 0.8) / max(len(pairs), 4)
    figure = style.new_figure(width=0.8 + width * max(len(pairs), 2), height=0.6 + len(CKA_MODELS) * width)
    grid = figure.subplots(len(CKA_MODELS), len(pairs), squeeze=False, sharex=True, sharey=True)
    colours = ScalarMappable(Normalize(0, 1), mpl.colormaps[style.HEAT_MAP])
    for model, line in zip(CKA_MODELS, grid, strict=True):
        for pair, axes in zip(pairs, line, strict=True):
            _matrix(axes, _values(table, pair, model, layers), colours)
        line[0].set_ylabel(model)
    for pair, axes in zip(pairs, grid[0], strict=True):
        axes.set_title(pair_title(pair), fontweight="bold")
    bar = figure.colorbar(colours, ax=grid, fraction=0.025, pad=0.01, aspect=40)
    bar.set_label("linear CKA", fontsize=7)
    bar.outline.set_visible(False)
    style.footnote(figure, NOTE)
    return figure


def _values(table: Mapping[tuple[str, str, int, int], float], pair: str, model: str, layers: range) -> np.ndarray:
    return np.array([[table.get((pair, model, a, b), np.nan) for a in layers] for b in layers])


def _matrix(axes: Axes, values: np.ndarray, colours: ScalarMappable) -> None:
    size = len(values)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(-0.5, size - 0.5), aspect="equal")
    ticks = range(0, size, 2 if size <= 9 else 4)
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if np.isnan(values).all():
        middle = (size - 1) / 2
        axes.text(middle, middle, NOT_RUN, ha="center", va="center", color=style.ink(style.GREY), style="italic")
        return
    axes.imshow(colours.to_rgba(values), origin="lower", interpolation="nearest")
    inks = [style.ink_on([float(part) for part in colour]) for colour in colours.to_rgba(np.diag(values))]
    axes.scatter(range(size), range(size), s=2, c=inks)


def main() -> None:
    """Draw the matrices of a study."""
    args = records_parser(__doc__).parse_args()
    records = some_records(args.records, LayerPair)
    with style.styled():
        style.save_figure(cka_matrix(records), args.out_dir, "cka_matrix", records)


if __name__ == "__main__":
    run(main)
