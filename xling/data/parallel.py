"""Parallel sentences: XNLI-15way, additional versions such as en', and any files aligned line by line."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from xling.core.errors import InputError
from xling.data.lines import filled_lines, table_rows

Sentences = tuple[str, ...]
Side = tuple[Path, Iterator[Sentences]]  # a file and its rows


def read_multiway(path: Path, languages: Sequence[str]) -> Iterator[Sentences]:
    """Yield the sentences of these languages, row by row, from a table with language codes in its header."""
    for number, row in table_rows(path, languages):
        for language, text in zip(languages, row, strict=True):
            if not text.strip():
                raise InputError(path, f"no sentence in column {language}", line=number)
        yield tuple(row)


def read_aligned(paths: Sequence[Path]) -> Iterator[Sentences]:
    """Yield tuples of corresponding lines of files; the files must be equally long and have no blank lines."""
    return side_by_side([(path, read_side(path)) for path in paths])


def read_side(path: Path) -> Iterator[Sentences]:
    """Yield each line of a file as a row of one sentence."""
    for number, text in filled_lines(path, "sentences were"):
        if not text.strip():
            raise InputError(path, "a blank line where a sentence was expected", line=number)
        yield (text,)


def side_by_side(sides: Sequence[Side]) -> Iterator[Sentences]:
    """Yield the corresponding rows of files, joined; the files must be equally long."""
    paths = [path for path, _ in sides]
    for number, rows in enumerate(zip_longest(*(rows for _, rows in sides))):
        if None in rows:
            ended = [row is None for row in rows]
            short, long = paths[ended.index(True)], paths[ended.index(False)]
            problem = f"ends after {number} lines of sentences, {long} goes on"
            raise InputError(short, problem, fix="they must be aligned")
        yield tuple(chain.from_iterable(rows))
