"""Figure 4a: translation of words by the embedding matrices of two monolingual models, beside fastText, as bars.

python -m xling.report.figure4a --records figure4a.csv --out-dir figures
"""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.names import LANGUAGES, NOT_RUN, in_order
from xling.report.records import BERT, FASTTEXT, UNTRAINED, WordScore

VECTORS = (BERT, FASTTEXT, UNTRAINED)
NAMES = {BERT: "BERT: embedding matrix", FASTTEXT: "fastText, same words", UNTRAINED: "untrained embeddings"}
BAR = 0.26  # share of a language's place
DOTTED = (0, (1, 1.5))


def figure4a(scores: Sequence[WordScore]) -> Figure:
    """Return the figure: a group of bars a language, with chance as a dotted level."""
    found = {(score.language, score.vectors): score for score in scores}
    languages = in_order((score.language for score in scores), LANGUAGES)
    top = max(max(score.p1, score.high or 0.0, 1.0) for score in scores)
    figure = style.new_figure(height=3.0)
    axes = figure.subplots()
    style.light_grid(axes, "y")
    for place, language in enumerate(languages):
        for step, vectors in enumerate(VECTORS):
            _bar(axes, place + (step - 1) * (BAR + 0.02), found.get((language, vectors)), vectors, top)
        chance = max(score.chance for (code, _), score in found.items() if code == language)
        axes.hlines(chance, place - 0.45, place + 0.45, color=style.BLACK, linestyle=DOTTED, linewidth=1, zorder=4)
    axes.set_xticks(range(len(languages)), [_name(language, scores) for language in languages])
    axes.set_xlim(-0.55, max(len(languages), 3) - 0.45)
    axes.set_ylim(0, 1.14 * top)
    axes.set_ylabel("word translation, P@1 (%)")
    axes.tick_params(axis="x", length=0)
    _legend(figure)
    return figure


def _bar(axes: Axes, x: float, score: WordScore | None, vectors: str, top: float) -> None:
    if score is None:
        look: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "fontsize": 6.5, "style": "italic"}
        axes.text(x, 0.02 * top, NOT_RUN, color=style.ink(style.GREY), **look)
        return
    axes.bar(x, score.p1, BAR, color=style.MODEL_COLOURS[vectors])
    error = style.reach(score.p1, score.low, score.high)
    if error is not None:
        bars = [[error[0]], [error[1]]]
        for colour, width in (("white", 2.4), (style.BLACK, 0.9)):  # a white edge: seen on a black bar too
            axes.errorbar(x, score.p1, yerr=bars, color=colour, elinewidth=width, capsize=2, capthick=width)
    axes.text(
        x, max(score.p1, score.high or 0) + 0.015 * top, f"{score.p1:.1f}", ha="center", va="bottom", fontsize=6.5
    )


def _name(language: str, scores: Sequence[WordScore]) -> str:
    """Return a language with the number of pairs asked, which may differ between the kinds of vectors."""
    asked = sorted({score.pairs for score in scores if score.language == language and score.pairs is not None})
    name = f"en-{language}"
    return f"{name}\n{' or '.join(f'{number:,}' for number in asked)} pairs" if asked else name


def _legend(figure: Figure) -> None:
    handles: list[Patch | Line2D] = [Patch(color=style.MODEL_COLOURS[name], label=NAMES[name]) for name in VECTORS]
    handles.append(Line2D([], [], color=style.BLACK, linestyle=DOTTED, linewidth=1, label="chance"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=7)


def main() -> None:
    """Draw Figure 4a of a study."""
    args = records_parser(__doc__).parse_args()
    scores = some_records(args.records, WordScore)
    with style.styled():
        style.save_figure(figure4a(scores), args.out_dir, "figure4a", scores)


if __name__ == "__main__":
    run(main)
