"""Tables of the page, of results and of provenance: two levels of headings, groups of rows, links to files."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xling.report.grid import beginnings
from xling.report.names import MARGINS, NOT_RUN, TASKS, task_title
from xling.report.page.files import WORDS, Files, Link
from xling.report.records import read_table
from xling.report.table1 import COMPARED_CAPTION, DESCRIPTION

NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?( ?\[.*\])?( ?\(.*\))?", re.IGNORECASE)
LONG_NUMBER = re.compile(r"-?\d+\.\d{5,}(e-?\d+)?|-?\d+(\.\d+)?e-\d+")
GROUP = "Group"  # the column of the CSV file with the group heading of a row
SHORT = 32  # characters; cells up to this length are not wrapped
MOST_ROWS = 150  # a table with more rows is only linked
OVERS = (*(task_title(task) for task in TASKS), "ours - paper", "ours", "paper")
SHOWN = {"table1"}  # other tables are collapsed
STAGES = {
    "Stage": "{stage}",
    "Jobs": "{jobs}",
    "Attempts": "{attempts}",
    "Wall (s)": "{wall:.1f}",
    "CPU (s)": "{cpu:.1f}",
    "GPU (s)": "{gpu:.1f}",
    "Peak memory (MB)": "{memory:.0f}",
}
MODELS = {"Model": "{model}", "Wall (s)": "{seconds:.1f}"}


class Column(NamedTuple):
    """A column: its heading, the upper heading that it may share with its neighbours, and its CSS class."""

    head: str
    over: str
    kind: str


class Table(NamedTuple):
    """A table for the template: columns, and rows with the heading of the group that they begin (or empty).

    A cell is text, or the links that it consists of.
    """

    label: str
    columns: Sequence[Column]
    rows: Sequence[tuple[str, Sequence[str | Sequence[Link]]]]
    id: str = ""
    note: str = ""
    links: Sequence[Link] = ()
    length: int = 0  # number of rows in the file; `rows` is empty if they are too many for the page

    @property
    def overs(self) -> list[tuple[str, int]]:
        """The upper headings, each with the number of its columns; empty if no column has one."""
        spans = [(over, len(list(same))) for over, same in groupby(column.over for column in self.columns)]
        return spans if any(over for over, _ in spans) else []


def study_tables(files: Files) -> list[Table]:
    """Return the tables of a study; Table 1 is without intervals and floors, and split from its descriptions."""
    found = []
    scores = {path.stem: path for path in files.tables}
    cells = files.of_cells(read_table(scores["transfer"])) if "transfer" in scores else {}
    for path in files.tables:
        frame = read_numbers(path)
        if path.stem == "table1":
            margins = tuple(f" {part}" for part in MARGINS)
            frame = frame[[title for title in frame.columns if not title.endswith(margins)]]
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
            note = COMPARED_CAPTION if name == "table1-compared" else about.get("note", "")
            made = data_table(part.columns, rows, about["title"], groups if rows else [], cells)
            links = files.of(path) if name == path.stem else []
            found.append(made._replace(id=name, note=note, links=links, length=len(part)))
    return found


def stage_table(known: Mapping[str, Any]) -> Table:
    """Return the time that each stage took."""
    stages = [stage | {"stage": stage["stage"].replace("_", " ")} for stage in known["stages"]]
    return data_table(STAGES, _texts(STAGES, stages), "time by stage")


def model_table(known: Mapping[str, Any], files: Files) -> Table:
    """Return the trained models with their training time, and links to their files if there are any."""
    names = [model["model"] for model in known["models"]]
    folders = {(name, "Model"): files.address(files.models / name) for name in names} if files.models else {}
    models = data_table(MODELS, _texts(MODELS, known["models"]), "trained models", addresses=folders)
    links = [files.of_model(name) for name in names]
    if not any(links):
        return models
    rows = [("", [*cells, own]) for own, (_, cells) in zip(links, models.rows, strict=True)]
    return models._replace(columns=[*models.columns, Column("Files", "", "text")], rows=rows)


def _texts(columns: Mapping[str, str], items: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    return [[shown.format(**item) for shown in columns.values()] for item in items]


def read_numbers(path: Path) -> pd.DataFrame:
    """Read a CSV file as text; numbers with many digits are rounded to four."""
    return read_table(path).map(lambda cell: f"{float(cell):.4g}" if LONG_NUMBER.fullmatch(cell) else cell)


def data_table(
    titles: Collection[str],
    rows: Sequence[Sequence[str]],
    label: str,
    groups: Sequence[str] = (),
    addresses: Mapping[tuple[str, str], str] | None = None,
) -> Table:
    """Return a table of text; columns of numbers are aligned to the right, and each group gets a heading.

    `addresses` has the link of a cell by the first cell of its row and the title of its column.
    """
    columns = []
    for place, title in enumerate(titles):
        over = next((over for over in OVERS if title.startswith(f"{over} ")), "")
        columns.append(Column(title.removeprefix(over).strip(), over, _kind([row[place] for row in rows])))
    known = {place: href for place, href in (addresses or {}).items() if href}
    cells = [
        [
            [Link(text, known[row[0], title])] if (row[0], title) in known else text
            for text, title in zip(row, titles, strict=True)
        ]
        for row in rows
    ]
    return Table(label, columns, list(zip(beginnings(groups) or [""] * len(rows), cells, strict=True)))


def _kind(cells: Sequence[str]) -> str:
    """Return the CSS class of a column: that of numbers (cells may be "not run"), of short text or of long text."""
    given = [cell for cell in cells if cell not in ("", "-", NOT_RUN)]
    if given and all(NUMBER.fullmatch(cell) for cell in given):
        return "number"
    return "text" if max(map(len, cells), default=0) <= SHORT else "text long"
