"""The forest plot of the verdicts: for each part of a claim, how far its cells and their mean are from the border."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from xling.report import style
from xling.report.claims.render import border_text, effect_text
from xling.report.names import LANGUAGES, in_order
from xling.report.rule import Relation, Verdict

LIMIT = 4.0  # half-widths of an interval that the picture shows; what is further stands at its edge
COLOURS = {
    Verdict.SUPPORTED: style.GREEN,
    Verdict.MIXED: style.ORANGE,
    Verdict.CONTRADICTED: style.VERMILION,
    Verdict.UNDECIDED: style.GREY,
    Verdict.NO_SIGNAL: style.LIGHT,
    Verdict.NOT_RUN: style.LIGHT,
}
ROW, TOP, BOTTOM = 0.27, 0.6, 0.55  # inches
LEFT, RIGHT = 0.37, 0.63  # of the width: where the drawing begins and ends; text stands on both sides
LETTERS = 48  # of a part's name in one line
COLUMNS = {"effect, interval, wanted": 0.64, "clear/open/\nagainst": 0.825, "verdict,\nseeds needed": 0.995}
NOTE = (
    "Distance from the border in half-widths of the part's own 95% interval: right of 0 the claim holds. "
    "Bar: mean with its interval; dots: cells, coloured by language; diamond: the paper; arrows: further out."
)


@dataclass(frozen=True)
class Mark:
    """Something that the plot shows: a part's mean, one of its cells, or the paper's mean, in units of its half-width.

    The margin is positive where the claim holds.
    """

    KEY: ClassVar = ("claim", "part", "kind", "where")
    claim: str
    part: str
    kind: str
    where: str
    language: str
    value: float
    margin: float


def marks(claims: Mapping[str, Any]) -> list[Mark]:
    """Return everything that the plot shows, from verdicts as they are stored."""
    return [mark for claim, part in _rows(claims) for mark in _marks(claim, part)]


def forest(claims: Mapping[str, Any]) -> Figure:
    """Return the plot: one row for each part that could be judged."""
    rows = list(_rows(claims))
    height = TOP + BOTTOM + ROW * max(len(rows), 1)
    figure = style.new_figure(height=height, fitted=False)
    figure.set_facecolor("white")  # readable on a dark page too
    axes = figure.add_axes((LEFT, BOTTOM / height, RIGHT - LEFT, 1 - (TOP + BOTTOM) / height))
    axes.set_xlim(-LIMIT - 0.3, LIMIT + 0.3)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.axvline(0, color=style.BLACK, linewidth=0.8)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    style.light_grid(axes, "x")
    for place, (claim, part) in enumerate(rows):
        _draw_row(axes, place, claim, part)
    look: dict[str, Any] = {"va": "bottom", "fontsize": 6.5, "color": style.ink(style.GREY)}
    for title, x in COLUMNS.items():
        figure.text(x, 1 - (TOP - 0.06) / height, title, ha="right" if x > 0.9 else "left", **look)
    found = in_order({mark.language for mark in marks(claims) if mark.language}, LANGUAGES)
    _legend(figure, found)
    figure.text(0.005, 0.06 / height, fill(NOTE, 150), fontsize=6, color=style.ink(style.GREY), va="bottom")
    return figure


def _rows(claims: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    return ((claim, part) for claim in claims["claims"] for part in claim["parts"] if part["checks"])


def _marks(claim: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Mark]:
    sign, width = Relation(part["relation"]).sign, (part["high"] - part["low"]) / 2

    def mark(kind: str, where: str, value: float, language: str | None = None) -> Mark:
        margin = sign * (value - part["border"])
        units = margin / width if width else float(np.sign(margin)) * (LIMIT + 1)
        return Mark(claim["claim"], part["what"], kind, where, language or "", value, units)

    yield mark("mean", "", part["value"])
    for check in part["checks"]:
        if check["shown"]:
            yield mark("cell", check["where"], check["value"], check["language"])
    if part["paper"] is not None:
        yield mark("paper", "", part["paper"]["value"])


def _draw_row(axes: Axes, place: int, claim: Mapping[str, Any], part: Mapping[str, Any]) -> None:
    verdict = Verdict(part["verdict"])
    colour, figure_x = COLOURS[verdict], axes.get_yaxis_transform()
    first = part is claim["parts"][0] or part is next(p for p in claim["parts"] if p["checks"])
    if first and place:
        axes.axhline(place - 0.5, xmin=-1.4, xmax=2.4, color=style.LIGHT, linewidth=0.5, clip_on=False)
    for mark in _marks(claim, part):
        x, inside = float(np.clip(mark.margin, -LIMIT, LIMIT)), abs(mark.margin) <= LIMIT
        if mark.kind == "mean":
            reach = [max(x - 1, -LIMIT), min(x + 1, LIMIT)] if part["high"] > part["low"] else [x, x]
            axes.plot(reach, [place, place], color=colour, linewidth=3.5, solid_capstyle="butt", zorder=2)
            axes.plot(x, place, _shape(x, inside, "|"), color=style.BLACK, markersize=7 if inside else 4, zorder=4)
        elif mark.kind == "cell":
            dot = style.language_look(mark.language)[0] if mark.language else style.GREY
            axes.plot(x, place + 0.24, _shape(x, inside, "o"), color=dot, markersize=2.6, alpha=0.85, zorder=3)
        else:
            look: dict[str, Any] = {"color": style.BLACK, "markerfacecolor": "white", "markersize": 4.5, "zorder": 3}
            axes.plot(x, place - 0.22, _shape(x, inside, "D"), markeredgewidth=0.8, **look)
    wide = (1 / (RIGHT - LEFT), LEFT / (RIGHT - LEFT))
    look = {"transform": figure_x, "va": "center", "fontsize": 6.2, "clip_on": False}
    if first:
        axes.text(0.003 * wide[0] - wide[1], place, claim["claim"], fontweight="bold", **look)
    axes.text(0.035 * wide[0] - wide[1], place, fill(part["what"], LETTERS), linespacing=0.95, **look)
    seeds = f"\n{part['seeds_to_decide']} seeds" if part["seeds_to_decide"] else ""
    counts = f"{part['clear']}/{part['open']}/{part['against']}"
    texts = (f"{effect_text(part)}\n{border_text(part)}", counts, f"{verdict}{seeds}")
    for text, x in zip(texts, COLUMNS.values(), strict=True):
        tone = style.ink(colour) if x > 0.9 else style.BLACK
        axes.text(x * wide[0] - wide[1], place, text, color=tone, ha="right" if x > 0.9 else "left", **look)


def _shape(x: float, inside: bool, shape: str) -> str:
    """Return a marker, or an arrow where the mark is beyond the edge."""
    return shape if inside else ">" if x > 0 else "<"


def _legend(figure: Figure, languages: Sequence[str]) -> None:
    looks = [(code, style.language_look(code)[0], "o", style.language_look(code)[0]) for code in languages]
    looks += [("means, comparisons", style.GREY, "o", style.GREY), ("paper", style.BLACK, "D", "white")]
    handles = [
        Line2D([], [], linestyle="", marker=marker, markersize=4, color=colour, markerfacecolor=face, label=label)
        for label, colour, marker, face in looks
    ]
    figure.legend(handles=handles, loc="upper left", ncols=len(handles), frameon=False, fontsize=6.5, handletextpad=0.1)
