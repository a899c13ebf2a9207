"""Figure 6: retrieval of a sentence's translation after mapping mean-pooled sentence vectors, layer by layer.

python -m xling.report.figure6 --records figure6.csv --out-dir figures [--laser]
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.layer_curves import UNTRAINED as DASHED
from xling.report.layer_curves import Curve, Panel, draw_grid, level, points
from xling.report.names import LANGUAGES, in_order
from xling.report.records import MONOLINGUAL, UNTRAINED, SentenceScore

LASER = 95.0  # section 5.1.3: "over 95%, obtained by LASER" on Tatoeba; a bound from the text, no measurement of ours
DIRECTIONS = {"en-x": "English to other language", "x-en": "Other language to English"}
NOTE = "Solid: monolingual encoders. Dashed, same colour: untrained encoders. Dotted: chance."
LASER_NOTE = " LASER: the level that the paper's text gives; not run here."


def figure6(scores: Sequence[SentenceScore], laser: bool = False) -> Figure:
    """Return the figure: a panel a direction, a line a language; LASER's level on request."""
    layers = sorted({score.layer for score in scores})
    panels = [_panel(scores, direction, layers, laser) for direction in DIRECTIONS]
    return draw_grid([panels], 3.0, ["sentence retrieval, P@1 (%)"], NOTE + (LASER_NOTE if laser else ""))


def _panel(scores: Sequence[SentenceScore], direction: str, layers: Sequence[int], laser: bool) -> Panel:
    here = [score for score in scores if score.direction == direction]
    languages = in_order((score.language for score in scores), LANGUAGES)
    curves = []
    for language in languages:
        colour, marker = style.language_look(language, languages)
        named = UNTRAINED if language == languages[-1] else ""  # one label for all of them
        for model, label, mark, dashes in (
            (MONOLINGUAL, f"en-{language}", marker, "-"),
            (UNTRAINED, named, "", DASHED),
        ):
            found = points([x for x in here if (x.language, x.model) == (language, model)], "p1")
            if found:
                curves.append(Curve(label, found, colour, mark, dashes, style.GREY if model == UNTRAINED else ""))
    if here:
        curves.append(level("chance", max(score.chance for score in here), layers, style.GREY))
    if laser and here:
        curves.append(level("LASER: over 95", LASER, layers, style.BLACK))
    return Panel(DIRECTIONS[direction], tuple(curves), _absent(here, languages))


def _absent(here: Sequence[SentenceScore], languages: Sequence[str]) -> tuple[str, ...]:
    """Return what a direction lacks: a kind of encoder altogether, or for some languages."""
    found = {(score.model, score.language) for score in here}
    names = []
    for model in (MONOLINGUAL, UNTRAINED):
        lacking = [language for language in languages if (model, language) not in found]
        names += [model] if lacking == list(languages) else [f"en-{language} {model}" for language in lacking]
    return tuple(names)


def main() -> None:
    """Draw Figure 6 of a study."""
    parser = records_parser(__doc__)
    parser.add_argument("--laser", action="store_true", help="draw the level that the paper gives for LASER")
    args = parser.parse_args()
    scores = some_records(args.records, SentenceScore)
    with style.styled():
        style.save_figure(figure6(scores, args.laser), args.out_dir, "figure6", scores)


if __name__ == "__main__":
    run(main)
