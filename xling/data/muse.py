"""MUSE bilingual dictionaries: one pair of words per line, with a source word repeated for each translation."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from xling.core.errors import InputError
from xling.data.lines import filled_lines


class WordPair(NamedTuple):
    """A word and one of its translations."""

    source: str
    target: str


def read_muse(path: Path) -> Iterator[WordPair]:
    """Yield the pairs of a MUSE dictionary in file order; the words are separated by a space or a tab."""
    for number, line in filled_lines(path, "pairs of words were"):
        fields = line.split("\t" if "\t" in line else " ")
        if len(fields) != 2 or not all(fields):
            raise InputError(path, f"{line!r} is not two words with a space or a tab between", line=number)
        yield WordPair(*fields)


def by_source(pairs: Iterable[WordPair]) -> dict[str, list[str]]:
    """Return the distinct translations of each source word, both in file order."""
    found: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        found.setdefault(source, {})[target] = None
    return {source: list(targets) for source, targets in found.items()}
