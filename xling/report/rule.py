"""The rule by which an inequality over some cells is supported, contradicted or undecided (docs/verdicts.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import stdtr, stdtrit

from xling.report.evidence import TAIL, Value, mean

MOST_SEEDS = 20  # if more were needed, more seeds cannot decide


class Verdict(StrEnum):
    """What can be said about a claim or a part of it."""

    SUPPORTED = "supported"
    MIXED = "mixed"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NO_SIGNAL = "not enough signal"
    NOT_RUN = "not run"


class Relation(StrEnum):
    """The relation that a claim requires between a value and its border."""

    ABOVE = "above"
    AT_LEAST = "at least"
    AT_MOST = "at most"

    @property
    def sign(self) -> int:
        """1 where larger values are better, else -1."""
        return -1 if self is Relation.AT_MOST else 1


@dataclass(frozen=True)
class Check:
    """One inequality for a cell or some cells; if `partial`, some were not run: it can contradict but not support."""

    where: str
    value: Value
    language: str | None = None
    cells: tuple[str, ...] = ()  # the cells that it judges, if not just `where`
    partial: bool = False
    shown: bool = True  # False: a ratio whose denominator is too noisy to be read


@dataclass(frozen=True)
class Standing:
    """Where a value stands: as observed, its 95% interval, and the confidence that the inequality holds."""

    value: float
    low: float
    high: float
    confidence: float

    def state(self, tests: int) -> str:
        """Return clear, open, or against (corrected for the number of tests, as Bonferroni)."""
        if self.confidence <= TAIL / tests:
            return "against"
        return "clear" if self.confidence >= 1 - TAIL else "open"


def standing(value: Value, relation: Relation, border: float) -> Standing:
    """Return where a value stands to a border."""
    reach = float(stdtrit(value.freedom, 1 - TAIL)) * value.spread
    margin = relation.sign * (value.observed - border)
    exact = 0.5 + 0.5 * float(np.sign(margin))
    confidence = float(stdtr(value.freedom, margin / value.spread)) if value.spread > 0 else exact
    return Standing(value.observed, value.observed - reach, value.observed + reach, confidence)


def decide(checks: Sequence[Check], relation: Relation, border: float) -> Verdict:
    """Return the verdict on one inequality over its cells."""
    whole = standing(mean([check.value for check in checks]), relation, border)
    ends = sorted(relation.sign * (end - border) for end in (whole.low, whole.high))
    against = any(standing(c.value, relation, border).state(len(checks)) == "against" for c in checks)
    if ends[1] < 0 or (ends[0] <= 0 and against):
        # With one seed the variance is unknown, so a failure may be that seed's.
        return Verdict.CONTRADICTED if all(check.value.known for check in checks) else Verdict.UNDECIDED
    if ends[0] <= 0:
        return Verdict.UNDECIDED
    return Verdict.MIXED if against else Verdict.SUPPORTED


def seeds_to_decide(value: Value, border: float) -> int | None:
    """Return with how many seeds of everything involved the interval would exclude the border; None if seeds cannot."""
    factor = float(stdtrit(value.freedom, 1 - TAIL))
    left = (value.observed - border) ** 2 - (factor * value.item_spread) ** 2
    seed_part = max(value.spread**2 - value.item_spread**2, 0.0)
    if left <= 0 or not value.known:
        return None
    needed = math.ceil(value.seeds * factor**2 * seed_part / left)
    return needed if needed <= MOST_SEEDS else None
