"""Tables as the page shows them: headings over headings, groups of rows, numbers to the right."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

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
Classed = tuple[str, str | None]  # a text with the class that says how it is set; cells of numbers, the most, have none


class Table(NamedTuple):
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
    return read_table(path).map(lambda cell: f"{float(cell):.4g}" if LONG_NUMBER.fullmatch(cell) else cell)


def data_table(
    titles: Iterable[str], rows: Sequence[Sequence[str]], label: str, groups: Sequence[str] = (), folded: bool = False
) -> Table:
    """Return a table of text; columns of numbers stand to the right, and a new group is a heading over its rows."""
    names = [(next((over for over in OVERS if title.startswith(f"{over} ")), ""), title) for title in titles]
    overs = [(over, len(list(same))) for over, same in groupby(over for over, _ in names)]
    kinds = [_kind([row[place] for row in rows]) for place in range(len(names))]
    heads = [
        (title.removeprefix(over).strip(), kind or "number") for (over, title), kind in zip(names, kinds, strict=True)
    ]
    cells = []
    for first, *others in rows:
        pairs = zip(others, kinds[1:], strict=True)
        named = [(text, f"{kind or ''} absent".strip() if text == NOT_RUN else kind) for text, kind in pairs]
        cells.append([(first, None), *named])
    begun = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    grouped = list(zip(begun or [""] * len(rows), cells, strict=True))
    return Table(label, overs if any(over for over, _ in overs) else [], heads, grouped, folded)


def _kind(cells: Sequence[str]) -> str | None:
    """Return no class for a column of numbers, apart from cells that were not run, else that of short or long texts."""
    given = [cell for cell in cells if cell not in ("", "-", NOT_RUN)]
    if given and all(NUMBER.fullmatch(cell) for cell in given):
        return None
    return "text" if max(map(len, cells), default=0) <= SHORT else "text long"
