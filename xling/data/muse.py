"""MUSE bilingual dictionaries: one pair of words a line, a source word again for each of its translations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import numbered_lines


@dataclass(frozen=True, slots=True)
class WordPair:
    """A word and one of its translations."""

    source: str
    target: str


def read_muse(path: Path) -> Iterator[WordPair]:
    """Yield the pairs of a MUSE dictionary in the order of the file; a space or a tab stands between the words."""
    number = 0
    for number, line in numbered_lines(path):
        fields = line.split("\t" if "\t" in line else " ")
        if len(fields) != 2 or not all(fields):
            raise InputError(path, f"{line!r} is not two words with a space or a tab between", line=number)
        yield WordPair(*fields)
    if number == 0:
        raise InputError(path, "empty where pairs of words were expected", fix="fetch or make the file again")


def by_source(pairs: Iterable[WordPair]) -> dict[str, list[str]]:
    """Return the translations of each source word, both in the order of the file, each once."""
    found: dict[str, dict[str, None]] = {}
    for pair in pairs:
        found.setdefault(pair.source, {})[pair.target] = None
    return {source: list(targets) for source, targets in found.items()}
