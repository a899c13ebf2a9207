"""Figure 2: what is compared. Two monolingual encoders, layer by layer: words, contextual words, sentences, CKA."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xling.report import style
from xling.report.blocks import bare, box
from xling.report.names import pair_title
from xling.report.study_file import StudyFile

WIDE = 100.0
STACK, FIRST, SECOND = 17.0, 2.0, 34.0  # width of an encoder, and where the two stand
ONE, ALL, WORDS = 54.5, 57.0, 58.5  # where the brackets around one layer and around all stand, and the words


@dataclass(frozen=True)
class Comparison:
    """One way of comparing two encoders, and the layers that it is done at (0: embeddings)."""

    KEY: ClassVar = ("figure",)
    figure: str
    compared: str
    vectors: str
    measure: str
    first_layer: int
    last_layer: int


def comparisons(study: StudyFile) -> list[Comparison]:
    """Return what section 5 compares, at the layers that this study has."""
    top = study.layers
    return [
        Comparison("Figure 4a", "words", "rows of the embedding matrix", "map, translate words", 0, 0),
        Comparison("Figure 4b", "words in context", "mean over all occurrences", "map, translate words", 0, top),
        Comparison("Figure 5", "aligned words", "first subword in its sentence", "map, then task layers", 0, top),
        Comparison("Figure 6", "sentences", "mean of the subwords", "map, retrieve translations", 0, top),
        Comparison("Figure 7", "sentences", "mean of the subwords", "CKA, no map", 0, top),
    ]


def figure2(study: StudyFile) -> Figure:
    """Return the figure: two encoders, an arrow for the map at every layer, and a span for each comparison."""
    tall = _low(study.layers + 2)
    figure = style.new_figure(height=max(1.0 + 0.24 * (study.layers + 2), 3.4))
    axes = figure.subplots()
    bare(axes, WIDE, tall)
    others = [code for code in study.languages if code != study.source]
    shown = ", ".join(pair_title(study.written(code)) for code in others)
    _stack(axes, FIRST, study.layers, "source", f"{study.source} encoder")
    _stack(axes, SECOND, study.layers, "target", f"other encoder\n({shown})")
    for layer in range(study.layers + 1):
        _arrow(axes, _middle(layer), f"$W_{{{layer}}}$")
    _spans(axes, comparisons(study), study.layers)
    note = (
        "W: the orthogonal map between the two encoders' vectors at one layer, found on translations. "
        "Bilingual and untrained encoders are compared in the same places."
    )
    style.footnote(figure, note)
    return figure


def _low(layer: int) -> float:
    return 14.0 + 10.0 * layer


def _middle(layer: int) -> float:
    return _low(layer) + 4.5


def _stack(axes: Axes, left: float, layers: int, owner: str, name: str) -> None:
    box(axes, (left, _low(0)), (STACK, 9), owner, "0: embeddings")
    for layer in range(1, layers + 1):
        box(axes, (left, _low(layer)), (STACK, 9), owner, f"layer {layer}")
    box(axes, (left, _low(layers + 1)), (STACK, 9), owner, "softmax")
    axes.text(left + STACK / 2, 11, name, ha="center", va="top", fontsize=7.5, fontweight="bold")


def _arrow(axes: Axes, y: float, text: str) -> None:
    look = {"arrowstyle": "<->", "linewidth": 0.8, "shrinkA": 1, "shrinkB": 1}
    axes.annotate("", xy=(FIRST + STACK, y), xytext=(SECOND, y), arrowprops=look)
    middle = (FIRST + STACK + SECOND) / 2
    background = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    axes.text(middle, y, text, ha="center", va="center", fontsize=7, bbox=background)


def _spans(axes: Axes, found: Sequence[Comparison], layers: int) -> None:
    """Write what is compared beside the layers that it is compared at: the embeddings alone, or all layers."""
    _bracket(axes, ONE, _low(0), _low(0) + 9)
    _bracket(axes, ALL, _low(0), _low(layers) + 9)
    everywhere = [one for one in found if one.last_layer]
    step = (_low(layers) + 9 - _low(1)) / len(everywhere)
    for place, one in enumerate(reversed(everywhere)):
        _words(axes, one, _low(1) + step * (place + 0.5), f"layers 0-{layers}")
    for one in found:
        if not one.last_layer:
            _words(axes, one, _middle(0), "layer 0")


def _bracket(axes: Axes, x: float, low: float, high: float) -> None:
    axes.plot([x - 1, x, x, x - 1], [low, low, high, high], color=style.BLACK, linewidth=1)


def _words(axes: Axes, one: Comparison, y: float, layers: str) -> None:
    axes.text(WORDS, y, f"{one.figure}: {one.compared}, {layers}", va="bottom", fontsize=7.5, fontweight="bold")
    axes.text(WORDS, y, f"{one.vectors}; {one.measure}", va="top", fontsize=7)
