"""Bilingual dictionaries: the MUSE format, and a simple format for the extra anchors (section 4.2 of the paper).

A MUSE line is a pair of words; a source word is repeated for each translation. A line of the simple format is
`source<TAB>target[<TAB>quality]`; the default quality is 1. Files made from Wiktionary contain backslashes as remains
of markup. They are stripped from the ends of an entry. An entry that is then empty, or has a backslash in the middle
(two translations run together), is skipped and counted. Other noise is kept, because a filter would lose words.
"""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from xling.core.errors import InputError
from xling.data.lines import filled_lines

JUNK = "\\"


class WordPair(NamedTuple):
    """A word and one of its translations."""

    source: str
    target: str


class Translation(NamedTuple):
    """A dictionary entry: an expression, one of its translations and the quality of the translation."""

    source: str
    target: str
    quality: float


def read_muse(path: Path) -> Iterator[WordPair]:
    """Yield the word pairs of a MUSE dictionary in file order; a space or a tab separates the two words."""
    for number, line in filled_lines(path, "pairs of words were"):
        fields = line.split("\t" if "\t" in line else " ")
        if len(fields) != 2 or not all(fields):
            raise InputError(path, f"{line!r} is not two words with a space or a tab between", line=number)
        yield WordPair(*fields)


def read_tsv(path: Path, counts: Counter[str] | None = None) -> Iterator[Translation]:
    """Yield the entries of the simple format; with `counts`, clean the entries and count those that are skipped."""
    for number, line in filled_lines(path, "a dictionary was"):
        fields = line.split("\t")
        if not 2 <= len(fields) <= 3:
            problem = "no tab" if len(fields) == 1 else f"{len(fields)} columns"
            raise InputError(path, f"{problem} where source<TAB>target[<TAB>quality] was expected", line=number)
        source, target = (" ".join(field.split()) if counts is None else clean(field) for field in fields[:2])
        try:
            quality = float(fields[2]) if len(fields) == 3 else 1.0
        except ValueError:
            quality = math.nan
        if not 0 <= quality < math.inf:
            raise InputError(path, f"quality {fields[2]!r} is not a number from 0", line=number)
        if source and target:
            yield Translation(source, target, quality)
        elif counts is None:
            raise InputError(path, f"a word is missing in {line!r}", line=number)
        else:
            counts["junk"] += 1


def clean(entry: str) -> str:
    """Return an entry without backslashes at its ends and with single spaces, or "" if it cannot be used."""
    text = " ".join(entry.strip(JUNK + " \u00a0").split())
    return "" if JUNK in text else text
