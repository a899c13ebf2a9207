"""Tables as the page shows them: headings over headings, groups of rows, numbers to the right."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd

from xling.report.names import MARGINS, NOT_RUN, TASKS, task_title
from xling.report.records import read_table

NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?( ?\[.*\])?( ?\(.*\))?", re.IGNORECASE)
LONG_NUMBER = re.compile(r"-?\d+\.\d{5,}(e-?\d+)?|-?\d+(\.\d+)?e-\d+")
GROUP = "Group"  # the column in which a table's CSV keeps the heading that a row stands under
SHORT = 32  # characters: such cells stay on one line
OVERS = (*(task_title(task) for task in TASKS), "ours - paper", "ours", "paper")
TITLES = {
    "table1": "Table 1. Zero-shot transfer",
    "examples": "How many examples each task had",
    "table1-compared": "Table 1 beside the paper's",
    "transfer": "Every transfer score",
}
GROUP_COLUMN = {"table1-compared": "Task"}
FOLDED = {"transfer"}  # for those who want every seed
Classed = tuple[str, str | None]  # a text with the class that says how it is set


@dataclass(frozen=True)
class Table:
    """A table for the template: headings over spans of columns, headings, and rows with the groups they begin."""

    label: str
    overs: Sequence[tuple[str, int]]
    heads: Sequence[Classed]
    rows: Sequence[tuple[str, Sequence[Classed]]]
    folded: bool = False


def study_table(path: Path) -> Table:
    """Return a table of the study by its file, without the columns of intervals and floors, which Figure 3 shows."""
    frame = read_numbers(path)
    frame = frame[[title for title in frame.columns if not title.endswith(tuple(f" {part}" for part in MARGINS))]]
    groups: list[str] = []
    if frame.columns[0] == GROUP:
        groups, frame = list(frame[GROUP]), frame.drop(columns=GROUP)
        if path.stem in GROUP_COLUMN:  # the group follows the column that names the rows
            frame.insert(1, GROUP_COLUMN[path.stem], groups)
            groups = []
    label = TITLES.get(path.stem, path.stem.replace("_", " "))
    return data_table(frame.columns, frame.to_numpy().tolist(), label, groups, path.stem in FOLDED)


def read_numbers(path: Path) -> pd.DataFrame:
    """Read a CSV file as text, numbers that were written out for machines to four digits."""
    return read_table(path).map(shortened)


def shortened(cell: str) -> str:
    """Return a number to four digits where it was written out for machines."""
    return f"{float(cell):.4g}" if LONG_NUMBER.fullmatch(cell) else cell


def data_table(
    titles: Iterable[str], rows: Sequence[Sequence[str]], label: str, groups: Sequence[str] = (), folded: bool = False
) -> Table:
    """Return a table of text; columns of numbers stand to the right, and a new group is a heading over its rows."""
    parts = [_split(title) for title in titles]
    kinds = [_kind([row[place] for row in rows]) for place in range(len(parts))]
    overs = [(over, len(list(same))) for over, same in groupby(over for over, _ in parts)]
    headings = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    cells = [
        [(text, _class(text, kind, first=not place)) for place, (text, kind) in enumerate(zip(row, kinds, strict=True))]
        for row in rows
    ]
    heads = [(name, kind) for (_, name), kind in zip(parts, kinds, strict=True)]
    pairs = list(zip(headings or [""] * len(rows), cells, strict=True))
    return Table(label, overs if any(over for over, _ in overs) else [], heads, pairs, folded)


def is_numeric(cells: Sequence[str]) -> bool:
    """Return whether a column holds numbers, apart from cells that were not run."""
    given = [cell for cell in cells if cell not in ("", "-", NOT_RUN)]
    return bool(given) and all(NUMBER.fullmatch(cell) for cell in given)


def _kind(cells: Sequence[str]) -> str | None:
    if is_numeric(cells):
        return "numeric"
    return "tight" if max(map(len, cells), default=0) <= SHORT else None


def _class(text: str, kind: str | None, first: bool) -> str | None:
    absent = "absent" if text == NOT_RUN and not first else None
    return " ".join(filter(None, [kind, absent])) or None


def _split(title: str) -> tuple[str, str]:
    over = next((over for over in OVERS if title.startswith(f"{over} ")), "")
    return over, title[len(over) :].strip()
