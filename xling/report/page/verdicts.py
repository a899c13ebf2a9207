"""The verdicts for the template: each claim with its effect, the paper's value and every check."""

from collections.abc import Mapping, Sequence
from typing import Any

from xling.report.claims.stored import stored_coverage
from xling.report.claims.verdict import Relation, Unit, Verdict
from xling.report.claims.words import SUFFIX, brief_standing, count_text, counted, number
from xling.report.estimate import Estimate
from xling.report.page.tables import Table, data_table

CLASSES = {
    Verdict.SUPPORTED: ("supported", "✓"),
    Verdict.NOT_SUPPORTED: ("unsupported", "✗"),
    Verdict.NO_SIGNAL: ("unclear", "~"),
    Verdict.NOT_RUN: ("absent", "–"),
}
NOTES = {
    "left_out": "Left out for too little signal",
    "not_run": "Not run, or not in full",
    "lacking": "What was missing there",
}
Claim = Mapping[str, Any]


def counts(claims: Sequence[Claim]) -> str:
    """Return how many claims have which verdict."""
    return count_text([(Verdict(claim["verdict"]), stored_coverage(claim).whole) for claim in claims])


def shown_claim(claim: Claim) -> dict[str, Any]:
    """Return a claim with what this run shows of it."""
    kind, sign = CLASSES[Verdict(claim["verdict"])]
    coverage = stored_coverage(claim)
    places = {title: dict.fromkeys(at for part in claim["parts"] for at in part[key]) for key, title in NOTES.items()}
    return {
        "number": claim["claim"],
        "kind": kind,
        "sign": sign,
        "some": "" if coverage.whole or not coverage.judged else f" {coverage.judged}/{coverage.wanted}",
        "says": _capital(claim["says"]),
        "stands": claim["stands"],
        "brief": brief_standing(Verdict(claim["verdict"]), coverage),
        "sentence": claim["sentence"],
        "facts": _facts(claim),
        "count": sum(len(part["checks"]) for part in claim["parts"]),
        "checks": _checks(claim),
        "notes": [(title, list(found)) for title, found in places.items() if found],
    }


def _facts(claim: Claim) -> list[tuple[str, str]]:
    effect = claim["effect"]
    weakest = f"{_value(effect)}, {effect['where']} (wanted: {_border(effect)})" if effect else str(claim["verdict"])
    facts = [("This run, weakest value", weakest), (f"The paper, {claim['source']}", claim["paper"]["effect"])]
    # Verdicts of older runs do not say in which languages their checks hold.
    held = [f"{code} {own['held']} of {own['checks']}" for code, own in claim.get("by_language", {}).items()]
    return [*facts, *([("Checks that hold, by language", ", ".join(held))] if held else [])]


def _checks(claim: Claim) -> Table | None:
    rows, groups = [], []
    for part in claim["parts"]:
        heading = f"{_capital(part['what'])}: {part['verdict']}, {counted(stored_coverage(part))}"
        for check in part["checks"]:
            holds = ("yes" if check["passed"] else "no") + (", interval beyond" if check["unsure"] else "")
            rows.append((check["where"], _value(check), _border(check), holds))
            groups.append(heading)
    titles = ("Where", "This run", "Wanted", "Holds")
    return data_table(titles, rows, f"checks of claim {claim['claim']}", groups) if rows else None


def _value(check: Claim) -> str:
    unit = Unit(check["unit"])
    return number(Estimate(check["value"], check["low"], check["high"]), unit, check["border"]) + SUFFIX[unit]


def _border(check: Claim) -> str:
    return f"{Relation(check['relation'])} {check['border']:g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
