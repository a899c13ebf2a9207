"""Effects and verdicts in words."""

from collections.abc import Sequence

from xling.report.claims.verdict import Check, Coverage, Outcome, Part, Relation, Unit, Verdict
from xling.report.estimate import Estimate

OPENINGS = {
    Verdict.SUPPORTED: "{basis} the values of this run agree with the claim that {says}: {why}.",
    Verdict.NOT_SUPPORTED: "{basis} the values of this run do not agree with the claim that {says}: {why}.",
    Verdict.NO_SIGNAL: "This run cannot tell whether {says}: {why}.",
    Verdict.NOT_RUN: "Not checked whether {says}: {why}.",
}
SUFFIX = {Unit.POINTS: " points", Unit.SHARE: "", Unit.TIMES: " times", Unit.CKA: "", Unit.PEARSON: ""}
BECAME = {  # of one part, of several
    Verdict.SUPPORTED: ("holds", "hold"),
    Verdict.NOT_SUPPORTED: ("does not hold", "do not hold"),
    Verdict.NO_SIGNAL: ("has not enough signal", "have not enough signal"),
    Verdict.NOT_RUN: ("was not run", "were not run"),
}
SHOWN_PLACES = 6
MOST_DIGITS = 6
JUDGED = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)


def standing(verdict: Verdict, coverage: Coverage) -> str:
    """Return a verdict with what it rests on, as "supported on what was run: 1 of 6 cells"."""
    if verdict not in JUDGED:
        return f"{verdict}: {counted(coverage)} could be judged"
    if coverage.whole:
        return f"{verdict}: {counted(coverage)}"
    if not coverage.judged:
        return f"{verdict} on what was run: {counted(coverage)} in full"
    return f"{verdict} on {_basis(coverage)}: {counted(coverage)}"


def brief_standing(verdict: Verdict, coverage: Coverage) -> str:
    """Return the same for a narrow column, as "supported, only 1 of 6 cells"."""
    only = "only " if verdict in JUDGED and not coverage.whole else ""
    return f"{verdict}, {only}{counted(coverage)}"


def counted(coverage: Coverage) -> str:
    """Return how many cells were judged of those that the claim is about."""
    return f"{coverage.judged} of {coverage.wanted} {coverage.over}"


def count_text(found: Sequence[tuple[Verdict, bool]]) -> str:
    """Return how many claims have which verdict; `found` has each with whether it rests on all that it is about."""
    texts = []
    for verdict in Verdict:
        whole = [rests for each, rests in found if each is verdict]
        fewer = len(whole) - sum(whole) if verdict in JUDGED else 0
        note = f" ({fewer} of them on fewer cells than the claim is about)" if fewer else ""
        texts += [f"{len(whole)} {verdict}{note}"] if whole else []
    return ", ".join(texts)


def sentence(outcome: Outcome) -> str:
    """Return one sentence in plain words: what the run shows of a claim, on how much, and why."""
    parts = [part for part in outcome.parts if part.verdict is outcome.verdict]
    if outcome.verdict in JUDGED:
        why = "; ".join(_counted(part) for part in parts) + _certainty(parts)
    elif outcome.verdict is Verdict.NO_SIGNAL:
        why = f"there is too little signal in {_some(_places(parts, 'left_out'))}"
    else:
        why = f"{' and '.join(part.what for part in parts)} could not be judged"
    why += _rest(outcome) + _unchecked(parts, outcome.verdict)
    text = OPENINGS[outcome.verdict].format(basis=_opening(outcome.coverage), says=outcome.claim.says, why=why)
    return text[:1].upper() + text[1:]


def effect_text(outcome: Outcome) -> str:
    """Return the range of each part's effects, as the paper's column of a table has it."""
    return "; ".join(f"{part.what}: {range_text(part)}" for part in outcome.parts if part.checks)


def range_text(part: Part) -> str:
    """Return from where to where the effects of a part go, both ends with their intervals."""
    ends = [pick(part.checks, key=lambda check: check.effect.value) for pick in (min, max)]
    texts = [number(end.effect, part.unit, end.border) for end in ends]
    return (texts[0] if ends[0].effect.value == ends[1].effect.value else " to ".join(texts)) + SUFFIX[part.unit]


def number(estimate: Estimate, unit: Unit, border: float | None = None) -> str:
    """Return an effect to the digits of its unit, with its interval where there is one.

    A value or an end just off the border that decides has more digits: rounded onto it, it would belie the verdict.
    """
    digits = 1 if unit in (Unit.POINTS, Unit.TIMES) else 2
    text = _rounded(estimate.value, digits, border)
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{_rounded(estimate.low, digits, border)}, {_rounded(estimate.high, digits, border)}]"


def _rounded(value: float, digits: int, border: float | None) -> str:
    enough = (n for n in range(digits, MOST_DIGITS + 1) if float(f"{value:.{n}f}") != border)
    text = f"{value:.{next(enough, digits)}f}"
    return text.lstrip("-") if float(text) == 0 else text


def _basis(coverage: Coverage) -> str:
    return "what was run" if coverage.judged == coverage.run else "what could be judged"


def _opening(coverage: Coverage) -> str:
    if coverage.whole:
        return f"on all {coverage.wanted} {coverage.over}"
    if not coverage.judged:
        return "on what was run, none of it in full,"
    return f"on {_basis(coverage)}, {counted(coverage)},"


def _counted(part: Part) -> str:
    whole, some = ([check for check in part.checks if bool(check.judges) is full] for full in (True, False))
    weakest = part.weakest
    if weakest is None:
        return part.what
    counts = [_counts(whole, part.unit)] if whole else []
    counts += [f"{_counts(some, part.unit)} where settings are missing"] if some else []
    return f"{part.what} is {', and '.join(counts)} (weakest {_weakest(weakest, part.unit)})"


def _weakest(check: Check, unit: Unit) -> str:
    return f"{number(check.effect, unit, check.border)}, {check.where}"


def _counts(checks: Sequence[Check], unit: Unit) -> str:
    borders = dict.fromkeys((check.relation, check.border) for check in checks)
    return " and ".join(_count(checks, *border, unit) for border in borders)


def _count(checks: Sequence[Check], relation: Relation, border: float, unit: Unit) -> str:
    asked = [check for check in checks if (check.relation, check.border) == (relation, border)]
    passed = sum(check.passed for check in asked)
    return f"{relation} {border:g}{SUFFIX[unit]} in {passed} of {len(asked)}"


def _certainty(parts: Sequence[Part]) -> str:
    checks = [check for part in parts for check in part.checks]
    bare = sum(check.effect.low is None or check.effect.high is None for check in checks)
    unsure = sum(check.unsure for check in checks)
    notes = [f"the interval reaches beyond the border in {unsure} of {len(checks)}"] if unsure else []
    notes += [f"no interval is known in {bare} of {len(checks)}"] if bare else []
    return "".join(f"; {note}" for note in notes)


def _rest(outcome: Outcome) -> str:
    """Say what became of the parts that did not decide."""
    others = [part for part in outcome.parts if part.verdict is not outcome.verdict]
    counts = {verdict: sum(part.verdict is verdict for part in others) for verdict in Verdict}
    total = len(outcome.parts)
    return "".join(f"; of its {total} parts {n} {BECAME[v][n > 1]}" for v, n in counts.items() if n)


def _unchecked(parts: Sequence[Part], verdict: Verdict) -> str:
    left_out = [] if verdict is Verdict.NO_SIGNAL else _places(parts, "left_out")
    not_run, lacking = _places(parts, "not_run"), _places(parts, "lacking")
    notes = [f"left out for too little signal: {_some(left_out)}"] if left_out else []
    without = f" (without {_some(lacking)})" if lacking else ""
    notes += [f"not run, or not in full: {_some(not_run)}{without}"] if not_run else []
    return "".join(f"; {note}" for note in notes)


def _places(parts: Sequence[Part], kind: str) -> list[str]:
    return list(dict.fromkeys(place for part in parts for place in getattr(part, kind)))


def _some(places: Sequence[str]) -> str:
    shown = list(places[:SHOWN_PLACES])
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
