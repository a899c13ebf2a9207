"""Table 1: zero-shot transfer of the bilingual models in the paper's layout, and a comparison with the paper's numbers.

python -m xling.report.table1 --cells figure3.csv --examples examples.csv --out-dir tables
"""

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from xling.core.errors import run
from xling.report import published
from xling.report.grid import grid, signed, write_grid
from xling.report.means import CellMean, Key, by_key, cell_means
from xling.report.measured import Study, kept_share
from xling.report.names import DEFAULT, LANGUAGES, MARGINS, NOT_RUN, SETTINGS, TASKS, in_order, task_title
from xling.report.records import Cell, Examples, Results, Setting, read_records
from xling.report.rule import Relation, Standing, standing
from xling.report.value import steady

DESCRIPTION = ("Model", "Domain", "BPE Merges", "Anchors Pts", "Share Param.", "Softmax")
CAPTION = (
    "Zero-shot cross-lingual transfer of bilingual models. A dash (-) stands for the same value as in Default; "
    "Δ is the mean over the languages minus Default's mean."
)
COMPARED = {
    "": ("Model", "Language"),
    "ours": ("score", "floor", "kept", "kept above chance"),
    "paper": ("score", "kept"),
    "ours - paper": ("score", "kept"),
}
COMPARED_CAPTION = (
    "Square brackets: the interval of the score or share before them. Floor: the score of the untrained encoder. "
    "Kept: the setting's gain over its floor, divided by Default's; empty where Default's gain is below 5 points or "
    "too noisy to divide by. The paper's shares are computed from gains over chance, so the last column is our share "
    "above chance minus theirs."
)
Scores = Mapping[Key, CellMean]
Deltas = Mapping[tuple[str, str], float]


def table1(cells: Iterable[CellMean], settings: Sequence[Setting], printed: Deltas | None = None) -> pd.DataFrame:
    """Return Table 1; the deltas that the paper prints, if given, replace those computed from the cells."""
    scores = by_key(cells)
    tasks, languages = columns_of(scores)
    headings = [("", name) for name in DESCRIPTION]
    headings += [(task_title(task), name) for task in tasks for name in (*languages, "Δ")]
    rows = []
    for row in with_unlisted(settings, scores):
        texts = [row.setting, row.domain, row.merges, row.anchors, row.share, row.softmax]
        for task in tasks:
            found = [scores.get((row.setting, task, language)) for language in languages]
            texts += [NOT_RUN if cell is None else f"{cell.score:.1f}" for cell in found]
            value, both = delta(scores, row.setting, task, languages)
            if printed is not None and (row.setting, task) in printed:
                value, both = printed[row.setting, task], languages
            where = "" if len(both) == len(languages) else f" ({' '.join(both)})"
            texts.append(f"{signed(value)}{where}" if both else NOT_RUN)
        rows.append((row.group, texts))
    return grid(headings, rows)


def trained_on(examples: Iterable[Examples]) -> str:
    """Return a sentence with the number of training examples of each task, by language if the numbers differ."""
    tasks: dict[str, dict[int, list[str]]] = {}
    for row in examples:
        tasks.setdefault(row.task, {}).setdefault(row.train, []).append(row.language)
    parts = []
    for task in in_order(tasks, TASKS):
        sets = tasks[task]
        counts = [f"{n:,}" if len(sets) == 1 else f"{n:,} ({' '.join(codes)})" for n, codes in sets.items()]
        parts.append(f"{TASKS.get(task, task)} {' and '.join(counts)}")
    return f"Training examples: {', '.join(parts)}."


def margins(cells: Sequence[CellMean], settings: Sequence[Setting]) -> pd.DataFrame | None:
    """Return the interval and the floor of every cell, for which the paper's layout has no room."""
    scores = by_key(cells)
    asked = [column for column in product(*columns_of(scores)) if column in {key[1:] for key in scores}]
    rows = []
    for row in with_unlisted(settings, scores):
        found = [scores.get((row.setting, *column)) for column in asked]
        values = [getattr(cell, part, None) for cell in found for part in MARGINS]
        rows.append((row.group, ["" if value is None else f"{value:.1f}" for value in values]))
    headings = [(task_title(task), f"{name} {part}") for task, name in asked for part in MARGINS]
    return grid(headings, rows) if asked else None


def columns_of(scores: Scores) -> tuple[list[str], list[str]]:
    """Return the tasks and languages that were run, in the paper's order."""
    tasks = in_order((task for _, task, _ in scores), TASKS)
    return tasks, in_order((language for _, _, language in scores), LANGUAGES)


def with_unlisted(settings: Sequence[Setting], scores: Iterable[Key]) -> list[Setting]:
    """Return the rows of the table; settings that have scores but no description come last."""
    known = {row.setting for row in settings}
    others = sorted({setting for setting, _, _ in scores} - known)
    return [*settings, *(Setting(name, "Other", "", "", "", "", "") for name in others)]


def delta(scores: Scores, setting: str, task: str, languages: Sequence[str]) -> tuple[float, list[str]]:
    """Return Δ of section 4 (the mean difference from Default where both were run) and the languages that it covers."""
    both = [x for x in languages if (setting, task, x) in scores and (DEFAULT, task, x) in scores]
    if not both:
        return math.nan, both
    ours, default = (math.fsum(scores[name, task, x].score for x in both) for name in (setting, DEFAULT))
    return (ours - default) / len(both), both


def comparison(ours: Sequence[Cell], theirs: Sequence[Cell]) -> pd.DataFrame:
    """Return one row per cell that we have, with our score and the paper's, grouped by task."""
    left, right = by_key(cell_means(ours)), by_key(cell_means(theirs))
    kept, above_chance, their_kept = kept_shares(ours), kept_shares(ours, chance=True), kept_shares(theirs)
    tasks, settings, languages = (
        in_order((key[place] for key in left), known) for place, known in ((1, TASKS), (0, SETTINGS), (2, LANGUAGES))
    )
    rows = []
    for task, setting, language in product(tasks, settings, languages):
        key = (setting, task, language)
        own, paper, like, same = left.get(key), right.get(key), above_chance.get(key), their_kept.get(key)
        if own:
            score = _with_interval(own.score, own.low, own.high)
            cells = [setting, language, score, f"{own.floor:.1f}", _share(kept.get(key)), _share(like)]
            cells += [f"{paper.score:.1f}" if paper else NOT_RUN, _share(same)]
            cells.append(signed(own.score - paper.score) if paper else "")
            cells.append(signed(like.value - same.value, 2) if like and same else "")
            rows.append((task_title(task), cells))
    return grid([(over, name) for over, names in COMPARED.items() for name in names], rows)


def kept_shares(cells: Sequence[Cell], chance: bool = False) -> dict[Key, Standing]:
    """Return the share of Default's transfer that each cell keeps, if Default's gain is neither too small nor noisy."""
    study = Study(Results(figure3=tuple(cells)), chance=chance)
    return {
        key: standing(kept_share(study, *key), Relation.ABOVE, 0.0)
        for key in study.cells
        if (default := (DEFAULT, *key[1:])) in study.cells and study.clear(*default) and steady(study.gain(*default))
    }


def _share(kept: Standing | None) -> str:
    return _with_interval(kept.value, kept.low, kept.high, 2) if kept else ""


def _with_interval(value: float, low: float | None, high: float | None, digits: int = 1) -> str:
    text = f"{value:.{digits}f}"
    return text if low is None or high is None or low == high else f"{text} [{low:.{digits}f}, {high:.{digits}f}]"


def main() -> None:
    """Write Table 1 of a study and its comparison with the paper's numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=Path, required=True, help="scored cells, see xling.report.records")
    parser.add_argument(
        "--settings", type=Path, help="CSV file that describes each setting (default: the paper's rows)"
    )
    parser.add_argument("--examples", type=Path, help="how many examples each task used, for the caption")
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    rows = read_records(args.cells, Cell)
    cells = cell_means(rows)
    settings = read_records(args.settings, Setting) if args.settings else published.settings()
    caption = f"{CAPTION} {trained_on(read_records(args.examples, Examples))}" if args.examples else CAPTION
    write_grid(table1(cells, settings), args.out_dir, "table1", caption, margins(cells, settings))
    compared = comparison(rows, published.table1().cells)
    write_grid(compared, args.out_dir, "table1-compared", COMPARED_CAPTION)


if __name__ == "__main__":
    run(main)
