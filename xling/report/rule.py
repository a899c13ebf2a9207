"""The rule that turns measured values into verdicts (docs/verdicts.md).

A claim has one or more parts. A part is an inequality, tested in each cell (usually a task and a language) and for the
mean of the cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from scipy.special import stdtr, stdtrit

from xling.report.value import TAIL, Value, mean

MOST_SEEDS = 20  # if more seeds than this are needed, we say that seeds cannot decide


class Verdict(StrEnum):
    """The verdict on a claim or on a part of it."""

    SUPPORTED = "supported"
    MIXED = "mixed"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NO_SIGNAL = "not enough signal"
    NOT_RUN = "not run"


class Unit(StrEnum):
    """The unit of a value."""

    POINTS = "points"
    SHARE = "share"
    TIMES = "times"
    CKA = "CKA"
    PEARSON = "r"


class Relation(StrEnum):
    """The relation that a claim requires between a value and its threshold."""

    ABOVE = "above"
    AT_LEAST = "at least"
    AT_MOST = "at most"

    @property
    def sign(self) -> int:
        """1 if larger values favour the claim, otherwise -1."""
        return -1 if self is Relation.AT_MOST else 1


@dataclass(frozen=True)
class Check:
    """A value by which one or more cells are judged.

    A check is `partial` if some settings that the part needs were not run; it can contradict the part, not support it.
    """

    where: str
    value: Value
    language: str | None = None
    cells: tuple[str, ...] = ()
    partial: bool = False
    shown: bool = True  # False for a ratio whose denominator is too noisy


@dataclass(frozen=True)
class Standing:
    """An observed value, its 95% interval, and the confidence that the inequality holds."""

    value: float
    low: float
    high: float
    confidence: float

    def state(self, tests: int) -> str:
        """Return "clear" (the inequality holds), "against" (it fails) or "open" (neither is certain).

        Only "against" is corrected for the number of tests (Bonferroni).
        """
        if self.confidence <= TAIL / tests:
            return "against"
        return "clear" if self.confidence >= 1 - TAIL else "open"


def standing(value: Value, relation: Relation, threshold: float) -> Standing:
    """Return the interval of a value and the confidence that it satisfies the relation to the threshold."""
    low, high = value.interval(float(stdtrit(value.freedom, 1 - TAIL)))
    margin, spread = relation.sign * (value.observed - threshold), value.spread_at(threshold)
    exact = 0.5 + 0.5 * float(np.sign(margin))
    confidence = float(stdtr(value.freedom, margin / spread)) if spread > 0 else exact
    return Standing(value.observed, low, high, confidence)


def decide(checks: Sequence[Check], relation: Relation, threshold: float) -> Verdict:
    """Return the verdict on one inequality over its cells."""
    whole = standing(mean([check.value for check in checks]), relation, threshold)
    ends = sorted(relation.sign * (end - threshold) for end in (whole.low, whole.high))
    against = any(standing(c.value, relation, threshold).state(len(checks)) == "against" for c in checks)
    if ends[1] < 0 or (ends[0] <= 0 and against):
        # Without a second seed the seed variance is unknown, so the failure may be chance.
        unknown = any("unknown" in check.value.origins for check in checks)
        return Verdict.UNDECIDED if unknown else Verdict.CONTRADICTED
    if ends[0] <= 0:
        return Verdict.UNDECIDED
    return Verdict.MIXED if against else Verdict.SUPPORTED


def seeds_to_decide(value: Value, threshold: float) -> int | None:
    """Return the number of seeds per model with which the interval would exclude the threshold.

    It is None if it exceeds MOST_SEEDS, if seed variance is unknown, or if the noise of the test items alone would keep
    the threshold inside the interval.
    """
    factor = float(stdtrit(value.freedom, 1 - TAIL))
    whole, items = value.spread_at(threshold), value.spread_at(threshold, items=True)
    left = (value.observed - threshold) ** 2 - (factor * items) ** 2
    seed_part = max(whole**2 - items**2, 0.0)
    if left <= 0 or "unknown" in value.origins:
        return None
    needed = math.ceil(value.seeds * factor**2 * seed_part / left)
    return needed if needed <= MOST_SEEDS else None


@dataclass
class Part:
    """One inequality of a claim over its cells, with the values that were measured.

    A cell is judged if all the settings that the part needs were run in it and it has signal. If only some of the
    settings were run, their scores can contradict the part but not support it. If no cell is judged and
    nothing contradicts the part, the verdict is "not enough signal" or, if any cell was not fully run, "not run".
    """

    what: str
    unit: Unit = Unit.POINTS
    relation: Relation = Relation.ABOVE
    threshold: float = 0.0
    over: str = "cells"  # what the report calls the cells, for example rows, pairs or curves
    ours: bool = False  # whether we chose the threshold, because the paper gives no number
    checks: list[Check] = field(default_factory=list)
    cells: dict[str, Verdict | None] = field(default_factory=dict)  # all cells, with the reason if a cell is not judged
    lacking: list[str] = field(default_factory=list)

    def ask(self, cell: str, missing: Sequence[str], clear: bool) -> bool:
        """Return whether a cell can be judged: nothing is missing and it has signal (`clear`). Record why if not."""
        self.lacking += [name for name in missing if name not in self.lacking]
        self.cells[cell] = Verdict.NOT_RUN if missing else None if clear else Verdict.NO_SIGNAL
        return self.cells[cell] is None

    def add(
        self, where: str, value: Value | None, language: str | None = None, cells: Sequence[str] = (), **more: bool
    ) -> None:
        """Add a check of `cells` (default: the cell `where`); if `value` is None, record `where` as not run."""
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
        """The cells that were not run or only partly run."""
        return [cell for cell, why in self.cells.items() if why is Verdict.NOT_RUN]

    @property
    def _whole(self) -> list[Check]:
        return [check for check in self.checks if not check.partial]

    @cached_property
    def mean(self) -> Value:
        """The mean over the checks that are not partial, or over all checks if every check is partial."""
        return mean([check.value for check in self._whole or self.checks])

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the part."""
        if self.checks and decide(self.checks, self.relation, self.threshold) is Verdict.CONTRADICTED:
            return Verdict.CONTRADICTED
        if self._whole:
            return decide(self._whole, self.relation, self.threshold)
        return Verdict.NO_SIGNAL if self.left_out and not self.not_run else Verdict.NOT_RUN

    @property
    def seeds(self) -> int | None:
        """The number of seeds that would decide the part, or None (see `seeds_to_decide`)."""
        return seeds_to_decide(self.mean, self.threshold)

    @property
    def judged(self) -> set[str]:
        """The cells that were judged."""
        return {cell for check in self._whole for cell in check.cells}

    @property
    def support(self) -> tuple[float, float]:
        """The confidence that the mean satisfies the inequality (1 without checks), and the share of cells judged."""
        confidence = standing(self.mean, self.relation, self.threshold).confidence if self.checks else 1.0
        return confidence, len(self.judged) / max(len(self.cells), 1)


def gravest(parts: Sequence[Part]) -> Verdict:
    """Return the verdict on a claim: the worst verdict of its parts; not being judged is worse than being undecided."""
    found = {part.verdict for part in parts}
    order = (Verdict.CONTRADICTED, Verdict.NO_SIGNAL, Verdict.NOT_RUN, Verdict.UNDECIDED, Verdict.MIXED)
    return next((verdict for verdict in order if verdict in found), Verdict.SUPPORTED)
