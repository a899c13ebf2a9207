"""The paper's numbers for Table 1 and Figure 7 (Conneau, Wu et al., ACL 2020), which come with the package."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from xling.report.records import Cell, CkaScore, Results, Setting, read_records, read_table

CHANCE = {"xnli": 33.3, "ner": 0.0, "parsing": 0.0}  # XNLI: three classes; NER and parsing: nothing is predicted
DATA = Path(__file__).with_name("data")
SETTINGS = DATA / "settings.csv"


class PublishedTable(NamedTuple):
    """The cells of Table 1, and the printed deltas, which were averaged before rounding."""

    cells: tuple[Cell, ...]
    deltas: dict[tuple[str, str], float]


@cache
def table1() -> PublishedTable:
    """Return the scores and printed deltas of Table 1."""
    cells, deltas = [], {}
    for row in read_table(DATA / "table1.csv").to_dict("records"):
        key, score = {name: row[name] for name in ("task", "language")}, float(row["score"])
        if row["language"] == "delta":
            deltas[row["model"], row["task"]] = score
        else:
            cells.append(Cell(setting=row["model"], score=score, chance=CHANCE[row["task"]], **key))
    return PublishedTable(tuple(cells), deltas)


@cache
def settings() -> tuple[Setting, ...]:
    """Return the rows of Table 1, which describe the settings."""
    return tuple(read_records(SETTINGS, Setting))


@cache
def figure7() -> tuple[CkaScore, ...]:
    """Return the similarities of Figure 7, including the printed averages."""
    return tuple(read_records(DATA / "figure7.csv", CkaScore))


def results() -> Results:
    """Return all numbers that the paper printed."""
    return Results(figure3=table1().cells, figure7=figure7(), paper_scale=True)
