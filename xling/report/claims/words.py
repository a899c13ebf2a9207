"""Effects and verdicts in words."""

from collections.abc import Sequence

from xling.report.claims.verdict import Check, Outcome, Part, Relation, Unit, Verdict
from xling.report.estimate import Estimate

OPENINGS = {
    Verdict.SUPPORTED: "This run shows that {says}: {why}.",
    Verdict.NOT_SUPPORTED: "This run does not show that {says}: {why}.",
    Verdict.NO_SIGNAL: "This run cannot tell whether {says}: there is too little signal in {places}.",
    Verdict.NOT_RUN: "Not checked whether {says}: {what} was not run.",
}
SUFFIX = {Unit.POINTS: " points", Unit.SHARE: "", Unit.TIMES: " times", Unit.CKA: "", Unit.PEARSON: ""}
SHOWN_PLACES = 6


def sentence(outcome: Outcome) -> str:
    """Return one sentence in plain words: what the run shows of a claim, and why."""
    part = outcome.deciding
    parts = outcome.parts if outcome.verdict is Verdict.SUPPORTED else [part]
    why = "; ".join(_counted(each) for each in parts if each.checks) + _unchecked(parts)
    places = _some(part.left_out)
    text = OPENINGS[outcome.verdict]
    return text.format(says=outcome.claim.says, why=why, places=places, what=part.what)


def effect_text(outcome: Outcome) -> str:
    """Return the range of each part's effects, as the paper's column of a table has it."""
    return "; ".join(f"{part.what}: {range_text(part)}" for part in outcome.parts if part.checks)


def range_text(part: Part) -> str:
    """Return from where to where the effects of a part go."""
    values = [check.effect for check in part.checks]
    if len({value.value for value in values}) == 1:
        return number(values[0], part.unit) + SUFFIX[part.unit]
    ends = (min(value.value for value in values), max(value.value for value in values))
    return " to ".join(number(Estimate(end), part.unit) for end in ends) + SUFFIX[part.unit]


def number(estimate: Estimate, unit: Unit) -> str:
    """Return an effect to the digits of its unit, with its interval where there is one."""
    digits = 1 if unit in (Unit.POINTS, Unit.TIMES) else 2
    text = _rounded(estimate.value, digits)
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{_rounded(estimate.low, digits)}, {_rounded(estimate.high, digits)}]"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def _counted(part: Part) -> str:
    borders = dict.fromkeys((check.relation, check.border) for check in part.checks)
    counts = [_count(part.checks, *border, part.unit) for border in borders]
    weakest = part.weakest
    if weakest is None:
        return part.what
    tightest = f"weakest {number(weakest.effect, part.unit)}, {weakest.where}"
    return f"{part.what} is {' and '.join(counts)} ({tightest})"


def _count(checks: Sequence[Check], relation: Relation, border: float, unit: Unit) -> str:
    asked = [check for check in checks if (check.relation, check.border) == (relation, border)]
    passed = sum(check.passed for check in asked)
    return f"{relation} {border:g}{SUFFIX[unit]} in {passed} of {len(asked)}"


def _unchecked(parts: Sequence[Part]) -> str:
    left_out = list(dict.fromkeys(place for part in parts for place in part.left_out))
    not_run = list(dict.fromkeys(place for part in parts for place in part.not_run))
    notes = [f"left out for too little signal: {_some(left_out)}"] if left_out else []
    notes += [f"not run: {_some(not_run)}"] if not_run else []
    return "".join(f"; {note}" for note in notes)


def _some(places: Sequence[str]) -> str:
    shown = list(places[:SHOWN_PLACES])
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
