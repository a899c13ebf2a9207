"""The files of a PanLex CSV dump: tables found by name in the published zip or a folder, columns by their header."""

import csv
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError

BLOCK_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a table, for messages."""

    table: Path
    line: int


def text_rows(dump: Path, name: str, columns: Sequence[str]) -> Iterator[tuple[Place, list[str]]]:
    """Yield (place, the named columns) of every row of a table whose fields may be quoted."""
    with open_table(dump, name) as (table, handle):
        rows = csv.reader(_decoded(table, handle), strict=True)
        try:
            header = next(rows, [])
            wanted = [_column(table, header, column) for column in columns]
            for fields in rows:
                place = Place(table, rows.line_num)
                if len(fields) != len(header):
                    problem = f"{len(fields)} columns where the header has {len(header)}"
                    raise InputError(table, problem, line=place.line)
                yield place, [fields[column] for column in wanted]
        except csv.Error as error:
            raise InputError(table, f"not CSV: {error}", line=rows.line_num) from None


def number_blocks(dump: Path, name: str, columns: Sequence[str]) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of rows of the named columns of a table that holds whole numbers alone."""
    with open_table(dump, name) as (table, handle):
        header = handle.readline().decode(errors="replace").rstrip("\r\n").split(",")
        wanted = [_column(table, header, column) for column in columns]
        line = 2
        while lines := handle.readlines(BLOCK_BYTES):
            yield _numbers(table, line, lines, wanted)
            line += len(lines)


def integer(text: str, place: Place) -> int:
    """Return the whole number a field holds, or name its place."""
    if not (text.isascii() and text.isdigit()):
        raise InputError(place.table, f"{text!r} is not a whole number", line=place.line)
    return int(text)


@contextmanager
def open_table(dump: Path, name: str) -> Iterator[tuple[Path, IO[bytes]]]:
    """Open a table of a dump: a folder that holds it, or one folder down as the zip unpacks, or the zip itself."""
    if dump.is_dir():
        table = next((path for path in (dump / name, *sorted(dump.glob(f"*/{name}"))) if path.is_file()), None)
        if table is None:
            raise InputError(dump, f"no {name} in this folder", fix="expected an unpacked PanLex CSV dump")
        with table.open("rb") as handle:
            yield table, handle
        return
    try:
        with zipfile.ZipFile(dump) as archive:
            member = next((entry for entry in archive.namelist() if Path(entry).name == name), None)
            if member is None:
                raise InputError(dump, f"no {name} in this archive", fix="expected a PanLex CSV dump")
            with archive.open(member) as handle:
                yield dump / member, handle
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(dump, f"not a whole zip archive: {error}", fix="fetch the dump again") from None


def _numbers(table: Path, first: int, lines: list[bytes], wanted: list[int]) -> NDArray[np.int64]:
    try:
        return np.loadtxt(lines, dtype=np.int64, delimiter=",", usecols=wanted, comments=None, ndmin=2, quotechar='"')
    except ValueError:
        for line, raw in enumerate(lines, start=first):
            fields = raw.decode(errors="replace").rstrip("\r\n").replace('"', "").split(",")
            if len(fields) <= max(wanted):
                raise InputError(table, f"{len(fields)} columns, too few for the header", line=line) from None
            for column in wanted:
                integer(fields[column], Place(table, line))
        raise


def _decoded(table: Path, handle: IO[bytes]) -> Iterator[str]:
    for line, raw in enumerate(handle, start=1):
        try:
            yield raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(table, f"not UTF-8 (byte {raw[error.start]:#04x})", line=line) from None


def _column(table: Path, header: list[str], name: str) -> int:
    if name not in header:
        raise InputError(table, f"no column {name!r} in the header (has: {', '.join(header) or 'nothing'})", line=1)
    return header.index(name)
