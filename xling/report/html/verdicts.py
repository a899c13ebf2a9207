"""The verdicts: all claims at a glance, then each with its effect, the paper's value and every check."""

from collections.abc import Mapping, Sequence
from typing import Any

from xling.report.claims.render import RULES
from xling.report.claims.stored import stored_coverage
from xling.report.claims.verdict import Relation, Unit, Verdict
from xling.report.claims.words import SUFFIX, brief_standing, count_text, counted, number
from xling.report.estimate import Estimate
from xling.report.html.markdown import inline
from xling.report.html.markup import Html, el, fact, join
from xling.report.html.tables import Table, data_table

CLASSES = {
    Verdict.SUPPORTED: ("supported", "✓"),
    Verdict.NOT_SUPPORTED: ("unsupported", "✗"),
    Verdict.NO_SIGNAL: ("unclear", "~"),
    Verdict.NOT_RUN: ("absent", "–"),
}
SMALL = (
    "This is a run at a small budget: its scores are not points of the paper, "
    "so the claims are judged by what does not depend on scale."
)
Claim = Mapping[str, Any]


def glance(claims: Mapping[str, Any]) -> Html:
    """Return how many claims have which verdict, and a tile for each."""
    tiles = [el("li", _tile(claim)) for claim in claims["claims"]]
    total = len(claims["claims"])
    counts = count_text([(Verdict(claim["verdict"]), stored_coverage(claim).whole) for claim in claims["claims"]])
    return join(
        el("p", f"Of the paper's {total} claims: ", el("strong", counts), ".", class_="lead"),
        el("ol", tiles, class_="tiles", aria_label="Verdicts at a glance"),
        None if claims["paper_scale"] else el("p", SMALL, class_="note"),
    )


def verdict_section(claims: Mapping[str, Any]) -> Html:
    """Return every claim with what this run shows of it."""
    told = [el("p", inline(" ".join(text.split()))) for text in RULES.split("\n\n")]
    rules = el("details", el("summary", "How claims are judged"), *told)
    return join([_claim(claim) for claim in claims["claims"]], rules)


def _tile(claim: Claim) -> Html:
    kind, sign = CLASSES[Verdict(claim["verdict"])]
    name = f"Claim {claim['claim']}: {claim['stands']}"
    coverage = stored_coverage(claim)
    some = "" if coverage.whole or not coverage.judged else f" {coverage.judged}/{coverage.wanted}"
    sign_html = el("span", sign + some, class_="sign")
    return el("a", claim["claim"], " ", sign_html, href=f"#{_id(claim)}", class_=f"tile {kind}", aria_label=name)


def _claim(claim: Claim) -> Html:
    kind, sign = CLASSES[Verdict(claim["verdict"])]
    badge = el("p", el("span", f"{sign} ", aria_hidden="true"), _brief(claim), class_=f"badge {kind}")
    title = el("h3", el("span", claim["claim"], class_="gutter"), " ", _capital(claim["says"]))
    facts = [
        fact("This run, weakest value", _effect(claim)),
        fact(f"The paper, {claim['source']}", claim["paper"]["effect"]),
        *_alone(claim),
    ]
    return el(
        "article",
        el("div", title, badge, class_="claim-head"),
        el("p", claim["sentence"]),
        el("dl", facts, class_="facts"),
        _checks(claim),
        id=_id(claim),
        class_=f"claim {kind}",
    )


def _alone(claim: Claim) -> list[Html]:
    """Return in which languages the claim's checks hold; verdicts of older runs do not say."""
    counts = [f"{code} {own['held']} of {own['checks']}" for code, own in claim.get("by_language", {}).items()]
    return [fact("Checks that hold, by language", ", ".join(counts))] if counts else []


def _brief(claim: Claim) -> str:
    return brief_standing(Verdict(claim["verdict"]), stored_coverage(claim))


def _effect(claim: Claim) -> str:
    effect = claim["effect"]
    if effect is None:
        return str(claim["verdict"])
    return f"{_value(effect)}, {effect['where']} (wanted: {_border(effect)})"


def _checks(claim: Claim) -> Html | None:
    checks = [check for part in claim["parts"] for check in part["checks"]]
    if not checks:
        return None
    rows = [_check_row(check) for check in checks]
    groups = [f"{_capital(part['what'])}: {_rests(part)}" for part in claim["parts"] for _ in part["checks"]]
    table = Table(("Where", "This run", "Wanted", "Holds"), rows, groups)
    summary = el("summary", "One check" if len(rows) == 1 else f"All {len(rows)} checks")
    return el("details", summary, data_table(table, f"checks of claim {claim['claim']}"), *_unchecked(claim["parts"]))


def _check_row(check: Claim) -> Sequence[str]:
    holds = "yes" if check["passed"] else "no"
    return check["where"], _value(check), _border(check), f"{holds}, interval beyond" if check["unsure"] else holds


def _unchecked(parts: Sequence[Claim]) -> list[Html]:
    notes = (
        ("left_out", "Left out for too little signal"),
        ("not_run", "Not run, or not in full"),
        ("lacking", "What was missing there"),
    )
    places = [(title, list(dict.fromkeys(place for part in parts for place in part[key]))) for key, title in notes]
    return [el("p", f"{title}: {', '.join(names)}.", class_="note") for title, names in places if names]


def _rests(part: Claim) -> str:
    return f"{part['verdict']}, {counted(stored_coverage(part))}"


def _value(check: Claim) -> str:
    unit = Unit(check["unit"])
    return number(Estimate(check["value"], check["low"], check["high"]), unit, check["border"]) + SUFFIX[unit]


def _border(check: Claim) -> str:
    return f"{Relation(check['relation'])} {check['border']:g}"


def _id(claim: Claim) -> str:
    return f"claim-{claim['claim']}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
