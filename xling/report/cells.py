"""Cells of Table 1 by setting, task and language: scores, floors and the share of Default's transfer that is kept.

The floor of a cell is the untrained encoder with the vocabulary kind of its own setting, so a score and Default's
are each read above their own floor.
"""

from collections.abc import Iterable

from xling.report.estimate import Estimate, ratio, shifted
from xling.report.means import CellMean
from xling.report.names import DEFAULT

SIGNAL = 5.0  # points above its floor that Default needs for a cell to say anything
ROUNDING = 1e-9  # sums of decimal scores are not exact


class Cells:
    """Scores that can be asked for by setting, task and language."""

    def __init__(self, cells: Iterable[CellMean]) -> None:
        self.by_key = {(cell.setting, cell.task, cell.language): cell for cell in cells}

    def has(self, setting: str, task: str, language: str) -> bool:
        """Return whether a cell was run."""
        return (setting, task, language) in self.by_key

    def score(self, setting: str, task: str, language: str) -> Estimate:
        """Return a score with its interval."""
        cell = self.by_key[setting, task, language]
        return Estimate(cell.score, cell.low, cell.high)

    def gain(self, setting: str, task: str, language: str) -> Estimate:
        """Return by how much a score is above its floor."""
        return shifted(self.score(setting, task, language), -self.by_key[setting, task, language].floor)

    def has_signal(self, task: str, language: str) -> bool:
        """Return whether Default is far enough above its floor."""
        return self.gain(DEFAULT, task, language).value >= SIGNAL - ROUNDING

    def kept(self, setting: str, task: str, language: str) -> Estimate:
        """Return the share of Default's transfer that a setting keeps; only where there is signal."""
        if setting == DEFAULT:
            return Estimate(1.0)  # by definition: it has no interval
        return ratio(self.gain(setting, task, language), self.gain(DEFAULT, task, language))
