"""Tables as the page shows them: headings over headings, groups of rows, numbers to the right, links to files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from xling.report.names import MARGINS, NOT_RUN, TASKS, task_title
from xling.report.page.files import WORDS, Files, Link
from xling.report.records import read_table
from xling.report.table1 import DESCRIPTION

NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?( ?\[.*\])?( ?\(.*\))?", re.IGNORECASE)
LONG_NUMBER = re.compile(r"-?\d+\.\d{5,}(e-?\d+)?|-?\d+(\.\d+)?e-\d+")
GROUP = "Group"  # the column in which a table's CSV keeps the heading that a row stands under
SHORT = 32  # characters: such cells stay on one line
MOST_ROWS = 60  # of a table on the page: beyond it there is only a link
OVERS = (*(task_title(task) for task in TASKS), "ours - paper", "ours", "paper")
SHOWN = {"table1"}  # the others are folded


class Column(NamedTuple):
    """A column: its heading, the heading over it and its neighbours, and how it is set."""

    head: str
    over: str
    kind: str


class Cell(NamedTuple):
    """A cell: its text, the class that says how it is set (none for numbers, the most), and where it leads."""

    text: str
    kind: str | None = None
    href: str = ""
    links: Sequence[Link] = ()


class Table(NamedTuple):
    """A table for the template: columns, and rows with the groups they begin."""

    label: str
    columns: Sequence[Column]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    id: str = ""
    note: str = ""
    links: Sequence[Link] = ()
    length: int = 0  # of the file, where it has too many rows for the page and there are none here

    @property
    def overs(self) -> list[tuple[str, int]]:
        """The headings over headings, each with the number of its columns; none if no column has one."""
        spans = [(over, len(list(same))) for over, same in groupby(column.over for column in self.columns)]
        return spans if any(over for over, _ in spans) else []


def study_tables(files: Files) -> list[Table]:
    """Return the tables of a study by their files; Table 1 without what Figure 3 shows, its left columns apart."""
    found = []
    scores = {path.stem: path for path in files.tables}
    cells = files.of_cells(read_table(scores["transfer"])) if "transfer" in scores else {}
    for path in files.tables:
        frame = read_numbers(path)
        frame = frame[[title for title in frame.columns if not title.endswith(tuple(f" {part}" for part in MARGINS))]]
        groups = list(frame.pop(GROUP)) if frame.columns[0] == GROUP else []
        if groups and path.stem == "table1-compared":  # the task follows the column that names the rows
            frame.insert(1, "Task", groups)
            groups = []
        described = [title for title in DESCRIPTION if title in frame.columns]
        parts = {path.stem: frame}
        if path.stem == "table1" and len(described) > 1:
            parts = {"table1": frame.drop(columns=described[1:]), "settings": frame[described]}
        for name, part in parts.items():
            about = WORDS["tables"].get(name, {"title": name.replace("_", " ")})
            rows = part.to_numpy().tolist() if len(part) <= MOST_ROWS else []
            made = data_table(part.columns, rows, about["title"], groups if rows else [], cells)
            links = files.of(path) if name == path.stem else []
            found.append(made._replace(id=name, note=about.get("note", ""), links=links, length=len(part)))
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
    names, known = list(titles), addresses or {}
    kinds = [_kind([row[place] for row in rows]) for place in range(len(names))]
    columns = []
    for title, kind in zip(names, kinds, strict=True):
        over = next((over for over in OVERS if title.startswith(f"{over} ")), "")
        columns.append(Column(title.removeprefix(over).strip(), over, kind or "number"))
    cells = [
        [
            Cell(text, f"{kind or ''} absent".strip() if text == NOT_RUN else kind, known.get((row[0], title), ""))
            for text, kind, title in zip(row, kinds, names, strict=True)
        ]
        for row in rows
    ]
    begun = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    return Table(label, columns, list(zip(begun or [""] * len(rows), cells, strict=True)))


def _kind(cells: Sequence[str]) -> str | None:
    """Return no class for a column of numbers, apart from cells that were not run, else that of short or long texts."""
    given = [cell for cell in cells if cell not in ("", "-", NOT_RUN)]
    if given and all(NUMBER.fullmatch(cell) for cell in given):
        return None
    return "text" if max(map(len, cells), default=0) <= SHORT else "text long"
