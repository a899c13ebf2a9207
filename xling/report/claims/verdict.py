"""Checks against a border, the parts of a claim that they make up, and the verdict that follows.

A verdict rests on the values; intervals are shown beside them. Whatever is asked in several cells must hold in all of
them. Cells without signal are left out and cells that were not run are named; a part none of whose cells is left has
no verdict of its own, and a claim is supported only if all its parts are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xling.report.cells import ROUNDING
from xling.report.estimate import Estimate
from xling.report.records import Results


class Verdict(StrEnum):
    """What can be said about a claim."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    NO_SIGNAL = "not enough signal"
    NOT_RUN = "not run"


class Relation(StrEnum):
    """How an effect must stand to its border."""

    ABOVE = "above"
    AT_LEAST = "at least"
    AT_MOST = "at most"


class Unit(StrEnum):
    """What an effect is counted in."""

    POINTS = "points"
    SHARE = "share"
    TIMES = "times"
    CKA = "CKA"
    PEARSON = "r"


@dataclass(frozen=True)
class Check:
    """One effect at one place, and the border it must respect."""

    where: str
    effect: Estimate
    relation: Relation
    border: float = 0.0

    @property
    def margin(self) -> float:
        """By how much the effect respects its border (negative: it does not)."""
        distance = self.effect.value - self.border
        return -distance if self.relation is Relation.AT_MOST else distance

    @property
    def passed(self) -> bool:
        """Whether the effect respects its border, rounding errors of sums aside."""
        return self.margin > ROUNDING if self.relation is Relation.ABOVE else self.margin >= -ROUNDING


@dataclass(frozen=True)
class Part:
    """One assertion of a claim: checks of one kind, and the places where it could not be checked."""

    what: str
    unit: Unit
    checks: tuple[Check, ...] = ()
    left_out: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What the checks say together."""
        if not self.checks:
            return Verdict.NO_SIGNAL if self.left_out else Verdict.NOT_RUN
        return Verdict.SUPPORTED if all(check.passed for check in self.checks) else Verdict.NOT_SUPPORTED

    @property
    def weakest(self) -> Check | None:
        """The check that respects its border least."""
        return min(self.checks, key=lambda check: check.margin, default=None)


@dataclass(frozen=True)
class Claim:
    """A sub-claim of the paper: its number, what it says (after "that …"), where, and how results are judged.

    `paper` is what the paper says where it printed no numbers to judge.
    """

    number: str
    says: str
    source: str
    judge: Callable[[Results], Sequence[Part]]
    paper: str = ""


@dataclass(frozen=True)
class Outcome:
    """A claim judged on some results."""

    claim: Claim
    parts: tuple[Part, ...]

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict among the parts."""
        order = (Verdict.NOT_SUPPORTED, Verdict.NO_SIGNAL, Verdict.NOT_RUN)
        found = {part.verdict for part in self.parts}
        return next((verdict for verdict in order if verdict in found), Verdict.SUPPORTED)

    @property
    def deciding(self) -> Part:
        """The first part that has the claim's verdict."""
        return next(part for part in self.parts if part.verdict is self.verdict)


def judge(claim: Claim, results: Results) -> Outcome:
    """Return what some results say about a claim."""
    return Outcome(claim, tuple(claim.judge(results)))
