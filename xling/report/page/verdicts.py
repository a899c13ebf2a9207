"""The verdicts for the template: a row for each claim, each claim with every check, and the seed variances."""

from typing import Any

from xling.report.claims.render import (
    ROW_COLUMNS,
    SEED_COLUMNS,
    Stored,
    border_text,
    effect_text,
    number,
    row,
    variance_row,
)
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
NOTES = {
    "left_out": "Left out for too little signal",
    "not_run": "Not run, or not in full",
    "lacking": "What was missing there",
}


def overview(stored: Stored) -> Table:
    """Return one row for each claim: effect, interval, the paper's value, verdict, seeds to decide."""
    rows = [[cell.strip("*") for cell in row(claim)] for claim in stored["claims"]]
    return data_table(["No.", *ROW_COLUMNS[1:]], rows, "verdicts")


def seed_variances(stored: Stored) -> Table:
    """Return how much seeds vary, for each kind of measurement and group of models."""
    return data_table(SEED_COLUMNS, [variance_row(own) for own in stored["seed_variance"]], "seed variance")


def shown_claim(claim: Stored) -> dict[str, Any]:
    """Return a claim with what this run shows of it."""
    kind, sign = CLASSES[Verdict(claim["verdict"])]
    places = {title: dict.fromkeys(at for part in claim["parts"] for at in part[key]) for key, title in NOTES.items()}
    only = "only " if claim["judged"] < claim["wanted"] else ""
    return {
        "number": claim["claim"],
        "kind": kind,
        "sign": sign,
        "says": _capital(claim["says"]),
        "brief": f"{claim['verdict']}, {only}{claim['judged']} of {claim['wanted']} {claim['counted_in']}",
        "sentence": claim["sentence"],
        "paper": (f"The paper, {claim['source']}", claim["paper"]),
        "count": sum(len(part["checks"]) for part in claim["parts"]),
        "checks": _checks(claim),
        "notes": [(title, list(found)) for title, found in places.items() if found],
    }


def _checks(claim: Stored) -> Table | None:
    rows, groups = [], []
    for part in (part for part in claim["parts"] if part["checks"]):
        heading = f"{_capital(part['what'])}: {effect_text(part)}, wanted {border_text(part)}: {part['verdict']}"
        for check in part["checks"]:
            ends = f"{number(check['value'], part)} [{number(check['low'], part)}, {number(check['high'], part)}]"
            shown = ends if check["shown"] else "denominator too noisy"
            rows.append((check["where"], shown, f"{check['confidence']:.3f}", check["state"]))
            groups.append(heading)
    titles = ("Where", "This run", "Confidence", "State")
    return data_table(titles, rows, f"checks of claim {claim['claim']}", groups) if rows else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
