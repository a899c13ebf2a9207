"""The verdicts for the template: a row of the forest plot for each claim, and the cells that are not clear."""

import re
from collections.abc import Collection
from typing import Any

from xling.report.claims import render
from xling.report.claims.render import Stored
from xling.report.figures.forest import LIMIT, marks
from xling.report.page.files import WORDS, Link
from xling.report.page.tables import Table, data_table
from xling.report.rule import Verdict

CLASSES = {
    Verdict.SUPPORTED: ("supported", "✓"),
    Verdict.MIXED: ("supported", "✓"),
    Verdict.CONTRADICTED: ("unsupported", "✗"),
    Verdict.UNDECIDED: ("unclear", "?"),
    Verdict.NO_SIGNAL: ("unclear", "~"),
    Verdict.NOT_RUN: ("absent", "–"),
}
UNIT = 10  # drawing units per half-width of an interval


def shown_claim(claim: Stored, ids: Collection[str]) -> dict[str, Any]:
    """Return a claim with its results; `ids` are the ids of the tables and figures on the page that it may link to."""
    verdict = render.worded(claim)
    kind, sign = CLASSES[verdict]
    part = claim["parts"][claim["deciding"]]
    only = "only " if claim["judged"] < claim["wanted"] else ""
    return {
        **claim,
        "name": WORDS["claims"].get(claim["claim"], claim["says"]),
        "verdict": verdict,
        "kind": kind,
        "sign": sign,
        "effect": render.effect_text(part) if part["checks"] else "",
        "border": render.border_text(part),
        "what": part["what"],
        "plot": _plot(claim, part) if part["checks"] else None,
        "brief": f"{verdict}, {only}{claim['judged']} of {claim['wanted']} {claim['counted_in']}",
        "seeds": render.seeds_text(claim),
        "shown_in": _sources(claim["source"], ids),
        "checks": _checks(claim),
        "clear_cells": sum(part["clear"] for part in claim["parts"]),
    }


def _plot(claim: Stored, part: Stored) -> dict[str, Any]:
    """Return the deciding part as a row of the forest plot, in units of the drawing; right of 0 the claim holds."""
    shown = marks(claim, part)
    places = [round(UNIT * max(-LIMIT, min(LIMIT, margin)), 1) for margin in shown["margin"]]
    (mean,), cells, paper = (
        [place for place, own in zip(places, shown["kind"], strict=True) if own == kind]
        for kind in ("mean", "cell", "paper")
    )
    low, high = (max(-UNIT * LIMIT, min(UNIT * LIMIT, mean + step)) for step in (-UNIT, UNIT))
    bar = (low, round(high - low, 1)) if part["high"] > part["low"] else None
    return {"mean": mean, "bar": bar, "cells": cells, "paper": paper[0] if paper else None}


def _sources(source: str, ids: Collection[str]) -> list[Link]:
    """Return links to the tables and figures behind a claim; "Figures 4a, 4b" gives two links."""
    word = source.partition(" ")[0].rstrip("s")
    kind = "table" if word == "Table" else "figure-figure"
    places = {f"{word} {number}": f"{kind}{number}" for number in re.findall(r"\d\w?", source)}
    return [Link(text, f"#{place}" if place in ids else "") for text, place in places.items()]


def _checks(claim: Stored) -> Table | None:
    """Return a table of the cells that are not clear, in the parts of a claim that are not supported."""
    rows, groups = [], []
    for part in (part for part in claim["parts"] if part["verdict"] != Verdict.SUPPORTED):
        for check in (check for check in part["checks"] if check["state"] != "clear"):
            value, low, high = (render.number(check[key], part) for key in ("value", "low", "high"))
            shown = f"{value} [{low}, {high}]" if check["shown"] else "denominator too noisy"
            rows.append((check["where"], shown, check["state"]))
            groups.append(f"{part['what'][:1].upper()}{part['what'][1:]}, wanted {render.border_text(part)}")
    titles = ("Where", "This run", "State")
    return data_table(titles, rows, f"checks of claim {claim['claim']}", groups) if rows else None
