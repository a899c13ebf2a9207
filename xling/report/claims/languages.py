"""In which languages a claim's checks hold: of those checks that are about one language alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xling.report.claims.verdict import Outcome
from xling.report.names import OTHERS, in_order


@dataclass(frozen=True)
class Held:
    """How many checks hold, of those that were made."""

    held: int
    checks: int

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.held} of {self.checks}"


def by_language(outcome: Outcome) -> dict[str, Held]:
    """Return for each language that a claim's checks are about how many of them hold."""
    checks = [check for part in outcome.parts for check in part.checks if check.judges]
    codes = in_order({check.language for check in checks if check.language}, OTHERS)
    passed = {code: [check.passed for check in checks if check.language == code] for code in codes}
    return {code: Held(sum(found), len(found)) for code, found in passed.items()}


def languages_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the lines of a Markdown table, rows are claims, columns languages; none if nothing was judged."""
    found: Mapping[str, Mapping[str, Held]] = {o.claim.number: held for o in outcomes if (held := by_language(o))}
    codes = in_order({code for own in found.values() for code in own}, OTHERS)
    rows = [f"| {number} | {' | '.join(str(own.get(code, '-')) for code in codes)} |" for number, own in found.items()]
    return [f"| | {' | '.join(codes)} |", f"|---|{'---|' * len(codes)}", *rows] if rows else []
