"""Means over seeds: one row per cell of Table 1 and per point of a figure, from records that have each seed by itself.

Intervals hold the noise of seeds and of test items, by the rule that verdicts follow too (docs/verdicts.md).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from xling.core.errors import XlingError
from xling.report.evidence import Measured, intervals
from xling.report.measured import contextual_rows, sentence_rows, similarity_rows, transfer_rows, word_rows
from xling.report.records import UNTRAINED, Cell, CkaScore, ContextualScore, SentenceScore, WordScore

Record = TypeVar("Record", bound=Any)
DECIMALS = 10


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
    """A square of Figure 7, with an interval where there are seeds."""

    KEY: ClassVar = ("layer", "pair", "model")
    layer: str
    pair: str
    model: str
    cka: float
    low: float | None = None
    high: float | None = None


Key = tuple[str, str, str]  # setting, task and language of a cell


def by_key(cells: Iterable[CellMean]) -> dict[Key, CellMean]:
    """Return cells by setting, task and language."""
    return {(cell.setting, cell.task, cell.language): cell for cell in cells}


def cell_means(rows: Sequence[Cell]) -> list[CellMean]:
    """Return the cells of Table 1; the rows of floors are in the cells that name them, and have none of their own."""
    floors = {row.floor for row in rows if row.floor}
    found, made = _intervals(transfer_rows(rows)), []
    for (setting, task, language), group in _by_cell(row for row in rows if row.setting not in floors).items():
        floor, place = group[0].floor, f"{task}|{language}"
        if floor and f"figure3|{floor}|{place}" not in found:
            raise XlingError(
                f"{setting} {task} {language}: no record of its floor, {floor} (run record_transfer again)"
            )
        score, *ends = found[f"figure3|{setting}|{place}"]
        level = found[f"figure3|{floor}|{place}"][0] if floor else group[0].chance
        made.append(CellMean(setting, task, language, score, level, *ends))
    return made


def word_means(rows: Sequence[WordScore]) -> list[WordMean]:
    """Return the values of Figure 4a or 4b."""
    found, made = _intervals(word_rows(rows, "words")), []
    for (language, vectors, layer), group in _by_cell(rows).items():
        p1, low, high = found[f"words|{language}|{vectors}|{layer or 0}"]
        made.append(WordMean(language, vectors, p1, group[0].chance, layer, low, high, group[0].pairs))
    return made


def contextual_means(rows: Sequence[ContextualScore]) -> list[ContextualMean]:
    """Return the points of Figure 5 or 8, each with its floor."""
    found, made = _intervals(contextual_rows(rows)), []
    for task, language, series, encoder, layer in _by_cell(rows):
        name = f"contextual|{task}|{language}|{series}|{{}}|{layer}"
        if encoder == UNTRAINED:
            continue
        if name.format(UNTRAINED) not in found:
            raise XlingError(f"{task} {language} {series} layer {layer}: no record of its floor, the untrained encoder")
        score, *ends = found[name.format(encoder)]
        made.append(ContextualMean(task, language, series, layer, score, found[name.format(UNTRAINED)][0], *ends))
    return made


def sentence_means(rows: Sequence[SentenceScore]) -> list[SentenceMean]:
    """Return the points of Figure 6."""
    found, made = _intervals(sentence_rows(rows, by_direction=True)), []
    for (language, model, direction, layer), group in _by_cell(rows).items():
        p1, *ends = found[f"figure6|{language}|{model}|{direction}|{layer}"]
        made.append(SentenceMean(language, model, direction, layer, p1, group[0].chance, *ends))
    return made


def cka_means(rows: Sequence[CkaScore]) -> list[CkaMean]:
    """Return the squares of Figure 7."""
    found = _intervals(similarity_rows(rows), scale=1)
    return [
        CkaMean(layer, pair, model, *found[f"figure7|{pair}|{model}|{layer}"]) for layer, pair, model in _by_cell(rows)
    ]


def _intervals(rows: Iterable[Measured], scale: int = 100) -> dict[str, tuple[float, float | None, float | None]]:
    """Return means and intervals in the unit of the records, without the noise of the last digits."""
    return {
        key: tuple(None if value is None else round(scale * value, DECIMALS) for value in found)  # type: ignore[misc]
        for key, found in intervals(list(rows)).items()
    }


def _by_cell(rows: Iterable[Record]) -> dict[tuple[Any, ...], list[Record]]:
    """Return the seeds of each cell, in the order of the rows."""
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for row in rows:
        groups[tuple(getattr(row, name) for name in row.KEY if name != "seed")].append(row)
    return dict(groups)
