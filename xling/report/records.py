"""The result records behind tables, figures and claims, and the functions that read and write their files.

A CSV file holds one kind of record: its columns are the fields, and each row is a measurement of one seed
(xling.report.means takes the means). Scores, P@1 and chance are points from 0 to 100; CKA is from 0 to 1. An empty
`seed` means that the seed is not known or that the value is a mean over all seeds. Empty `low` and `high` mean that no
interval is known. The second English model is written en'. A malformed file is refused with an error that names the
file, the line and the column.
"""

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from xling.core.errors import InputError
from xling.core.io import read_lines, write_text
from xling.core.records import matching, nearest, read_record, refuse
from xling.report.models import AVERAGE, CKA_MODELS, ENCODERS, MONOLINGUAL, SERIES, UNTRAINED, VECTORS

Points = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Similarity = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
End = Annotated[float, Field(allow_inf_nan=False)] | None
Record = TypeVar("Record")


def one_of(*names: str) -> Any:
    """Return a type annotation for text that must be one of the names."""
    return matching(f"^({'|'.join(names)})$", f"one of {', '.join(names)}")


CkaModel = Annotated[str, one_of(*CKA_MODELS)]


class Interval:
    """Base class of records that may have an interval, from `low` to `high`."""

    def __post_init__(self) -> None:
        """Check that both ends or neither are given, and that they are in order."""
        low, high = vars(self)["low"], vars(self)["high"]
        if (low is None) != (high is None):
            refuse(["low: an interval needs both 'low' and 'high'"])
        if low is not None and low > high:
            refuse([f"low: the interval is the wrong way round: low {low}, high {high}"])


@dataclass(frozen=True, kw_only=True)
class Cell(Interval):
    """Table 1, Figure 3: the zero-shot score of one seed in a setting, which is given by its label.

    `floor` is the setting of the untrained encoder with the same task and language; it is empty for untrained encoders
    and for the paper's numbers. `chance` is the score without reading the text. The interval covers test items only.
    """

    KEY: ClassVar = ("setting", "task", "language", "seed")
    setting: str
    task: str
    language: str
    seed: int | None = None
    score: Points
    low: End = None
    high: End = None
    chance: Points
    floor: str = ""


@dataclass(frozen=True)
class Setting:
    """The description of a setting: a row of Table 1. A dash means as in Default."""

    KEY: ClassVar = ("setting",)
    setting: str
    group: str
    domain: str
    merges: str
    anchors: str
    share: str
    softmax: str


@dataclass(frozen=True)
class Examples:
    """The number of examples of a task: training and dev examples in the source language, test examples in another."""

    KEY: ClassVar = ("task", "language")
    task: str
    language: str
    train: int
    dev: int
    test: int


@dataclass(frozen=True, kw_only=True)
class WordScore(Interval):
    """Figures 4a, 4b: word translation from English. In 4b contextual vectors have a layer, but fastText has none."""

    KEY: ClassVar = ("language", "vectors", "layer", "seed")
    language: str
    vectors: Annotated[str, one_of(*VECTORS)]
    layer: int | None = None
    seed: int | None = None
    p1: Points
    low: End = None
    high: End = None
    chance: Points
    pairs: int | None = None  # number of dictionary pairs that could be tested


@dataclass(frozen=True, kw_only=True)
class ContextualScore(Interval):
    """Figures 5, 8: transfer through the first `layer` layers of an encoder, trained or untrained (the floor)."""

    KEY: ClassVar = ("task", "language", "series", "encoder", "layer", "seed")
    task: str
    language: str
    series: Annotated[str, one_of(*SERIES)]
    encoder: Annotated[str, one_of(*ENCODERS)]
    layer: int
    seed: int | None = None
    score: Points
    low: End = None
    high: End = None


@dataclass(frozen=True, kw_only=True)
class SentenceScore(Interval):
    """Figure 6: retrieval of the translation of a sentence after mapping, in one direction."""

    KEY: ClassVar = ("language", "model", "direction", "layer", "seed")
    language: str
    model: Annotated[str, one_of(MONOLINGUAL, UNTRAINED)]
    direction: Annotated[str, one_of("en-x", "x-en")]
    layer: int
    seed: int | None = None
    p1: Points
    low: End = None
    high: End = None
    chance: Points


@dataclass(frozen=True, kw_only=True)
class CkaScore:
    """Figure 7: similarity of two encoders at a layer (L0, L1, …, or AVER for the average over the layers)."""

    KEY: ClassVar = ("layer", "pair", "model", "seed")
    layer: Annotated[str, matching(rf"^(L\d+|{AVERAGE})$", f"L0, L1, … or {AVERAGE}")]
    pair: str
    model: CkaModel
    seed: int | None = None
    cka: Similarity


@dataclass(frozen=True)
class LayerPair:
    """Similarity of a layer of the first language's encoder to a layer of the second language's encoder."""

    KEY: ClassVar = ("pair", "model", "layer_a", "layer_b")
    pair: str
    model: CkaModel
    layer_a: int
    layer_b: int
    cka: Similarity


@dataclass(frozen=True)
class Results:
    """All records of a study by figure; figures without records were not run."""

    figure3: tuple[Cell, ...] = ()
    figure4a: tuple[WordScore, ...] = ()
    figure4b: tuple[WordScore, ...] = ()
    figure5: tuple[ContextualScore, ...] = ()
    figure6: tuple[SentenceScore, ...] = ()
    figure7: tuple[CkaScore, ...] = ()
    figure8: tuple[ContextualScore, ...] = ()
    paper_scale: bool = False


KINDS: dict[str, type[Any]] = {
    name: get_args(hint)[0] for name, hint in get_type_hints(Results).items() if name.startswith("figure")
}


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV file as a table of text, indexed by line number; every row must be as long as the header."""
    reader = csv.reader(read_lines(path))
    header = next(reader, None)
    if not header:
        raise InputError(path, "empty: expected a header line with the names of the columns", line=1)
    rows = {}
    for row in reader:
        if len(row) != len(header):
            raise InputError(path, f"{len(row)} columns where the header has {len(header)}", line=reader.line_num)
        rows[reader.line_num] = row
    return pd.DataFrame(list(rows.values()), index=list(rows), columns=header, dtype=object)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read the records of one kind from a CSV file, which must not contain duplicates."""
    table, hints = read_table(path), get_type_hints(kind)
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if unknown := [column for column in table.columns if column not in names]:
        raise InputError(path, f"unknown column '{unknown[0]}'", line=1, fix=nearest(unknown[0], names))
    records = []
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        given = {name: text for name, text in row.items() if text != "" or hints[name] is str}
        records.append(read_record(kind, given, path, line))
    refuse_repeats(path, records)
    return records


def some_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read the records of a figure; a file without records is an error, because there is nothing to draw."""
    records = read_records(path, kind)
    if not records:
        raise InputError(path, "no records: nothing to draw")
    return records


def read_results(paths: Sequence[Path], paper_scale: bool = False) -> Results:
    """Read all record files among the given files and folders; a record file is named after its figure."""
    found: dict[str, list[Any]] = {}
    for path in (file for given in paths for file in (sorted(given.glob("*.csv")) if given.is_dir() else [given])):
        if path.stem in KINDS and path.suffix == ".csv":
            found.setdefault(path.stem, []).extend(read_records(path, KINDS[path.stem]))
            refuse_repeats(path, found[path.stem])
        elif path in paths:
            raise InputError(path, "not named after a figure", fix=f"one of {', '.join(KINDS)}, as .csv")
    return Results(**{kind: tuple(records) for kind, records in found.items()}, paper_scale=paper_scale)


def write_records(path: Path, kind: type[Record], records: Sequence[Record]) -> None:
    """Write records of one kind as CSV, one column per field."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    rows = [["" if (value := getattr(record, name)) is None else value for name in names] for record in records]
    with write_text(path, sealed=True) as handle:
        pd.DataFrame(rows, columns=names, dtype=object).to_csv(handle, index=False, na_rep="nan", lineterminator="\n")


def refuse_repeats(path: Path, records: Sequence[Any]) -> None:
    """Raise an error if two records have the same key."""
    seen = set()
    for record in records:
        key = tuple(getattr(record, name) for name in record.KEY)
        if key in seen:
            given = " ".join(str(part) for part in key if part is not None)
            raise InputError(path, f"given twice: {given}", fix="one record each")
        seen.add(key)
