"""Figure 4b: translation of words by their mean contextual vectors, layer by layer, with fastText as a reference.

python -m xling.report.figure4b --records figure4b.csv --out-dir figures
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.layer_curves import UNTRAINED as DASHED
from xling.report.layer_curves import Curve, Panel, draw_grid, level, points
from xling.report.names import LANGUAGES, in_order
from xling.report.records import BERT, FASTTEXT, UNTRAINED, WordScore

COLUMNS = 2
NOTE = "Dashed: the untrained encoder. Dotted: fastText on the same words, with its interval, and chance."


def figure4b(scores: Sequence[WordScore]) -> Figure:
    """Return the figure: a panel a language."""
    layers = sorted({score.layer for score in scores if score.layer is not None}) or [0, 1]
    languages = in_order((score.language for score in scores), LANGUAGES)
    panels = [_panel(language, [x for x in scores if x.language == language], layers) for language in languages]
    rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    return draw_grid(rows, 2.1, ["P@1 (%)"] * len(rows), NOTE)


def _panel(language: str, scores: Sequence[WordScore], layers: Sequence[int]) -> Panel:
    of = {name: [score for score in scores if score.vectors == name] for name in (BERT, FASTTEXT, UNTRAINED)}
    curves = []
    for name, dashes, marker in ((BERT, "-", "o"), (UNTRAINED, DASHED, "")):
        found = points([score for score in of[name] if score.layer is not None], "p1")
        if found:
            curves.append(Curve(name, found, style.MODEL_COLOURS[name], marker, dashes))
    colour = style.MODEL_COLOURS[FASTTEXT]
    curves += [level(FASTTEXT, x.p1, layers, colour, (x.low, x.high)) for x in of[FASTTEXT]]
    curves.append(level("chance", max(score.chance for score in scores), layers, style.GREY))
    return Panel(f"en-{language}", tuple(curves), tuple(name for name in of if not of[name]))


def main() -> None:
    """Draw Figure 4b of a study."""
    args = records_parser(__doc__).parse_args()
    scores = some_records(args.records, WordScore)
    with style.styled():
        style.save_figure(figure4b(scores), args.out_dir, "figure4b", scores)


if __name__ == "__main__":
    run(main)
