"""The rule by which a claim's parts, inequalities over some cells, are supported or not (docs/verdicts.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

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


class Unit(StrEnum):
    """What a value is counted in."""

    POINTS = "points"
    SHARE = "share"
    TIMES = "times"
    CKA = "CKA"
    PEARSON = "r"


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
    cells: tuple[str, ...] = ()
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
        unknown = any("unknown" in check.value.origins for check in checks)
        return Verdict.UNDECIDED if unknown else Verdict.CONTRADICTED
    if ends[0] <= 0:
        return Verdict.UNDECIDED
    return Verdict.MIXED if against else Verdict.SUPPORTED


def seeds_to_decide(value: Value, border: float) -> int | None:
    """Return with how many seeds of everything involved the interval would exclude the border; None if seeds cannot."""
    factor = float(stdtrit(value.freedom, 1 - TAIL))
    left = (value.observed - border) ** 2 - (factor * value.item_spread) ** 2
    seed_part = max(value.spread**2 - value.item_spread**2, 0.0)
    if left <= 0 or "unknown" in value.origins:
        return None
    needed = math.ceil(value.seeds * factor**2 * seed_part / left)
    return needed if needed <= MOST_SEEDS else None


@dataclass
class Part:
    """One inequality over its cells: what is asked, and what came of it.

    A cell counts as judged where all that the part asks of it was run and has signal. Where only some of it was run,
    what was run can contradict the part, but no more. A part none of whose cells is judged was not run; it has not
    enough signal only where all its cells were run and none has signal.
    """

    what: str
    unit: Unit = Unit.POINTS
    relation: Relation = Relation.ABOVE
    border: float = 0.0
    over: str = "cells"  # what is counted to say on how much a verdict rests
    ours: bool = False  # whether the border is ours: the paper gives no number
    checks: list[Check] = field(default_factory=list)
    cells: dict[str, Verdict | None] = field(default_factory=dict)  # all that it is about, and why not judged
    lacking: list[str] = field(default_factory=list)

    def ask(self, cell: str, missing: Sequence[str], clear: bool) -> bool:
        """Return whether a cell can be judged, where nothing is missing and it has signal, and note why not."""
        self.lacking += [name for name in missing if name not in self.lacking]
        self.cells[cell] = Verdict.NOT_RUN if missing else None if clear else Verdict.NO_SIGNAL
        return self.cells[cell] is None

    def add(
        self, where: str, value: Value | None, language: str | None = None, cells: Sequence[str] = (), **more: bool
    ) -> None:
        """Note what was found in a place, which judges some cells or is one; nothing, if it was not run there."""
        if value is None:
            self.cells[where] = Verdict.NOT_RUN
        else:
            self.checks.append(Check(where, value, language, tuple(cells) or (where,), **more))
            for cell in self.checks[-1].cells:
                self.cells.setdefault(cell)

    @property
    def left_out(self) -> list[str]:
        """The cells without enough signal."""
        return [cell for cell, why in self.cells.items() if why is Verdict.NO_SIGNAL]

    @property
    def not_run(self) -> list[str]:
        """The cells that were not run, or not in full."""
        return [cell for cell, why in self.cells.items() if why is Verdict.NOT_RUN]

    @property
    def _whole(self) -> list[Check]:
        return [check for check in self.checks if not check.partial]

    @cached_property
    def mean(self) -> Value:
        """The mean over the checks of whole cells, or over all where there are none."""
        return mean([check.value for check in self._whole or self.checks])

    @cached_property
    def verdict(self) -> Verdict:
        """What the checks say together."""
        if self.checks and decide(self.checks, self.relation, self.border) is Verdict.CONTRADICTED:
            return Verdict.CONTRADICTED
        if self._whole:
            return decide(self._whole, self.relation, self.border)
        return Verdict.NO_SIGNAL if self.left_out and not self.not_run else Verdict.NOT_RUN

    @property
    def seeds(self) -> int | None:
        """With how many seeds the part would be decided; None where seeds cannot do it."""
        return seeds_to_decide(self.mean, self.border)

    @property
    def judged(self) -> set[str]:
        """The cells that were judged."""
        return {cell for check in self._whole for cell in check.cells}

    @property
    def support(self) -> tuple[float, float]:
        """How near the part is to support, and on which share of its cells it rests."""
        confidence = standing(self.mean, self.relation, self.border).confidence if self.checks else 1.0
        return confidence, len(self.judged) / max(len(self.cells), 1)


def gravest(parts: Sequence[Part]) -> Verdict:
    """Return a claim's verdict; a part that could not be judged is graver than one that is undecided."""
    found = {part.verdict for part in parts}
    order = (Verdict.CONTRADICTED, Verdict.NO_SIGNAL, Verdict.NOT_RUN, Verdict.UNDECIDED, Verdict.MIXED)
    return next((verdict for verdict in order if verdict in found), Verdict.SUPPORTED)
