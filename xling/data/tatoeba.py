"""Tatoeba test sets of LASER: tatoeba.fra-eng.fra and tatoeba.fra-eng.eng, a sentence a line (section 5.1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xling.data.parallel import read_aligned

ENGLISH = "eng"  # the other side of the published sets


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence and its English translation."""

    foreign: str
    english: str


def read_tatoeba(folder: Path, language: str) -> Iterator[SentencePair]:
    """Yield the pairs of a language given by its three-letter code, such as fra."""
    stem = f"tatoeba.{language}-{ENGLISH}"
    for foreign, english in read_aligned([folder / f"{stem}.{language}", folder / f"{stem}.{ENGLISH}"]):
        yield SentencePair(foreign, english)
