"""A claim, its parts, and the cells that each part asks for, judges or has to leave out.

A cell counts as judged where all that the part asks of it was run and has signal. Where only some of it was run, what
was run can contradict the part, but no more. A part none of whose cells is judged was not run; it has not enough
signal only where all its cells were run and none has signal.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from xling.report.evidence import Value, mean
from xling.report.measured import Study
from xling.report.rule import Check, Relation, Verdict, decide, seeds_to_decide, standing


class Unit(StrEnum):
    """What a value is counted in."""

    POINTS = "points"
    SHARE = "share"
    TIMES = "times"
    CKA = "CKA"
    PEARSON = "r"


@dataclass
class Part:
    """One inequality over its cells: what is asked, and what came of it."""

    what: str
    unit: Unit
    relation: Relation = Relation.ABOVE
    border: float = 0.0
    over: str = "cells"  # what is counted to say on how much a verdict rests
    ours: bool = False  # whether the border is ours: the paper gives no number
    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)

    def ask(self, cell: str, missing: Iterable[str], clear: Callable[[], bool] = lambda: True) -> bool:
        """Return whether a cell can be judged, and note why not; signal is asked for where nothing is missing."""
        self.asked.append(cell)
        lacking = list(missing)
        self.lacking += [name for name in lacking if name not in self.lacking]
        if lacking or not clear():
            (self.not_run if lacking else self.left_out).append(cell)
            return False
        return True

    def add(self, where: str, value: Value, language: str | None = None, **more: Any) -> None:
        """Note what was found in a place."""
        self.checks.append(Check(where, value, language, **{"cells": (where,)} | more))

    @cached_property
    def mean(self) -> Value:
        """The mean over the checks of whole cells, or over all where there are none."""
        return mean([check.value for check in self._whole or self.checks])

    @property
    def _whole(self) -> list[Check]:
        return [check for check in self.checks if not check.partial]

    @cached_property
    def verdict(self) -> Verdict:
        """What the checks say together."""
        for checks in (self.checks, self._whole):
            found = decide(checks, self.relation, self.border) if checks else None
            if found is Verdict.CONTRADICTED or (found and checks == self._whole):
                return found
        return Verdict.NO_SIGNAL if self.left_out and not self.not_run else Verdict.NOT_RUN

    @cached_property
    def states(self) -> list[str]:
        """Whether each check is clear of the border, open, or against it."""
        found = [standing(check.value, self.relation, self.border) for check in self.checks]
        return [each.state(len(found)) for each in found]

    @property
    def seeds(self) -> int | None:
        """With how many seeds the part would be decided; None where seeds cannot do it."""
        return seeds_to_decide(self.mean, self.border)

    @property
    def judged(self) -> list[str]:
        """The cells that were judged."""
        return list(dict.fromkeys(cell for check in self.checks if not check.partial for cell in check.cells))

    @property
    def wanted(self) -> list[str]:
        """The cells that the paper's claim is about."""
        return list(dict.fromkeys((*self.asked, *self.judged, *self.left_out, *self.not_run)))


Parts = Callable[[Study], list[Part]]


@dataclass(frozen=True)
class Claim:
    """A sub-claim of the paper: its number, what it says (after "that …"), where, and its parts on a study.

    `paper` is what the paper says where it printed no numbers to judge.
    """

    number: str
    says: str
    source: str
    parts: Parts
    paper: str = ""


class Claims(list[Claim]):
    """Claims in the order in which their functions are defined."""

    def claim(self, number: str, says: str, source: str = "Table 1", paper: str = "") -> Callable[[Parts], Parts]:
        """Return a decorator for the function that gives a claim's parts on a study."""

        def listed(parts: Parts) -> Parts:
            self.append(Claim(number, says, source, parts, paper))
            return parts

        return listed


@dataclass(frozen=True)
class Outcome:
    """A claim judged on some results."""

    claim: Claim
    parts: tuple[Part, ...]

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict among the parts; a part that could not be judged is graver than one that is undecided."""
        found = {part.verdict for part in self.parts}
        order = (Verdict.CONTRADICTED, Verdict.NO_SIGNAL, Verdict.NOT_RUN, Verdict.UNDECIDED, Verdict.MIXED)
        return next((verdict for verdict in order if verdict in found), Verdict.SUPPORTED)

    @property
    def deciding(self) -> Part:
        """Of the parts that have the claim's verdict, the one furthest from support; of equals, the least covered."""
        parts = [part for part in self.parts if part.verdict is self.verdict]
        return min(parts, key=_support)

    @property
    def seeds(self) -> int | None:
        """With how many seeds every undecided part would be decided; None where seeds cannot do it."""
        needed = [part.seeds for part in self.parts if part.verdict is Verdict.UNDECIDED]
        return None if not needed or None in needed else max(n for n in needed if n is not None)


def _support(part: Part) -> tuple[float, float]:
    confidence = standing(part.mean, part.relation, part.border).confidence if part.checks else 1.0
    return confidence, len(part.judged) / max(len(part.wanted), 1)
