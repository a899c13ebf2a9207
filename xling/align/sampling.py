"""Which lines and which words of a text are taken: lines spread evenly over it, and their most frequent words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import read_lines


@dataclass(frozen=True, slots=True)
class Sample:
    """So many lines of a text, the same ones whenever it is read; none of them is kept in memory."""

    path: Path
    lines: int
    of: int

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the words of each line."""
        for number, line in enumerate(read_lines(self.path)):
            if (number + 1) * self.lines // self.of > number * self.lines // self.of:
                yield line.split()


def sample_lines(path: Path, wanted: int) -> Sample:
    """Return lines spread evenly over a text, or all where it has no more."""
    lines = sum(1 for _ in read_lines(path))
    if not lines:
        raise InputError(path, "empty where text was expected", fix="make the corpus again")
    return Sample(path, min(wanted, lines), lines)


def frequent_words(sample: Sample, most: int) -> dict[str, int]:
    """Return the most frequent words and how often each occurs, the most frequent first; ties go by spelling."""
    counts: Counter[str] = Counter()
    for words in sample:
        counts.update(words)
    if not counts:
        raise InputError(sample.path, "no words in the lines that were taken", fix="make the corpus again")
    return dict(nsmallest(most, counts.items(), key=lambda entry: (-entry[1], entry[0])))
