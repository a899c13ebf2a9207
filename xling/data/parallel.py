"""Parallel sentences: XNLI-15way, additional versions such as en', and any files aligned line by line."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import numbered_lines
from xling.data.lines import AGAIN, table_rows

Sentences = tuple[str, ...]


def read_multiway(path: Path, languages: Sequence[str]) -> Iterator[Sentences]:
    """Yield the sentences of these languages, row by row, from a table with language codes in its header."""
    for number, row in table_rows(path, languages):
        for language, text in zip(languages, row, strict=True):
            if not text.strip():
                raise InputError(path, f"no sentence in column {language}", line=number)
        yield tuple(row)


def read_aligned(paths: Sequence[Path]) -> Iterator[Sentences]:
    """Yield tuples of corresponding lines of files; the files must be equally long and have no blank lines."""
    number = 0
    for number, row in enumerate(zip_longest(*(numbered_lines(path) for path in paths)), start=1):
        for path, cell in zip(paths, row, strict=True):
            if cell is None:
                longer = next(other for other, there in zip(paths, row, strict=True) if there)
                raise InputError(path, f"ends after {number - 1} lines, {longer} goes on", fix="they must be aligned")
            if not cell[1].strip():
                raise InputError(path, "a blank line where a sentence was expected", line=number)
        yield tuple(text for _, text in row)
    if number == 0:
        raise InputError(paths[0], "empty where sentences were expected", fix=AGAIN)


def read_both(multiway: Path, languages: Sequence[str], files: Sequence[Path]) -> Iterator[Sentences]:
    """Yield each row of a multi-way table joined with the same line of other files, which must be equally long."""
    rows, lines = read_multiway(multiway, languages), read_aligned(files)
    for number, (row, line) in enumerate(zip_longest(rows, lines), start=1):
        if row is None or line is None:
            short, long = (multiway, files[0]) if row is None else (files[0], multiway)
            raise InputError(short, f"ends after {number - 1} sentences, {long} goes on", fix="they must be aligned")
        yield row + line
