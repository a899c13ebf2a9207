"""The forest plot of the verdicts: for each part of a claim, the distance of cells and mean from the threshold."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from xling.report import style
from xling.report.claims.render import effect_text, threshold_text
from xling.report.names import LANGUAGES, in_order
from xling.report.rule import Relation, Verdict

LIMIT = 4.0  # the range shown, in half-widths of an interval; marks further out are drawn at the edge
COLOURS = {
    Verdict.SUPPORTED: style.GREEN,
    Verdict.MIXED: style.ORANGE,
    Verdict.CONTRADICTED: style.VERMILION,
    Verdict.UNDECIDED: style.GREY,
    Verdict.NO_SIGNAL: style.LIGHT,
    Verdict.NOT_RUN: style.LIGHT,
}
ROW, TOP, BOTTOM = 0.27, 0.6, 0.55  # inches
LEFT, RIGHT = 0.37, 0.63  # shares of the width at which the plot begins and ends; there is text on both sides
LETTERS = 48  # letters per line of the name of a part
COLUMNS = {"effect, interval, wanted": 0.64, "clear/open/\nagainst": 0.825, "verdict,\nseeds needed": 0.995}
NOTE = (
    "Distance from the threshold in half-widths of the part's own 95% interval: right of 0 the claim holds. "
    "Bar: mean with its interval; small marks: cells, by language; white diamond: the paper, in the same half-widths; "
    "arrows: further out, with their number."
)
MARK = ["claim", "part", "kind", "where", "language", "value", "margin"]
Stored = Mapping[str, Any]


def marks(claim: Stored, part: Stored) -> pd.DataFrame:
    """Return the marks in the row of a part: its mean, the ends of its interval, its cells and the paper's mean.

    The margin of a mark is in half-widths of the part's interval, and positive if the claim holds.
    """
    found = [(kind, "", "", part[key]) for kind, key in (("mean", "value"), ("low", "low"), ("high", "high"))]
    shown = [check for check in part["checks"] if check["shown"]]
    found += [("cell", check["where"], check["language"] or "", check["value"]) for check in shown]
    found += [("paper", "", "", part["paper"]["value"])] if part["paper"] is not None else []
    sign, width = Relation(part["relation"]).sign, (part["high"] - part["low"]) / 2
    margins = [sign * (value - part["threshold"]) for *_, value in found]
    units = [margin / width if width else float(np.sign(margin)) * (LIMIT + 1) for margin in margins]
    rows = [(claim["claim"], part["what"], *one, unit) for one, unit in zip(found, units, strict=True)]
    return pd.DataFrame(rows, columns=MARK, dtype=object)


def forest(claims: Stored) -> tuple[Figure, pd.DataFrame]:
    """Return the plot, with one row per part that could be judged, and a table of its marks."""
    rows = [(claim, part) for claim in claims["claims"] for part in claim["parts"] if part["checks"]]
    shown = [marks(claim, part) for claim, part in rows]
    height = TOP + BOTTOM + ROW * max(len(rows), 1)
    figure = style.new_figure(height=height, fitted=False)
    figure.set_facecolor("white")  # also readable on a dark page
    axes = figure.add_axes((LEFT, BOTTOM / height, RIGHT - LEFT, 1 - (TOP + BOTTOM) / height))
    axes.set(xlim=(-LIMIT - 0.3, LIMIT + 0.3), ylim=(max(len(rows), 1) - 0.5, -0.5), yticks=[])
    axes.axvline(0, color=style.BLACK, linewidth=0.8)
    axes.spines["left"].set_visible(False)
    style.light_grid(axes, "x")
    for place, (claim, part) in enumerate(rows):
        first = place == 0 or rows[place - 1][0] is not claim
        if first and place:
            axes.axhline(place - 0.5, xmin=-1.4, xmax=2.4, color=style.LIGHT, linewidth=0.5, clip_on=False)
        _draw_marks(axes, place, part, shown[place])
        _write_row(axes, place, claim["claim"] if first else "", part)
    look: dict[str, Any] = {"fontsize": 6.5, "color": style.ink(style.GREY), "va": "bottom"}
    for title, x in COLUMNS.items():
        figure.text(x, 1 - (TOP - 0.06) / height, title, ha="right" if x > 0.9 else "left", **look)
    table = pd.concat([pd.DataFrame(columns=MARK, dtype=object), *shown])
    languages = in_order({code for code in table["language"] if code}, LANGUAGES)
    looks = [(code, colour, marker, colour) for code in languages for colour, marker in [style.language_look(code)]]
    looks += [("means, comparisons", style.GREY, "o", style.GREY), ("paper", style.BLACK, "D", "white")]
    handles = [
        Line2D([], [], linestyle="", marker=marker, markersize=4, color=colour, markerfacecolor=face, label=label)
        for label, colour, marker, face in looks
    ]
    figure.legend(handles=handles, loc="upper left", ncols=len(handles), frameon=False, fontsize=6.5, handletextpad=0.1)
    figure.text(0.005, 0.06 / height, fill(NOTE, 150), **look | {"fontsize": 6})
    return figure, table


def _draw_marks(axes: Axes, place: int, part: Stored, shown: pd.DataFrame) -> None:
    """Draw the interval, the mean, the cells and the paper's mean; a mark beyond the edge becomes an arrow."""
    cells = shown.loc[shown["kind"] == "cell", "margin"]
    for side, where in ((-1, "right"), (1, "left")):
        if (beyond := int((side * cells > LIMIT).sum())) > 1:  # arrows that lie on each other are counted
            axes.text(side * (LIMIT + 0.12), place + 0.26, str(beyond), fontsize=4.5, ha=where, va="center")
    for mark in shown.itertuples():
        x, inside = float(np.clip(mark.margin, -LIMIT, LIMIT)), abs(mark.margin) <= LIMIT
        arrow = "" if inside else ">" if x > 0 else "<"
        if mark.kind == "mean":
            tone, bar = COLOURS[Verdict(part["verdict"])], shown.loc[shown["kind"].isin(["low", "high"]), "margin"]
            ends = np.clip(bar.astype(float), -LIMIT, LIMIT)
            axes.plot(ends, [place, place], linewidth=3.5, zorder=2, color=tone, solid_capstyle="butt")
            look: dict[str, Any] = {"color": style.BLACK if inside else tone, "markersize": 7 if inside else 6}
            axes.plot(x, place, arrow or "|", zorder=4, **look)
        elif mark.kind == "cell":
            colour, shape = style.language_look(mark.language) if mark.language else (style.GREY, "o")
            look = {"color": colour, "markersize": 3.2, "markeredgewidth": 0, "alpha": 0.85, "zorder": 3}
            axes.plot(x, place + 0.24, arrow or shape, **look)
        elif mark.kind == "paper":
            look = {"color": style.BLACK, "markerfacecolor": "white", "markersize": 4.5, "zorder": 3}
            axes.plot(x, place - 0.22, arrow or "D", markeredgewidth=0.8, **look)


def _write_row(axes: Axes, place: int, number: str, part: Stored) -> None:
    """Write the number of the claim and the part on the left, and the effect, counts and verdict on the right."""
    seeds = f"\n{part['seeds_to_decide']} seeds" if part["seeds_to_decide"] else ""
    counts = f"{part['clear']}/{part['open']}/{part['against']}"
    texts = (f"{effect_text(part)}\n{threshold_text(part)}", counts, f"{part['verdict']}{seeds}")
    written: list[tuple[float, str, dict[str, Any]]] = [(0.003, number, {"fontweight": "bold"})] if number else []
    written.append((0.035, fill(part["what"], LETTERS), {"linespacing": 0.95}))
    tone = style.ink(COLOURS[Verdict(part["verdict"])])
    for text, x in zip(texts, COLUMNS.values(), strict=True):
        written.append((x, text, {"color": tone, "ha": "right"} if x > 0.9 else {"color": style.BLACK, "ha": "left"}))
    look: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 6.2, "clip_on": False}
    for x, text, own in written:
        axes.text(x * (1 / (RIGHT - LEFT)) - LEFT / (RIGHT - LEFT), place, text, **look, **own)
