"""Checks against a border, the parts of a claim that they make up, and the verdict that follows.

A verdict rests on the values; intervals are shown beside them. Whatever is asked in several cells must hold in all of
them, and a claim is supported only if all its parts are.

A cell counts as judged where all that the part asks of it was run and has signal. Where only some of it was run, what
was run can refute the part, but no more. A part none of whose cells is judged was not run; it has not enough signal
only where all its cells were run and none has signal. Every verdict says on how many of the cells that the paper's
claim is about it rests. For a claim of several parts that is the share of the least covered of those that decide.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xling.report.cells import ROUNDING
from xling.report.estimate import Estimate
from xling.report.means import Means


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


class Over(StrEnum):
    """What is counted to say on how much a verdict rests."""

    CELLS = "cells"  # a task and a language of Table 1, Figures 5 and 8
    ROWS = "rows"  # a task and a setting of Table 1
    PAIRS = "pairs"  # English and another language
    CURVES = "curves"  # a pair and a kind of model of Figure 7
    COMPARISONS = "comparisons"  # of two pairs


@dataclass(frozen=True)
class Check:
    """One effect at one place, and the border it must respect.

    `cells` are those that it judges, by default the place itself; a check that judges none can only refute. `language`
    is set where the check is about one language alone.
    """

    where: str
    effect: Estimate
    relation: Relation
    border: float = 0.0
    cells: tuple[str, ...] | None = None
    language: str | None = None

    @property
    def judges(self) -> tuple[str, ...]:
        """The cells that this check judges."""
        return (self.where,) if self.cells is None else self.cells

    @property
    def margin(self) -> float:
        """By how much the effect respects its border (negative: it does not)."""
        distance = self.effect.value - self.border
        return -distance if self.relation is Relation.AT_MOST else distance

    @property
    def passed(self) -> bool:
        """Whether the effect respects its border, rounding errors of sums aside."""
        return self.margin > ROUNDING if self.relation is Relation.ABOVE else self.margin >= -ROUNDING

    @property
    def unsure(self) -> bool:
        """Whether the interval has values on the other side of the border."""
        if self.effect.low is None or self.effect.high is None:
            return False
        ends = (Estimate(self.effect.low), Estimate(self.effect.high))
        return any(Check(self.where, end, self.relation, self.border).passed is not self.passed for end in ends)


@dataclass(frozen=True)
class Coverage:
    """How many of the cells that a claim is about were asked for, were run, and could be judged."""

    judged: int
    run: int
    wanted: int
    over: Over

    @property
    def whole(self) -> bool:
        """Whether every cell was judged."""
        return self.judged == self.wanted

    @property
    def share(self) -> float:
        """The share that was judged."""
        return self.judged / self.wanted if self.wanted else 0.0


@dataclass(frozen=True)
class Part:
    """One assertion of a claim: the cells it is about, checks of one kind, and the cells that could not be judged.

    `lacking` names what was not run in the cells that were not run, or not all of them.
    """

    what: str
    unit: Unit
    checks: tuple[Check, ...] = ()
    left_out: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    over: Over = Over.CELLS

    @property
    def verdict(self) -> Verdict:
        """What the checks say together."""
        if not all(check.passed for check in self.checks):
            return Verdict.NOT_SUPPORTED
        if self.judged:
            return Verdict.SUPPORTED
        return Verdict.NO_SIGNAL if self.left_out and not self.not_run else Verdict.NOT_RUN

    @property
    def judged(self) -> tuple[str, ...]:
        """The cells that were judged."""
        return _once(cell for check in self.checks for cell in check.judges)

    @property
    def coverage(self) -> Coverage:
        """How many cells were judged of those that the paper's claim is about."""
        wanted = _once((*self.asked, *self.judged, *self.left_out, *self.not_run))
        return Coverage(len(self.judged), len(wanted) - len(_once(self.not_run)), len(wanted), self.over)

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
    judge: Callable[[Means], Sequence[Part]]
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

    @property
    def coverage(self) -> Coverage:
        """The coverage of the least covered part that has the claim's verdict; of equals, the one with most cells."""
        found = [part.coverage for part in self.parts if part.verdict is self.verdict]
        return min(found, key=lambda coverage: (coverage.share, -coverage.wanted))


def judge(claim: Claim, results: Means) -> Outcome:
    """Return what some results say about a claim."""
    return Outcome(claim, tuple(claim.judge(results)))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
