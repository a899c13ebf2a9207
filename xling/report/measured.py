"""The measured quantities of a study, as values with redraws that claims look up by name."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from xling.report.evidence import REDRAWS, Covariances, redraw
from xling.report.means import all_rows
from xling.report.models import AVERAGE
from xling.report.names import DEFAULT
from xling.report.published import CHANCE
from xling.report.records import Results
from xling.report.value import Value, best, mean, share

SIGNAL = 5.0  # points that a score must be above its floor (see `gain`) to have signal; our threshold, not the paper's
Curve = dict[int, Value]
PARTS: dict[str, Callable[[int, int], bool]] = {  # conditions on the number of a layer and the number of the top layer
    # The paper's "first few layers": in its Figure 7 the best layer is L0 or L1 in all ten curves.
    "first": lambda layer, _: layer <= 2,
    "lower": lambda layer, top: 2 * layer < top,  # of layers 0 to 8: 0 to 3
    "middle": lambda layer, top: top <= 4 * layer <= 3 * top,  # of layers 0 to 8: 2 to 6
    "upper": lambda layer, top: 2 * layer > top,  # of layers 0 to 8: 5 to 8
}


class Study:
    """All quantities of a study by name; methods return points from 0 to 100, and CKA from 0 to 1."""

    def __init__(
        self, results: Results, covariances: Covariances | None = None, chance: bool = False, redraws: int = REDRAWS
    ) -> None:
        self.paper_scale = results.paper_scale
        self.values, self.variances = redraw(list(all_rows(results)), covariances or {}, redraws)
        self.above_chance = chance
        self.cells = {(cell.setting, cell.task, cell.language): cell for cell in results.figure3}
        self.word_chance = {
            (figure, score.language): score.chance
            for figure in ("figure4a", "figure4b", "figure6")
            for score in getattr(results, figure)
        }
        self.curves: dict[tuple[str, ...], Curve] = defaultdict(dict)
        for key, value in self.values.items():
            *name, layer = key.split("|")
            if name[0] != "figure3":
                self.curves[tuple(name)][int(layer.removeprefix("L")) if layer != AVERAGE else -1] = value

    def has(self, setting: str, task: str, language: str) -> bool:
        """Return whether a cell of Table 1 was run."""
        return f"figure3|{setting}|{task}|{language}" in self.values

    def score(self, setting: str, task: str, language: str) -> Value:
        """Return the score of a cell of Table 1, in points."""
        return 100 * self.values[f"figure3|{setting}|{task}|{language}"]

    def lead(self, upper: str, lower: str, task: str, language: str) -> Value:
        """Return the score of the setting `upper` minus that of the setting `lower`."""
        return self.score(upper, task, language) - self.score(lower, task, language)

    def gain(self, setting: str, task: str, language: str, chance: bool | None = None) -> Value:
        """Return a score minus its floor: the untrained encoder's score, or chance if asked for or if none was run.

        Chance is asked for in comparisons with the paper, and is then what it is for the paper's numbers.
        """
        cell = self.cells[setting, task, language]
        floor: Value | float = cell.chance or 0.0
        if self.above_chance if chance is None else chance:
            floor = CHANCE.get(task, floor)
        elif cell.floor and self.has(cell.floor, task, language):
            floor = self.score(cell.floor, task, language)
        return self.score(setting, task, language) - floor

    def lead_above_floors(self, upper: str, lower: str, task: str, language: str) -> Value:
        """Return the gain of `upper` over its floor minus the gain of `lower` over its own floor."""
        return self.gain(upper, task, language) - self.gain(lower, task, language)

    def clear(self, setting: str, task: str, language: str) -> bool:
        """Return whether a cell was run and has signal: its score is far enough above its floor."""
        cell = (setting, task, language)
        return self.has(*cell) and is_signal(self.gain(*cell, chance=False)) and self.gain(*cell).observed > 0

    def curve(self, *name: str) -> Curve:
        """Return the values of a curve by layer, in points except for CKA; empty if the curve was not run."""
        scale = 1 if name[0] == "figure7" else 100
        return {layer: scale * value for layer, value in sorted(self.curves.get(name, {}).items()) if layer >= 0}

    def best(self, *name: str) -> Value | None:
        """Return the value of the best layer of a curve; None if the curve was not run."""
        return _best(self.curve(*name).values())

    def lead_in_cka(self, pair: str, upper: str, lower: str) -> Value | None:
        """Return the CKA of the models `upper` minus that of the models `lower`, averaged over layers."""
        return difference(*(self.curves.get(("figure7", pair, model), {}).get(-1) for model in (upper, lower)))


def is_signal(gain: Value) -> bool:
    """Return whether a gain over a floor is large enough to count as signal."""
    return gain.observed >= SIGNAL - 1e-9  # tolerance for rounding errors


def kept_share(study: Study, setting: str, task: str, language: str) -> Value:
    """Return the share of Default's transfer that a setting keeps; Default must score above its floor."""
    return share(study.gain(setting, task, language), study.gain(DEFAULT, task, language))


def difference(left: Value | None, right: Value | None) -> Value | None:
    """Return left minus right; None if either was not run."""
    return left - right if left and right else None


def layers(curve: Curve, which: str, inside: bool = True) -> list[Value]:
    """Return the layers of a curve inside a part as defined in `PARTS`, or the layers outside the part."""
    top = max(curve, default=0)
    return [value for layer, value in curve.items() if PARTS[which](layer, top) is inside]


def lead_of(which: str, curve: Curve) -> Value | None:
    """Return the best layer inside a part of a curve minus the best layer outside it."""
    return difference(_best(layers(curve, which)), _best(layers(curve, which, inside=False)))


def upper_minus_lower(curve: Curve) -> Value | None:
    """Return the mean of the upper layers minus the mean of the lower layers."""
    lower, upper = (layers(curve, which) for which in ("lower", "upper"))
    return mean(upper) - mean(lower) if lower and upper else None


def _best(values: Iterable[Value]) -> Value | None:
    found = list(values)
    return best(found) if found else None
