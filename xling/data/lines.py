"""What the readers of line formats share: tables with a header, and blocks of lines between blank ones."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import numbered_lines

NumberedLine = tuple[int, str]


def table_rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, the needed columns in that order) of a tab-separated file with a header.

    Fields are not quoted in the files we read: a quotation mark is text.
    """
    rows = numbered_lines(path)
    header = read_header(path, rows)
    wanted = [_column(path, header, name) for name in needed]
    number = 1
    for number, line in rows:
        fields = line.split("\t")
        if len(fields) != len(header):
            raise InputError(path, f"{len(fields)} columns where the header has {len(header)}", line=number)
        yield number, [fields[column] for column in wanted]
    if number == 1:
        raise InputError(path, "a header and no rows", fix="fetch or make the file again")


def read_header(path: Path, rows: Iterator[NumberedLine]) -> list[str]:
    """Take the first line off the rows of a tab-separated file and return its names."""
    _, line = next(rows, (0, ""))
    if not line:
        raise InputError(path, "empty where a header of column names was expected", fix="fetch or make the file again")
    names = line.split("\t")
    if len(set(names)) < len(names):
        raise InputError(path, f"the header names a column twice: {', '.join(names)}", line=1)
    return names


def blocks(path: Path) -> Iterator[list[NumberedLine]]:
    """Yield the runs of non-blank lines of a file, each line with its number; a file without any is refused."""
    block: list[NumberedLine] = []
    seen = False
    for number, line in numbered_lines(path):
        if line:
            block.append((number, line))
        elif block:
            seen = True
            yield block
            block = []
    if block:
        yield block
    elif not seen:
        raise InputError(path, "empty where sentences were expected", fix="fetch or make the file again")


def _column(path: Path, header: list[str], name: str) -> int:
    if name not in header:
        raise InputError(path, f"no column {name!r} in the header (has: {', '.join(header[:20])})", line=1)
    return header.index(name)
