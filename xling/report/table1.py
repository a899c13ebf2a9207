"""Table 1: zero-shot transfer of the bilingual models, in the paper's layout, and ours against the paper's.

python -m xling.report.table1 --cells figure3.csv --examples examples.csv --out-dir tables
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xling.core.errors import run
from xling.report import published
from xling.report.arguments import cells_parser
from xling.report.cells import Cells
from xling.report.compare import comparison
from xling.report.grid import Column, Grid, Row, signed, write_grid
from xling.report.names import DEFAULT, LANGUAGES, MARGINS, NOT_RUN, TASKS, in_order, task_title
from xling.report.record_files import read_records
from xling.report.records import Cell, Examples, Setting

PAPER_TASKS, PAPER_LANGUAGES = ("xnli", "ner", "parsing"), ("fr", "ru", "zh")
DESCRIPTION = ("Model", "Domain", "BPE Merges", "Anchors Pts", "Share Param.", "Softmax")
CAPTION = (
    "Zero-shot cross-lingual transfer of bilingual models. - means as in Default; "
    "Δ is the mean over the languages minus Default's."
)
Scores = Mapping[tuple[str, str, str], Cell]
Deltas = Mapping[tuple[str, str], float]


def table1(cells: Iterable[Cell], settings: Sequence[Setting], printed: Deltas | None = None) -> Grid:
    """Return Table 1; printed deltas, where given, stand in place of those computed from the cells."""
    scores = Cells(cells).by_key
    tasks, languages = (list(dict.fromkeys(names)) for names in zip(*columns_of(scores), strict=True))
    columns = [Column("", name) for name in DESCRIPTION]
    columns += [Column(task_title(task), name) for task in tasks for name in (*languages, "Δ")]
    rows = []
    for row in with_unlisted(settings, scores):
        texts = [row.setting, row.domain, row.merges, row.anchors, row.share, row.softmax]
        for task in tasks:
            texts += [score_text(scores.get((row.setting, task, language))) for language in languages]
            texts.append(_delta_text(scores, row.setting, task, languages, printed))
        rows.append(Row(row.group, tuple(texts)))
    return Grid(tuple(columns), tuple(rows), CAPTION)


def trained_on(examples: Iterable[Examples]) -> str:
    """Return a sentence that says how many examples each task was trained on, by language where that differs."""
    tasks: dict[str, dict[int, list[str]]] = {}
    for row in examples:
        tasks.setdefault(row.task, {}).setdefault(row.train, []).append(row.language)
    parts = []
    for task in in_order(tasks, TASKS):
        sets = tasks[task]
        counts = [f"{n:,}" if len(sets) == 1 else f"{n:,} ({' '.join(codes)})" for n, codes in sets.items()]
        parts.append(f"{TASKS.get(task, task)} {' and '.join(counts)}")
    return f"Training examples: {', '.join(parts)}."


def margins(cells: Iterable[Cell], settings: Sequence[Setting]) -> Grid:
    """Return the interval and the floor of every cell, as columns that the paper's layout has no room for."""
    scores = Cells(cells).by_key
    asked = [(task, name) for task, name in columns_of(scores) if (task, name) in {key[1:] for key in scores}]
    columns = [Column(task_title(task), f"{name} {part}") for task, name in asked for part in MARGINS]
    rows = []
    for row in with_unlisted(settings, scores):
        found = [scores.get((row.setting, task, name)) for task, name in asked]
        rows.append(Row(row.group, tuple(_margin(cell, part) for cell in found for part in MARGINS)))
    return Grid(tuple(columns), tuple(rows))


def _margin(cell: Cell | None, part: str) -> str:
    value = None if cell is None else getattr(cell, part)
    return "" if value is None else f"{value:.1f}"


def columns_of(scores: Scores) -> list[tuple[str, str]]:
    """Return the tasks and languages of the table: the paper's, and what else was run."""
    tasks = in_order({*PAPER_TASKS, *(task for _, task, _ in scores)}, TASKS)
    languages = in_order({*PAPER_LANGUAGES, *(language for _, _, language in scores)}, LANGUAGES)
    return [(task, language) for task in tasks for language in languages]


def with_unlisted(settings: Sequence[Setting], scores: Scores) -> list[Setting]:
    """Return the rows of the table; a scored setting that nobody described comes last."""
    known = {row.setting for row in settings}
    others = sorted({setting for setting, _, _ in scores} - known)
    return [*settings, *(Setting(name, "Other", "", "", "", "", "") for name in others)]


def delta(scores: Scores, setting: str, task: str, languages: Sequence[str]) -> tuple[float, list[str]]:
    """Return the mean difference from Default, and the languages in which both were run (section 4 of the paper)."""
    both = [x for x in languages if (setting, task, x) in scores and (DEFAULT, task, x) in scores]
    if not both:
        return math.nan, both
    sums = (math.fsum(scores[name, task, x].score for x in both) for name in (setting, DEFAULT))
    ours, default = sums
    return (ours - default) / len(both), both


def score_text(cell: Cell | None) -> str:
    """Return a score to the paper's one decimal, or that it was not run."""
    return NOT_RUN if cell is None else f"{cell.score:.1f}"


def _delta_text(scores: Scores, setting: str, task: str, languages: Sequence[str], printed: Deltas | None) -> str:
    if printed is not None and (setting, task) in printed:
        return signed(printed[setting, task])
    value, both = delta(scores, setting, task, languages)
    if not both:
        return NOT_RUN
    return signed(value) if len(both) == len(languages) else f"{signed(value)} ({' '.join(both)})"


def delta_check(cells: Iterable[Cell], printed: Deltas) -> Grid:
    """Return printed deltas beside those recomputed from the printed cells, which were rounded first."""
    scores = Cells(cells).by_key
    languages = in_order((language for _, _, language in scores), LANGUAGES)
    rows = []
    for (setting, task), value in printed.items():
        computed, _ = delta(scores, setting, task, languages)
        texts = (setting, TASKS.get(task, task), signed(value), signed(computed, 2), signed(computed - value, 2))
        rows.append(Row("", texts))
    names = ("Model", "Task", "printed", "from the cells", "difference")
    return Grid(tuple(Column("", name) for name in names), tuple(rows))


def main() -> None:
    """Write Table 1 of a study, and the same beside the paper's numbers."""
    parser = cells_parser(__doc__)
    parser.add_argument("--examples", type=Path, help="how many examples each task had, for the caption")
    args = parser.parse_args()
    cells = read_records(args.cells, Cell)
    settings = read_records(args.settings, Setting) if args.settings else published.settings()
    grid = table1(cells, settings)
    if args.examples:
        grid = replace(grid, caption=f"{grid.caption} {trained_on(read_records(args.examples, Examples))}")
    write_grid(grid, args.out_dir, "table1", margins(cells, settings))
    write_grid(comparison(cells, published.table1().cells), args.out_dir, "table1-compared")


if __name__ == "__main__":
    run(main)
