"""Means over seeds: one row per cell of Table 1 and per point of a figure, from records with one entry per seed.

Each score of each seed becomes a `Measured`. Claims are judged on the same objects, so the intervals given here account
for the noise of seeds and of test items in the same way as the verdicts do (docs/verdicts.md), but for one thing: the
verdicts take the seed variance of Figures 5 and 8 from Table 1 if these have one seed, and here it is left out.
"""

import math
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from xling.core.errors import XlingError
from xling.report import names
from xling.report.evidence import Measured, intervals
from xling.report.models import AVERAGE, BILINGUAL, FASTTEXT, MLM_ALIGN, RANDOM, TRAINED, UNTRAINED
from xling.report.records import Cell, CkaScore, ContextualScore, Results, SentenceScore, WordScore

# Seed variance differs between these groups of settings, so it is pooled within a task and a group.
GROUPS = {
    **dict.fromkeys((names.DEFAULT, names.WIKI_CC, names.DEFAULT_ANCHORS, names.EXTRA_ANCHORS), "shared tokens"),
    **dict.fromkeys((names.NO_ANCHORS, names.SEP_EMB), "no shared tokens"),
    **dict.fromkeys((names.SEP_3, names.SEP_6, names.SEP_EMB_3, names.SEP_EMB_6), "separate layers"),
}
OTHER_SETTINGS = "other settings"
WIDTH = 3.92  # width of a 95% interval in standard errors: 2 * 1.96
DECIMALS = 10
Key = tuple[str, str, str]  # setting, task and language of a cell

# --- from records to rows of scores ----------------------------------------------------------------------------------


def transfer_rows(cells: Sequence[Cell]) -> Iterator[Measured]:
    """Yield the scores of Table 1."""
    floors = {cell.floor for cell in cells if cell.floor}
    for r in cells:
        test = f"{r.task}|{r.language}"
        key, paired, untrained = f"figure3|{r.setting}|{test}", f"{r.setting}|{r.seed}", r.setting in floors
        group = UNTRAINED if untrained else GROUPS.get(r.setting, OTHER_SETTINGS)
        own: dict[str, Any] = {"paired": paired, "floor": f"figure3|{r.floor}|{test}" if r.floor else "", "record": r}
        yield Measured(key, r.score / 100, _error(r), r.task, group, key, test, untrained, **own)


def word_rows(scores: Iterable[WordScore], figure: str = "words") -> Iterator[Measured]:
    """Yield the scores of Figure 4a or 4b; fastText has no layer, and no seed if its vectors are published ones."""
    pool = "words" if figure == "figure4a" else "words in context"
    for r in scores:
        test, seeds, untrained = f"{figure}|{r.language}", int(r.seed is not None), r.vectors == UNTRAINED
        name, english = f"{test}|{r.vectors}", f"{figure}|{r.vectors}|{r.layer}" if seeds else ""
        key, p1, once = f"{name}|{r.layer or 0}", r.p1 / 100, bool(seeds) and r.vectors == FASTTEXT
        group = f"{FASTTEXT} of the study" if once else r.vectors
        yield Measured(key, p1, _error(r), pool, group, name, test, untrained, english, seeds, once, record=r)


def contextual_rows(scores: Iterable[ContextualScore]) -> Iterator[Measured]:
    """Yield the scores of Figures 5 and 8."""
    for r in scores:
        test, untrained = f"{r.task}|{r.language}", r.encoder != TRAINED
        pool, group = f"{r.task} through layers", UNTRAINED if untrained else r.series
        name = f"contextual|{test}|{r.series}|{r.encoder}"
        english = f"contextual|{r.task}|{r.encoder}|{r.layer}" if r.series == MLM_ALIGN else ""
        key, floor = f"{name}|{r.layer}", f"contextual|{test}|{r.series}|{UNTRAINED}|{r.layer}"
        own: dict[str, Any] = {"lender": r.task, "floor": floor, "record": r}
        yield Measured(key, r.score / 100, _error(r), pool, group, name, test, untrained, english, **own)


def sentence_rows(scores: Iterable[SentenceScore], by_direction: bool = False) -> Iterator[Measured]:
    """Yield the scores of Figure 6: the mean of both directions, or each direction separately if `by_direction`."""
    found = defaultdict(list)
    for r in scores:
        found[r.language, r.model, r.direction if by_direction else "both", r.layer, r.seed].append(r)
    for (language, model, direction, layer, _), own in found.items():
        errors = [_error(r) for r in own]
        error = None if None in errors else float(np.mean(errors))  # type: ignore[arg-type]
        name = f"figure6|{language}|{model}" + (f"|{direction}" if by_direction else "")
        key, english, test = f"{name}|{layer}", f"figure6|{model}|{direction}|{layer}", f"figure6|{language}"
        p1, untrained = float(np.mean([r.p1 for r in own])) / 100, model == UNTRAINED
        yield Measured(key, p1, error, "sentences", model, name, test, untrained, english, record=own[0])


def similarity_rows(scores: Sequence[CkaScore]) -> Iterator[Measured]:
    """Yield the similarities of Figure 7; if the average over layers was not recorded, it is computed per seed."""
    by_layer = {r.model for r in scores if r.layer != AVERAGE and r.seed is not None}
    recorded = {(r.pair, r.model) for r in scores if r.layer == AVERAGE}
    seeds = Counter((r.pair, r.model) for r in scores if r.layer == AVERAGE and r.seed is not None)
    layers: dict[tuple[str, str, int | None], list[float]] = defaultdict(list)
    for r in scores:
        if (r.pair, r.model) not in recorded:
            layers[r.pair, r.model, r.seed].append(r.cka)
    rows: list[tuple[CkaScore, CkaScore | None]] = [(r, r) for r in scores]
    for (pair, model, seed), values in layers.items():
        rows.append((CkaScore(layer=AVERAGE, pair=pair, model=model, seed=seed, cka=float(np.mean(values))), None))
    for r, record in rows:
        key, cluster = f"figure7|{r.pair}|{r.model}|{r.layer}", f"{r.pair}|{r.model}"
        pool = "CKA by layer" if r.layer != AVERAGE and r.model in by_layer else "CKA"
        english = "" if r.model == BILINGUAL else f"figure7|{r.model}|{r.layer}"
        count = 1 if r.seed is not None else max(seeds[r.pair, r.model], 1)  # no seed: a mean over all seeds
        yield Measured(
            key, r.cka, None, pool, r.model, cluster, "CKA", r.model == RANDOM, english, count, record=record
        )


def all_rows(results: Results) -> Iterator[Measured]:
    """Yield every score of a study; both directions of Figure 6 are averaged."""
    yield from transfer_rows(results.figure3)
    yield from word_rows(results.figure4a, "figure4a")
    yield from word_rows(results.figure4b, "figure4b")
    contextual = {tuple(getattr(r, name) for name in r.KEY): r for r in (*results.figure8, *results.figure5)}
    yield from contextual_rows(contextual.values())  # without duplicates: both figures show the bilingual model
    yield from sentence_rows(results.figure6)
    yield from similarity_rows(results.figure7)


def _error(record: Any) -> float | None:
    return None if record.low is None or record.high is None else (record.high - record.low) / WIDTH / 100


# --- means over seeds ------------------------------------------------------------------------------------------------


# Rows of the CSV files behind tables and figures; the fields are their columns. A floor is the score of the untrained
# encoder, or chance if there is no such encoder.
CellMean = namedtuple("CellMean", "setting task language score floor low high", defaults=(None, None))
WordMean = namedtuple("WordMean", "language vectors p1 chance layer low high pairs")
ContextualMean = namedtuple("ContextualMean", "task language series layer score floor low high")
SentenceMean = namedtuple("SentenceMean", "language model direction layer p1 chance low high")
CkaMean = namedtuple("CkaMean", "layer pair model cka low high", defaults=(None, None))


def by_key(cells: Iterable[CellMean]) -> dict[Key, CellMean]:
    """Return cells by setting, task and language."""
    return {(cell.setting, cell.task, cell.language): cell for cell in cells}


def _means(kind: Any, rows_of: Callable[..., Iterable[Measured]], value: str, records: Sequence[Any]) -> list[Any]:
    """Return the mean and interval of each quantity that has a record, in the unit and order of the records.

    Values are rounded to DECIMALS digits to hide floating-point error. If `kind` has a column `floor`, which holds the
    scores of untrained encoders, these encoders get no rows of their own.
    """
    rows, scale = list(rows_of(records)), 1 if value == "cka" else 100
    found = {
        key: [None if math.isnan(x) else round(scale * x, DECIMALS) for x in own]
        for key, *own in intervals(rows).itertuples(name=None)
    }
    made = {}
    for row in rows:
        if row.key in made or row.record is None or ("floor" in kind._fields and row.untrained):
            continue
        if row.floor and row.floor not in found:
            cell, floor = (key.replace("|", " ") for key in (row.key, row.floor))
            raise XlingError(f"{cell}: no record of its floor, {floor} (make the records again)")
        about = {name: getattr(row.record, name, None) for name in kind._fields}
        if "floor" in about:
            about["floor"] = found[row.floor][0] if row.floor else row.record.chance
        made[row.key] = kind(**about | dict(zip((value, "low", "high"), found[row.key], strict=True)))
    return list(made.values())


cell_means: Callable[[Sequence[Cell]], list[CellMean]] = partial(_means, CellMean, transfer_rows, "score")
word_means: Callable[[Sequence[WordScore]], list[WordMean]] = partial(_means, WordMean, word_rows, "p1")
contextual_means: Callable[[Sequence[ContextualScore]], list[ContextualMean]] = partial(
    _means, ContextualMean, contextual_rows, "score"
)
sentence_means: Callable[[Sequence[SentenceScore]], list[SentenceMean]] = partial(
    _means, SentenceMean, partial(sentence_rows, by_direction=True), "p1"
)
cka_means: Callable[[Sequence[CkaScore]], list[CkaMean]] = partial(_means, CkaMean, similarity_rows, "cka")
