"""Helpers for readers of line formats: clean lines, non-empty files, tables, blocks between blank lines."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import numbered_lines

NumberedLine = tuple[int, str]
Row = tuple[int, list[str]]  # line number and fields
Record = dict[str, Any]  # an example of a task
AGAIN = "fetch or make the file again"

# Neither text nor space: C0/C1 controls, soft hyphen, zero-width space, direction marks, word joiner, byte-order mark,
# interlinear marks, surrogates and noncharacters. The joiners U+200C/D are kept: some scripts need them for spelling.
_DROPPED = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    r"\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]+"
)


def clean_line(text: str) -> str:
    """Return text without control characters, with single spaces and no space at its ends."""
    if text.isprintable() and "  " not in text:  # the space is the only printable white space
        return text.strip()
    return " ".join(_DROPPED.sub("", text).split())


def filled_lines(path: Path, expected: str) -> Iterator[NumberedLine]:
    """Yield the numbered lines of a file; the error for an empty file includes `expected`, such as "sentences were"."""
    number = 0
    for number, line in numbered_lines(path):
        yield number, line
    if number == 0:
        raise InputError(path, f"empty where {expected} expected", fix=AGAIN)


def table_rows(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Yield the needed columns, in the given order, of a tab-separated file with a header.

    Quotation marks are ordinary text; fields are never quoted.
    """
    header, number = read_header(path), 1
    for name in needed:
        if name not in header:
            raise InputError(path, f"no column {name!r} in the header (has: {', '.join(header[:20])})", line=1)
    wanted = [header.index(name) for name in needed]
    for number, line in islice(numbered_lines(path), 1, None):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise InputError(path, f"{len(fields)} columns where the header has {len(header)}", line=number)
        yield number, [fields[column] for column in wanted]
    if number == 1:
        raise InputError(path, "a header and no rows", fix=AGAIN)


def read_header(path: Path) -> list[str]:
    """Return the column names of a tab-separated file."""
    _, line = next(numbered_lines(path), (0, ""))
    names = line.split("\t")
    if not any(names):
        raise InputError(path, "empty where a header of column names was expected", fix=AGAIN)
    if len(set(names)) < len(names):
        raise InputError(path, f"the header names a column twice: {', '.join(names)}", line=1)
    return names


def blocks(path: Path) -> Iterator[list[NumberedLine]]:
    """Yield the blocks of non-blank, numbered lines of a file; raise an error if there is none."""
    block: list[NumberedLine] = []
    for blank, lines in groupby(numbered_lines(path), key=lambda numbered: not numbered[1]):
        if not blank:
            block = list(lines)
            yield block
    if not block:
        raise InputError(path, "empty where sentences were expected", fix=AGAIN)
