"""Tables: scores that can be sorted by a click, wide ones in a frame that scrolls by itself."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import read_lines
from xling.report.html.markup import Html, el
from xling.report.names import MARGINS, NOT_RUN, TASKS, task_title

NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?( ?\[.*\])?( ?\(.*\))?", re.IGNORECASE)
LONG_NUMBER = re.compile(r"-?\d+\.\d{5,}(e-?\d+)?|-?\d+(\.\d+)?e-\d+")
GROUP = "Group"  # the column in which a table's CSV keeps the heading that a row stands under
SHORT = 32  # characters: such cells stay on one line
OVERS = (*(task_title(task) for task in TASKS), "ours - paper", "ours", "paper")


@dataclass(frozen=True)
class Table:
    """Headings and rows of text; a row's group, where there is one, is a heading over it."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[str] = ()


def read_table(path: Path) -> Table:
    """Return the headings and rows of a CSV file, numbers that were written out for machines to four digits."""
    reader = csv.reader(read_lines(path))
    head = next(reader, None)
    if not head:
        raise InputError(path, "empty: expected a header line with the names of the columns", line=1)
    rows = []
    for row in reader:
        if len(row) != len(head):
            raise InputError(path, f"{len(row)} columns where the header has {len(head)}", line=reader.line_num)
        rows.append([shortened(cell) for cell in row])
    return Table(head, rows)


def shortened(cell: str) -> str:
    """Return a number to four digits where it was written out for machines."""
    return f"{float(cell):.4g}" if LONG_NUMBER.fullmatch(cell) else cell


def grouped(table: Table) -> Table:
    """Return a table whose first column, if it is the group, has become headings between the rows."""
    if table.head[0] != GROUP:
        return table
    return Table(table.head[1:], [row[1:] for row in table.rows], [row[0] for row in table.rows])


def without_margins(table: Table) -> Table:
    """Return a table without the columns of intervals and floors, which the page shows in Figure 3."""
    kept = [
        place for place, title in enumerate(table.head) if not title.endswith(tuple(f" {part}" for part in MARGINS))
    ]
    return Table([table.head[place] for place in kept], [[row[place] for place in kept] for row in table.rows])


def data_table(table: Table, label: str) -> Html:
    """Return a table that can be sorted, in its frame; columns of numbers stand to the right."""
    columns = [[row[place] for row in table.rows] for place in range(len(table.head))]
    kinds = [_kind(column) for column in columns]
    body = []
    for place, row in enumerate(table.rows):
        if table.groups and table.groups[place] != (table.groups[place - 1] if place else ""):
            body.append(_group_row(table.groups[place], len(table.head)))
        body.append(el("tr", _cells(row, kinds)))
    return frame(el("table", el("thead", _head(table.head, kinds)), el("tbody", body), class_="sortable"), label)


def prose_table(head: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> Html:
    """Return a table of sentences, which nobody wants sorted."""
    top = el("tr", [el("th", title, scope="col") for title in head])
    body = [el("tr", [el("td", cell) for cell in row]) for row in rows]
    return frame(el("table", el("thead", top), el("tbody", body), class_="prose"), label)


def frame(table: Html, label: str) -> Html:
    """Return a table that scrolls sideways by itself, and can be reached by the keyboard for that."""
    return el("div", table, class_="frame", role="region", aria_label=f"Table: {label}", tabindex="0")


def is_numeric(cells: Sequence[str]) -> bool:
    """Return whether a column holds numbers, apart from cells that were not run."""
    given = [cell for cell in cells if cell not in ("", "-", NOT_RUN)]
    return bool(given) and all(NUMBER.fullmatch(cell) for cell in given)


def _kind(cells: Sequence[str]) -> str | None:
    if is_numeric(cells):
        return "numeric"
    return "tight" if max(map(len, cells), default=0) <= SHORT else None


def _head(titles: Sequence[str], kinds: Sequence[str | None]) -> list[Html]:
    parts = [_split(title) for title in titles]
    names = [el("th", name, scope="col", class_=kind) for (_, name), kind in zip(parts, kinds, strict=True)]
    if not any(over for over, _ in parts):
        return [el("tr", names)]
    spans = [(over, len(list(same))) for over, same in groupby(over for over, _ in parts)]
    overs = [el("th", over, scope="colgroup", colspan=span) if over else el("td", colspan=span) for over, span in spans]
    return [el("tr", overs, class_="over"), el("tr", names)]


def _split(title: str) -> tuple[str, str]:
    over = next((over for over in OVERS if title.startswith(f"{over} ")), "")
    return over, title[len(over) :].strip()


def _group_row(group: str, width: int) -> Html:
    return el("tr", el("th", group, scope="rowgroup", colspan=width), class_="group")


def _cells(row: Sequence[str], kinds: Sequence[str | None]) -> list[Html]:
    first = el("th", row[0], scope="row", class_=kinds[0])
    return [first, *(el("td", cell, class_=_class(cell, kind)) for cell, kind in zip(row[1:], kinds[1:], strict=True))]


def _class(cell: str, kind: str | None) -> str | None:
    return " ".join(filter(None, [kind, "absent" if cell == NOT_RUN else None])) or None
