"""Means over seeds: one row per cell of Table 1 and per point of a figure, from records that have each seed by itself.

The interval of one seed is that of its test items. Seeds are tested on the same items, so their intervals do not
shrink by averaging: the mean of their reaches is kept. In Table 1 and Figures 5, 7 and 8 seed variance is added in
quadrature: Student's t times the standard error of the mean. Seeds are assumed to vary equally in all settings of a
task and language, and their spread is pooled: two seeds say next to nothing about it, those of six settings do, and a
setting with one seed takes it from the others.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar, TypeVar

from xling.core.errors import XlingError
from xling.report.estimate import Estimate, in_points, mean_together, seed_reach, with_seeds
from xling.report.records import (
    AVERAGE,
    UNTRAINED,
    Cell,
    CkaScore,
    ContextualScore,
    Results,
    SentenceScore,
    WordScore,
)

Record = TypeVar("Record", bound=Any)
Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class CellMean:
    """A cell of Table 1; the floor is the untrained encoder's score, or chance where there is no such encoder."""

    KEY: ClassVar = ("setting", "task", "language")
    setting: str
    task: str
    language: str
    score: float
    floor: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class WordMean:
    """A bar of Figure 4a, or a point or level of Figure 4b."""

    KEY: ClassVar = ("language", "vectors", "layer")
    language: str
    vectors: str
    p1: float
    chance: float
    layer: int | None = None
    low: float | None = None
    high: float | None = None
    pairs: int | None = None


@dataclass(frozen=True)
class ContextualMean:
    """A point of Figure 5 or 8, with the untrained encoders' score at the same layer."""

    KEY: ClassVar = ("task", "language", "series", "layer")
    task: str
    language: str
    series: str
    layer: int
    score: float
    floor: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SentenceMean:
    """A point of Figure 6."""

    KEY: ClassVar = ("language", "model", "direction", "layer")
    language: str
    model: str
    direction: str
    layer: int
    p1: float
    chance: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class CkaMean:
    """A square of Figure 7; only averages over the layers have intervals, and only where there are seeds."""

    KEY: ClassVar = ("layer", "pair", "model")
    layer: str
    pair: str
    model: str
    cka: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Means:
    """Everything a study has measured, by figure, seeds averaged."""

    figure3: tuple[CellMean, ...] = ()
    figure4a: tuple[WordMean, ...] = ()
    figure4b: tuple[WordMean, ...] = ()
    figure5: tuple[ContextualMean, ...] = ()
    figure6: tuple[SentenceMean, ...] = ()
    figure7: tuple[CkaMean, ...] = ()
    figure8: tuple[ContextualMean, ...] = ()
    paper_scale: bool = False


def means(results: Results) -> Means:
    """Return the means of everything that was measured."""
    return Means(
        figure3=tuple(cell_means(results.figure3)),
        figure4a=tuple(word_means(results.figure4a)),
        figure4b=tuple(word_means(results.figure4b)),
        figure5=tuple(contextual_means(results.figure5)),
        figure6=tuple(sentence_means(results.figure6)),
        figure7=tuple(cka_means(results.figure7)),
        figure8=tuple(contextual_means(results.figure8)),
        paper_scale=results.paper_scale,
    )


def cell_means(rows: Sequence[Cell]) -> list[CellMean]:
    """Return the cells of Table 1; the rows of floors are in the cells that name them, and have none of their own."""
    floors = {row.floor for row in rows if row.floor}
    groups = _by_cell(row for row in rows if row.setting not in floors)
    levels = {key: fmean(row.score for row in group) for key, group in _by_cell(rows).items() if key[0] in floors}
    reaches = _seed_reaches({key: [row.score for row in group] for key, group in groups.items()}, slice(1, 3))
    made = []
    for (setting, task, language), group in groups.items():
        floor, chance = group[0].floor, group[0].chance
        if floor and (floor, task, language) not in levels:
            raise XlingError(
                f"{setting} {task} {language}: no record of its floor, {floor} (run record_transfer again)"
            )
        level = levels[floor, task, language] if floor else chance
        score, *ends = _with_seeds(group, reaches[task, language])
        made.append(CellMean(setting, task, language, score, level, *ends))
    return made


def word_means(rows: Iterable[WordScore]) -> list[WordMean]:
    """Return the values of Figure 4a or 4b."""
    return [
        WordMean(language, vectors, _share(group), group[0].chance, layer, *_ends(group), group[0].pairs)
        for (language, vectors, layer), group in _by_cell(rows).items()
    ]


def contextual_means(rows: Sequence[ContextualScore]) -> list[ContextualMean]:
    """Return the points of Figure 5 or 8, each with its floor."""
    groups = _by_cell(rows)
    trained = {key: group for key, group in groups.items() if key[3] != UNTRAINED}
    reaches = _seed_reaches({key: [row.score for row in group] for key, group in trained.items()}, slice(0, 2))
    made = []
    for (task, language, series, _, layer), group in trained.items():
        floor = groups.get((task, language, series, UNTRAINED, layer))
        if floor is None:
            raise XlingError(f"{task} {language} {series} layer {layer}: no record of its floor, the untrained encoder")
        score, *ends = _with_seeds(group, reaches[task, language])
        level = fmean(row.score for row in floor)
        made.append(ContextualMean(task, language, series, layer, score, level, *ends))
    return made


def sentence_means(rows: Iterable[SentenceScore]) -> list[SentenceMean]:
    """Return the points of Figure 6."""
    return [
        SentenceMean(language, model, direction, layer, _share(group), group[0].chance, *_ends(group))
        for (language, model, direction, layer), group in _by_cell(rows).items()
    ]


def cka_means(rows: Iterable[CkaScore]) -> list[CkaMean]:
    """Return the squares of Figure 7; averages have an interval where a pair of their kind has a second seed."""
    groups = _by_cell(rows)
    averages = {key: [row.cka for row in group] for key, group in groups.items() if key[0] == AVERAGE}
    reaches = _seed_reaches(averages, slice(2, 3))
    several = {key[2] for key, seeds in averages.items() if len(seeds) > 1}
    made, ends = [], tuple[float, ...]()
    for (layer, pair, model), group in groups.items():
        value, ends = fmean(row.cka for row in group), ()
        if layer == AVERAGE and model in several:
            own = reaches[(model,)] / math.sqrt(len(group))
            ends = max(value - own, 0.0), min(value + own, 1.0)
        made.append(CkaMean(layer, pair, model, value, *ends))
    return made


def _by_cell(rows: Iterable[Record]) -> dict[tuple[Any, ...], list[Record]]:
    """Return the seeds of each cell, in the order of the rows."""
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for row in rows:
        groups[tuple(getattr(row, name) for name in row.KEY if name != "seed")].append(row)
    return dict(groups)


def _seed_reaches(groups: Mapping[tuple[Any, ...], Sequence[float]], shared: slice) -> dict[tuple[Any, ...], float]:
    """Return how far one seed may be off, pooled over the groups that have this part of their keys in common."""
    pooled: dict[tuple[Any, ...], list[Sequence[float]]] = defaultdict(list)
    for key, values in groups.items():
        pooled[key[shared]].append(values)
    return {key: seed_reach(values) for key, values in pooled.items()}


def _with_seeds(group: Sequence[Any], seed: float) -> tuple[float, float | None, float | None]:
    """Return the mean score of some seeds and its interval, given how far one seed may be off."""
    items = mean_together([Estimate(row.score, row.low, row.high) for row in group])
    whole = with_seeds(items, seed, len(group))
    return (whole.value, None, None) if whole.low is None else (whole.value, *in_points(whole))


def _share(group: Sequence[Any]) -> float:
    """Return the mean P@1 of some seeds, rounded so that equal numbers of hits are equal however seeds divide them."""
    return round(fmean(row.p1 for row in group), 10)


def _ends(group: Sequence[Any]) -> Ends:
    """Return the mean of some seeds' intervals, where all have one."""
    if any(row.low is None for row in group):
        return None, None
    return fmean(row.low for row in group), fmean(row.high for row in group)
