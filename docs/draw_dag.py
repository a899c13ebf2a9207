"""The stages of a study and what goes from one to the next, as docs/dag.svg.

python -m docs.draw_dag
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from xling.core.errors import run
from xling.report import style
from xling.report.style import bare

WIDE, TALL = 16.6, 5.9  # the drawing area; an inch is 1.75 of its units
BOX = (1.75, 1.15)
COLUMNS = (0.2, 2.5, 4.8, 7.1, 9.4, 12.0, 14.6)
ROWS = {"top": 4.5, "middle": 2.7, "bottom": 0.9}
TEXT, MODEL, ANALYSIS, END = style.SKY, style.ORANGE, style.GREEN, style.PURPLE
Place = tuple[float, float]


@dataclass(frozen=True)
class Stage:
    """A box: what the stage is called, what it makes, the files of rules that wire it, where it stands."""

    name: str
    makes: str
    rules: tuple[str, ...]
    column: int
    row: str
    colour: str

    def edge(self, x: float, y: float) -> Place:
        """Return a point of the box, from (0, 0) at its lower left to (1, 1)."""
        return COLUMNS[self.column] + x * BOX[0], ROWS[self.row] + y * BOX[1]


STAGES = {
    stage.name: stage
    for stage in (
        Stage("synthetic", "raw sources of the\nembedded study", ("synthetic",), 0, "middle", TEXT),
        Stage("data", "fetched sources,\nplain text", ("data",), 1, "middle", TEXT),
        Stage("tokenization", "words, corpora,\ntask data", ("tokenization",), 2, "middle", TEXT),
        Stage("codeswitch", "text of\nExtra anchors", ("codeswitch",), 3, "top", TEXT),
        Stage("bpe", "vocabularies,\ntoken streams", ("bpe",), 3, "middle", TEXT),
        Stage("pretrain", "encoders", ("pretrain",), 4, "middle", MODEL),
        Stage("finetune", "zero-shot scores\n(Table 1, Figure 3)", ("finetune", "transfer"), 5, "top", ANALYSIS),
        Stage("contextual", "frozen encoders\n(Figures 5, 8)", ("contextual",), 5, "middle", ANALYSIS),
        Stage("align", "words, sentences\n(Figures 4, 6)", ("align",), 5, "bottom", ANALYSIS),
        Stage("cka", "similarity\n(Figure 7)", ("cka",), 6, "bottom", ANALYSIS),
        Stage("report", "tables, figures,\nverdicts, one page", ("report", "figures", "page"), 6, "top", END),
    )
}

# From, to, and the points of the two boxes. What follows from the others is left out.
ARROWS = (
    ("synthetic", "data", (1, 0.5), (0, 0.5)),
    ("data", "tokenization", (1, 0.5), (0, 0.5)),
    ("tokenization", "codeswitch", (1, 0.8), (0, 0.3)),
    ("tokenization", "bpe", (1, 0.5), (0, 0.5)),
    ("codeswitch", "bpe", (0.5, 0), (0.5, 1)),
    ("bpe", "pretrain", (1, 0.5), (0, 0.5)),
    ("pretrain", "finetune", (1, 0.8), (0, 0.6)),
    ("pretrain", "contextual", (1, 0.5), (0, 0.5)),
    ("pretrain", "align", (1, 0.2), (0, 0.7)),
    ("finetune", "report", (1, 0.5), (0, 0.5)),
    ("contextual", "report", (1, 0.6), (0, 0.2)),
    ("align", "cka", (1, 0.5), (0, 0.5)),
    ("cka", "report", (0.5, 1), (0.5, 0)),
)
# Labelled and parallel sentences, which no model is trained on, go round the models.
ROUND = ("tokenization", ("finetune", "contextual", "align"), "task data, parallel sentences")


def drawn_edges() -> set[tuple[str, str]]:
    """Return every arrow as a pair of stages."""
    start, ends, _ = ROUND
    return {(arrow[0], arrow[1]) for arrow in ARROWS} | {(start, end) for end in ends}


def draw() -> Figure:
    """Return the picture."""
    figure = style.new_figure(width=WIDE / 1.75, height=TALL / 1.75, fitted=False)
    axes = figure.add_axes((0, 0, 1, 1))
    bare(axes, WIDE, TALL)
    for stage in STAGES.values():
        _box(axes, stage)
    for start, end, leaves, enters in ARROWS:
        _arrow(axes, [STAGES[start].edge(*leaves), STAGES[end].edge(*enters)])
    _round(axes)
    return figure


def _box(axes: Axes, stage: Stage) -> None:
    shape = "round,pad=0,rounding_size=0.12"
    look: dict[str, Any] = {"facecolor": style.pale(stage.colour), "edgecolor": style.BLACK, "linewidth": 0.8}
    axes.add_patch(FancyBboxPatch(stage.edge(0, 0), *BOX, boxstyle=shape, **look))
    _write(axes, stage.edge(0.5, 0.84), stage.name, fontsize=8, fontweight="bold")
    _write(axes, stage.edge(0.5, 0.5), stage.makes, fontsize=6.5)
    files = f"{', '.join(stage.rules)}.smk"
    _write(axes, stage.edge(0.5, 0.13), files, fontsize=style.fitting(5.5, files, 23), color=style.ink(style.GREY))


def _arrow(axes: Axes, points: Sequence[Place], colour: str = style.BLACK) -> None:
    """Draw a line through the points with a head at the last."""
    axes.plot(*zip(*points[:-1], strict=True), color=colour, linewidth=0.9)
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=points[-1], xytext=points[-2], arrowprops=look)


def _round(axes: Axes) -> None:
    start, ends, text = ROUND
    low, aside = ROWS["bottom"] - 0.5, COLUMNS[STAGES[ends[0]].column] - 0.35
    x, y = STAGES[start].edge(0.5, 0)
    for end in ends:
        enters = STAGES[end].edge(0, 0.2)
        _arrow(axes, [(x, y), (x, low), (aside, low), (aside, enters[1]), enters], style.GREY)
    _write(axes, ((x + aside) / 2, low + 0.2), text, fontsize=6.5)


def _write(axes: Axes, place: Place, text: str, **look: Any) -> None:
    axes.text(*place, text, ha="center", va="center", linespacing=1.15, **look)


def main() -> None:
    """Write the picture beside this file."""
    with style.styled():
        style.save_images(draw(), Path(__file__).parent, "dag", ["svg"])


if __name__ == "__main__":
    run(main)
