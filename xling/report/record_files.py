"""Reading and writing result records: strict, and every error names the file and the line or record."""

import csv
import dataclasses
import math
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from xling.core.errors import InputError
from xling.core.io import read_json, read_lines, write_text
from xling.report.records import KINDS, Results

SUFFIXES = (".csv", ".json")
RANGES = {"score": 100.0, "floor": 100.0, "p1": 100.0, "chance": 100.0, "cka": 1.0}
Record = TypeVar("Record")


def read_results(paths: Iterable[Path], paper_scale: bool = False) -> Results:
    """Read the record files among these files and folders."""
    found: dict[str, list[Any]] = {}
    for path in (file for given in paths for file in _files(given)):
        if path.stem not in KINDS or path.suffix not in SUFFIXES:
            raise InputError(path, "not named after a figure", fix=f"one of {', '.join(KINDS)}, as .csv or .json")
        found.setdefault(path.stem, []).extend(read_records(path, KINDS[path.stem]))
        _refuse_repeats(path, found[path.stem])
    return Results(**{kind: tuple(records) for kind, records in found.items()}, paper_scale=paper_scale)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read the records of one kind from a CSV or JSON file, naming the line or record that is wrong."""
    rows = _json_rows(path) if path.suffix == ".json" else _csv_rows(path)
    records = [_record(kind, values, path, number) for number, values in rows]
    _refuse_repeats(path, records)
    return records


def write_records(path: Path, kind: type[Record], records: Sequence[Record]) -> None:
    """Write records of one kind as CSV, one column a field."""
    with write_text(path) as handle:
        writer = csv.writer(handle, lineterminator="\n")
        columns = [column.name for column in dataclasses.fields(kind)]  # type: ignore[arg-type]
        writer.writerow(columns)
        for record in records:
            values = [getattr(record, name) for name in columns]
            writer.writerow(["" if value is None else value for value in values])


def _files(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    return sorted(path for path in given.iterdir() if path.stem in KINDS and path.suffix in SUFFIXES)


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.reader(read_lines(path))
    header = next(reader, None)
    if not header:
        raise InputError(path, "empty: expected a header line with the names of the columns", line=1)
    for row in reader:
        if len(row) != len(header):
            raise InputError(path, f"{len(row)} columns where the header has {len(header)}", line=reader.line_num)
        yield reader.line_num, dict(zip(header, row, strict=True))


def _json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    value = read_json(path)
    rows = value.get("records") if isinstance(value, dict) else value
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(path, "expected a list of objects, or an object whose 'records' is one")
    yield from enumerate(rows, start=1)


def _record(kind: type[Record], values: Mapping[str, Any], path: Path, number: int) -> Record:
    columns: Any = dataclasses.fields(kind)  # type: ignore[arg-type]
    unknown = [name for name in values if name not in {column.name for column in columns}]
    if unknown:
        names = ", ".join(column.name for column in columns)
        raise _bad(path, number, f"unknown column '{unknown[0]}'", fix=f"{kind.__name__} has {names}")
    hints = get_type_hints(kind)
    made = {column.name: _value(column, hints[column.name], values, path, number) for column in columns}
    _check_names(kind, made, path, number)
    _check_interval(made, path, number)
    return kind(**made)


def _value(column: Any, hint: Any, values: Mapping[str, Any], path: Path, number: int) -> Any:
    raw, optional = values.get(column.name), isinstance(hint, types.UnionType)
    if raw is None or (raw == "" and hint is not str):
        if optional:
            return None
        raise _bad(path, number, f"'{column.name}' is missing")
    wanted = get_args(hint)[0] if optional else hint
    try:
        value = wanted(raw)
    except (TypeError, ValueError):
        raise _bad(path, number, f"'{column.name}' should be a number, found '{raw}'") from None
    if isinstance(raw, bool) or (wanted is int and value != float(raw)):
        raise _bad(path, number, f"'{column.name}' should be a whole number, found '{raw}'")
    _check_value(column.name, value, path, number)
    return value


def _check_value(name: str, value: Any, path: Path, number: int) -> None:
    if not isinstance(value, float):
        return
    top = RANGES.get(name, math.inf)
    if not math.isfinite(value) or (name in RANGES and not 0 <= value <= top):
        raise _bad(path, number, f"'{name}' is {value}", fix=f"a number from 0 to {top:g}")


def _check_names(kind: type[Any], made: Mapping[str, Any], path: Path, number: int) -> None:
    for name, choices in getattr(kind, "CHOICES", {}).items():
        if made[name] not in choices:
            shown = ", ".join(choices if len(choices) < 10 else (choices[0], "…", choices[-1]))
            raise _bad(path, number, f"'{name}' is '{made[name]}'", fix=f"one of: {shown}")


def _check_interval(made: Mapping[str, Any], path: Path, number: int) -> None:
    low, high = made.get("low"), made.get("high")
    if (low is None) != (high is None):
        raise _bad(path, number, "an interval needs both 'low' and 'high'")
    if low is not None and high is not None and low > high:
        raise _bad(path, number, f"the interval is the wrong way round: low {low}, high {high}")


def _refuse_repeats(path: Path, records: Sequence[Any]) -> None:
    seen = set()
    for record in records:
        key = tuple(getattr(record, name) for name in record.KEY)
        if key in seen:
            raise InputError(
                path, f"given twice: {' '.join(map(str, key))}", fix="one record each; average seeds first"
            )
        seen.add(key)


def _bad(path: Path, number: int, problem: str, fix: str = "") -> InputError:
    if path.suffix == ".json":
        return InputError(path, f"record {number}: {problem}", fix=fix)
    return InputError(path, problem, line=number, fix=fix)
