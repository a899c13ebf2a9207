"""What a study measured, as values with redraws that claims can ask for by name.

Seed variance is pooled by task and by these groups of settings, between which it differs (docs/verdicts.md).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from xling.report.evidence import (
    REDRAWS,
    Covariances,
    Measured,
    Redrawn,
    Value,
    mean,
    redraw,
    share,
)
from xling.report.items import item_covariance
from xling.report.names import (
    DEFAULT,
    DEFAULT_ANCHORS,
    EXTRA_ANCHORS,
    NO_ANCHORS,
    SEP_3,
    SEP_6,
    SEP_EMB,
    SEP_EMB_3,
    SEP_EMB_6,
    WIKI_CC,
)
from xling.report.records import (
    AVERAGE,
    BILINGUAL,
    FASTTEXT,
    MLM_ALIGN,
    RANDOM,
    TRAINED,
    UNTRAINED,
    Cell,
    CkaScore,
    ContextualScore,
    Results,
    SentenceScore,
    WordScore,
)

SIGNAL = 5.0  # points above its floor that a score needs to say anything; our border, not the paper's
GROUPS = {
    **dict.fromkeys((DEFAULT, WIKI_CC, DEFAULT_ANCHORS, EXTRA_ANCHORS), "shared tokens"),
    **dict.fromkeys((NO_ANCHORS, SEP_EMB), "no shared tokens"),
    **dict.fromkeys((SEP_3, SEP_6, SEP_EMB_3, SEP_EMB_6), "separate layers"),
}
OTHER_SETTINGS = "other settings"
HALF_WIDTHS = 3.92  # how many standard errors a 95% interval is wide
Curve = dict[int, Value]


class Study:
    """Every quantity of a study by its name, in points from 0 to 100 (CKA: from 0 to 1)."""

    def __init__(
        self, results: Results, covariances: Covariances | None = None, chance: bool = False, redraws: int = REDRAWS
    ) -> None:
        self.paper_scale = results.paper_scale
        self.redrawn: Redrawn = redraw(list(_measured(results)), covariances or {}, redraws)
        self.values = self.redrawn.values
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
        """Return a cell of Table 1."""
        return 100 * self.values[f"figure3|{setting}|{task}|{language}"]

    def gain(self, setting: str, task: str, language: str) -> Value:
        """Return by how much a score is above its floor."""
        return self._above(setting, task, language, self.above_chance)

    def clear(self, setting: str, task: str, language: str) -> bool:
        """Return whether a score is far enough above its floor to say anything."""
        gain = self._above(setting, task, language, chance=False).observed
        return gain >= SIGNAL - 1e-9 and self.gain(setting, task, language).observed > 0  # decimals are not exact

    def _above(self, setting: str, task: str, language: str, chance: bool) -> Value:
        cell = self.cells[setting, task, language]
        untrained = not chance and cell.floor and self.has(cell.floor, task, language)
        floor = self.score(cell.floor, task, language) if untrained else cell.chance or 0.0
        return self.score(setting, task, language) - floor

    def curve(self, *name: str) -> Curve:
        """Return the layers of a curve; in points, but for CKA; empty where it was not run."""
        scale = 1 if name[0] == "figure7" else 100
        return {layer: scale * value for layer, value in sorted(self.curves.get(name, {}).items()) if layer >= 0}

    def average(self, pair: str, model: str) -> Value | None:
        """Return the CKA of a pair, averaged over the layers."""
        return self.curves.get(("figure7", pair, model), {}).get(-1)


def halves(curve: Curve) -> tuple[Curve, Curve, Curve]:
    """Return the lower, middle and upper layers: of 0 to 8 these are 0 to 3, 2 to 6 and 5 to 8."""
    top = max(curve, default=0)
    lower = {layer: value for layer, value in curve.items() if 2 * layer < top}
    middle = {layer: value for layer, value in curve.items() if top <= 4 * layer <= 3 * top}
    return lower, middle, {layer: value for layer, value in curve.items() if 2 * layer > top}


def _measured(results: Results) -> Iterator[Measured]:
    yield from transfer_rows(results.figure3)
    yield from word_rows(results.figure4a, "figure4a")
    yield from word_rows(results.figure4b, "figure4b")
    contextual = {tuple(getattr(r, name) for name in r.KEY): r for r in (*results.figure8, *results.figure5)}
    yield from contextual_rows(contextual.values())  # both figures have the bilingual model
    yield from sentence_rows(results.figure6)
    yield from similarity_rows(results.figure7)


def _error(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None else (high - low) / HALF_WIDTHS / 100


def transfer_rows(cells: Sequence[Cell]) -> Iterator[Measured]:
    """Yield the scores of Table 1."""
    floors = {cell.floor for cell in cells if cell.floor}
    for cell in cells:
        key, untrained = f"figure3|{cell.setting}|{cell.task}|{cell.language}", cell.setting in floors
        yield Measured(
            key,
            cell.score / 100,
            _error(cell.low, cell.high),
            pool=cell.task,
            group=UNTRAINED if untrained else GROUPS.get(cell.setting, OTHER_SETTINGS),
            cluster=key,
            test=f"{cell.task}|{cell.language}",
            untrained=untrained,
            paired=f"{cell.setting}|{cell.seed}",
        )


def word_rows(scores: Iterable[WordScore], figure: str) -> Iterator[Measured]:
    """Yield the scores of Figure 4a or 4b."""
    for score in scores:
        name = f"{figure}|{score.language}|{score.vectors}"
        yield Measured(
            f"{name}|{score.layer or 0}",
            score.p1 / 100,
            _error(score.low, score.high),
            pool="words" if figure == "figure4a" else "words in context",
            group=score.vectors,
            cluster=name,
            test=f"{figure}|{score.language}",
            untrained=score.vectors == UNTRAINED,
            english="" if score.vectors == FASTTEXT else f"{figure}|{score.vectors}|{score.layer}",
            seeds=int(score.vectors != FASTTEXT),
        )


def contextual_rows(rows: Iterable[ContextualScore]) -> Iterator[Measured]:
    """Yield the scores of Figures 5 and 8."""
    for row in rows:
        name, trained = f"contextual|{row.task}|{row.language}|{row.series}|{row.encoder}", row.encoder == TRAINED
        yield Measured(
            f"{name}|{row.layer}",
            row.score / 100,
            _error(row.low, row.high),
            pool=f"{row.task} through layers",
            group=row.series if trained else UNTRAINED,
            cluster=name,
            test=f"{row.task}|{row.language}",
            untrained=not trained,
            english=f"contextual|{row.task}|{row.encoder}|{row.layer}" if row.series == MLM_ALIGN else "",
            lender=row.task,
        )


def sentence_rows(scores: Iterable[SentenceScore], by_direction: bool = False) -> Iterator[Measured]:
    """Yield the scores of Figure 6, both directions in one unless asked for: they are about the same sentences."""
    found = defaultdict(list)
    for score in scores:
        direction = score.direction if by_direction else "both"
        found[score.language, score.model, direction, score.layer, score.seed].append(score)
    for (language, model, direction, layer, _), scores in found.items():
        errors = [_error(score.low, score.high) for score in scores]
        name = f"figure6|{language}|{model}" + (f"|{direction}" if by_direction else "")
        yield Measured(
            f"{name}|{layer}",
            float(np.mean([score.p1 for score in scores])) / 100,
            None if None in errors else float(np.mean(errors)),  # type: ignore[arg-type]
            pool="sentences",
            group=model,
            cluster=name,
            test=f"figure6|{language}",
            untrained=model == UNTRAINED,
            english=f"figure6|{model}|{direction}|{layer}",
        )


def similarity_rows(scores: Sequence[CkaScore]) -> Iterator[Measured]:
    """Yield the similarities of Figure 7; an average that was not measured is that of its layers, seed by seed."""
    averages = {(row.pair, row.model) for row in scores if row.layer == AVERAGE}
    by_layer = {row.model for row in scores if row.layer != AVERAGE and row.seed is not None}
    layers: dict[tuple[str, str, int | None], list[float]] = defaultdict(list)
    seeds: dict[tuple[str, str], int] = defaultdict(int)
    for row in scores:
        if row.layer != AVERAGE:
            layers[row.pair, row.model, row.seed].append(row.cka)
        seeds[row.pair, row.model] += row.layer == AVERAGE and row.seed is not None
    found: list[tuple[str, str, str, float, int]] = [
        (AVERAGE, pair, model, float(np.mean(values)), 1)
        for (pair, model, _), values in layers.items()
        if (pair, model) not in averages
    ]
    found += [
        (row.layer, row.pair, row.model, row.cka, 1 if row.seed is not None else max(seeds[row.pair, row.model], 1))
        for row in scores
    ]
    for layer, pair, model, cka, count in found:
        one_layer = layer != AVERAGE and model in by_layer
        yield Measured(
            f"figure7|{pair}|{model}|{layer}",
            cka,
            None,
            pool="CKA by layer" if one_layer else "CKA",
            group=model,
            cluster=f"{pair}|{model}",
            test="CKA",
            untrained=model == RANDOM,
            english="" if model == BILINGUAL else f"figure7|{model}|{layer}",
            seeds=count,
        )


def item_covariances(path: Path, cells: Iterable[Cell]) -> Covariances:
    """Return how the scores of Table 1 on the same test sentences err together, where their counts are kept."""
    found = {}
    for task, language in dict.fromkeys((cell.task, cell.language) for cell in cells):
        names, matrix = item_covariance(path, task, language)
        if names:
            found[f"{task}|{language}"] = ([f"{setting}|{seed}" for setting, seed in names], matrix / 100**2)
    return found


def kept_share(study: Study, setting: str, task: str, language: str, border: float | None = None) -> Value:
    """Return the share of Default's transfer that a setting keeps; Default must be above its floor."""
    return share(study.gain(setting, task, language), study.gain(DEFAULT, task, language), border)


def upper_minus_lower(curve: Curve) -> Value | None:
    """Return the mean of the upper layers minus that of the lower ones."""
    lower, _, upper = halves(curve)
    return mean(list(upper.values())) - mean(list(lower.values())) if lower and upper else None


def others(curve: Curve, part: Iterable[int]) -> list[Value]:
    """Return the layers of a curve outside a part of it."""
    return [value for layer, value in curve.items() if layer not in set(part)]
