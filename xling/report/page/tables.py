"""Tables as the page shows them: headings over headings, groups of rows, numbers to the right, links to files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from xling.report.names import MARGINS, NOT_RUN, TASKS, task_title
from xling.report.page.files import Files, Link
from xling.report.records import read_table
from xling.report.table1 import DESCRIPTION

NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?( ?\[.*\])?( ?\(.*\))?", re.IGNORECASE)
LONG_NUMBER = re.compile(r"-?\d+\.\d{5,}(e-?\d+)?|-?\d+(\.\d+)?e-\d+")
GROUP = "Group"  # the column in which a table's CSV keeps the heading that a row stands under
SHORT = 32  # characters: such cells stay on one line
MOST_ROWS = 60  # of a table on the page: beyond it there is only a link
OVERS = (*(task_title(task) for task in TASKS), "ours - paper", "ours", "paper")
TITLES = {
    "table1": "Table 1. Zero-shot transfer",
    "examples": "How many examples each task used",
    "table1-compared": "Table 1 beside the paper's",
    "transfer": "Every transfer score, of every seed",
}
SETTINGS_TITLE = "What each setting is"
NOTES = {
    "table1": "Each model is fine-tuned in the source language and tested in the language of the column. Δ: mean over "
    "the languages minus Default's. A score leads to its file.",
    "settings": "How the model of each row differs from Default; - means as in Default.",
    "table1-compared": "Floor: the untrained encoder. Kept: the share of Default's score above its floor.",
}
GROUP_COLUMN = {"table1-compared": "Task"}
SHOWN = {"table1"}  # the others are folded


class Cell(NamedTuple):
    """A cell: its text, the class that says how it is set (none for numbers, the most), and where it leads.

    `over` and `head` name its column where a narrow screen shows a row as a list; `over` in the first of its columns.
    """

    text: str
    kind: str | None = None
    href: str = ""
    links: Sequence[Link] = ()
    over: str = ""
    head: str = ""


class Table(NamedTuple):
    """A table for the template: headings over spans of columns, headings, and rows with the groups they begin."""

    label: str
    overs: Sequence[tuple[str, int]]
    heads: Sequence[Cell]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    id: str = ""
    note: str = ""
    links: Sequence[Link] = ()
    length: int = 0  # of the file, where it has too many rows for the page and there are none here


def study_tables(files: Files) -> list[Table]:
    """Return the tables of a study by their files; Table 1 without what Figure 3 shows, its left columns apart."""
    found = []
    scores = {path.stem: path for path in files.tables}
    cells = files.of_cells(read_table(scores["transfer"])) if "transfer" in scores else {}
    for path in files.tables:
        frame = read_numbers(path)
        frame = frame[[title for title in frame.columns if not title.endswith(tuple(f" {part}" for part in MARGINS))]]
        groups = list(frame.pop(GROUP)) if frame.columns[0] == GROUP else []
        if groups and path.stem in GROUP_COLUMN:  # the group follows the column that names the rows
            frame.insert(1, GROUP_COLUMN[path.stem], groups)
            groups = []
        described = [title for title in DESCRIPTION if title in frame.columns]
        if path.stem == "table1" and len(described) > 1:
            parts = {"table1": frame.drop(columns=described[1:]), "settings": frame[described]}
        else:
            parts = {path.stem: frame}
        for name, part in parts.items():
            label = SETTINGS_TITLE if name == "settings" else TITLES.get(name, name.replace("_", " "))
            rows = part.to_numpy().tolist() if len(part) <= MOST_ROWS else []
            made = data_table(part.columns, rows, label, groups if rows else [], cells)
            links = files.of(path) if name == path.stem else []
            found.append(made._replace(id=name, note=NOTES.get(name, ""), links=links, length=len(part)))
    return found


def read_numbers(path: Path) -> pd.DataFrame:
    """Read a CSV file as text, numbers that were written out for machines to four digits."""
    return read_table(path).map(lambda cell: f"{float(cell):.4g}" if LONG_NUMBER.fullmatch(cell) else cell)


def data_table(
    titles: Iterable[str],
    rows: Sequence[Sequence[str]],
    label: str,
    groups: Sequence[str] = (),
    addresses: Mapping[tuple[str, str], str] | None = None,
) -> Table:
    """Return a table of text; columns of numbers stand to the right, and a new group is a heading over its rows.

    `addresses` say where a cell leads, by the first cell of its row and the title of its column.
    """
    names = [(next((over for over in OVERS if title.startswith(f"{over} ")), ""), title) for title in titles]
    overs = [(over, len(list(same))) for over, same in groupby(over for over, _ in names)]
    kinds = [_kind([row[place] for row in rows]) for place in range(len(names))]
    short = [title.removeprefix(over).strip() for over, title in names]
    heads = [Cell(name, kind or "number") for name, kind in zip(short, kinds, strict=True)]
    begins = [over if place == 0 or over != names[place - 1][0] else "" for place, (over, _) in enumerate(names)]
    cells = []
    for first, *others in rows:
        line = [Cell(first)]
        for place, text in enumerate(others, 1):
            kind = f"{kinds[place] or ''} absent".strip() if text == NOT_RUN else kinds[place]
            href = (addresses or {}).get((first, names[place][1]), "")
            line.append(Cell(text, kind, href, over=begins[place], head=short[place]))
        cells.append(line)
    begun = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    grouped = list(zip(begun or [""] * len(rows), cells, strict=True))
    return Table(label, overs if any(over for over, _ in overs) else [], heads, grouped)


def _kind(cells: Sequence[str]) -> str | None:
    """Return no class for a column of numbers, apart from cells that were not run, else that of short or long texts."""
    given = [cell for cell in cells if cell not in ("", "-", NOT_RUN)]
    if given and all(NUMBER.fullmatch(cell) for cell in given):
        return None
    return "text" if max(map(len, cells), default=0) <= SHORT else "text long"
