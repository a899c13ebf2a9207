"""The verdicts for the template: a row for each claim, each claim with every check, and the seed variances."""

from typing import Any

from xling.report.claims import render
from xling.report.claims.render import Stored
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
    rows = [[cell.strip("*") for cell in render.row(claim)] for claim in stored["claims"]]
    return data_table(["No.", *render.ROW_COLUMNS[1:]], rows, "verdicts")


def seed_variances(stored: Stored) -> Table:
    """Return how much seeds vary, for each kind of measurement and group of models."""
    rows = [render.variance_row(own) for own in stored["seed_variance"]]
    return data_table(render.SEED_COLUMNS, rows, "seed variance")


def shown_claim(claim: Stored) -> dict[str, Any]:
    """Return a claim with what this run shows of it."""
    kind, sign = CLASSES[Verdict(claim["verdict"])]
    places = {title: dict.fromkeys(at for part in claim["parts"] for at in part[key]) for key, title in NOTES.items()}
    only = "only " if claim["judged"] < claim["wanted"] else ""
    return {
        **claim,
        "kind": kind,
        "sign": sign,
        "brief": f"{claim['verdict']}, {only}{claim['judged']} of {claim['wanted']} {claim['counted_in']}",
        "checks": _checks(claim),
        "notes": [(title, list(found)) for title, found in places.items() if found],
    }


def _checks(claim: Stored) -> Table | None:
    rows, groups = [], []
    for part in (part for part in claim["parts"] if part["checks"]):
        what, wanted = part["what"][:1].upper() + part["what"][1:], render.border_text(part)
        for check in part["checks"]:
            value, low, high = (render.number(check[key], part) for key in ("value", "low", "high"))
            shown = f"{value} [{low}, {high}]" if check["shown"] else "denominator too noisy"
            rows.append((check["where"], shown, f"{check['confidence']:.3f}", check["state"]))
            groups.append(f"{what}: {render.effect_text(part)}, wanted {wanted}: {part['verdict']}")
    titles = ("Where", "This run", "Confidence", "State")
    return data_table(titles, rows, f"checks of claim {claim['claim']}", groups) if rows else None
