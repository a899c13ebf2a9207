"""Check on the beginning of a text, or of the data of a task, that it has the declared script and language.

The thresholds are far from the values of real text. Among our test texts in five languages, the one with the most code
(Chinese documentation) has 45% of its letters in its script. Of their 30 most frequent words, texts of different
languages shared at most 4 and texts of the same language at least 16. Treebanks and NER data shared at most 6 with
texts of other languages and at least 13 with texts of their own language.
"""

import argparse
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from xling.core.cli import named_paths
from xling.core.errors import InputError
from xling.core.io import read_lines
from xling.core.log import log_to_stderr

SAMPLE = 2000  # number of paragraphs, or of examples of a task, that are checked
FEWEST_LETTERS = 2000  # shares in shorter texts are unreliable
FREQUENT, KNOWN = 30, 200  # the 30 most frequent words of a text are searched among the 200 of another
FEW, TOO_FEW = 0.4, 0.1  # share of letters in the script below which there is a warning, an error
ALIKE, TOO_ALIKE = 0.4, 0.9  # share of common frequent words from which on there is a warning, an error
SCRIPTS = {  # first words of the Unicode names of the letters; other scripts are not checked
    **{name: {name.upper()} for name in ("Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Armenian", "Georgian")},
    **{name: {name.upper()} for name in ("Devanagari", "Bengali", "Tamil", "Telugu", "Thai", "Hangul", "Ethiopic")},
    "Han": {"CJK"},
}
Found = TypeVar("Found")
WORD = re.compile(r"[^\W\d_]+")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the expected script and for texts of other languages."""
    parser.add_argument("--script", default="", help="its writing system, as Latin: warn or stop if it has another")
    parser.add_argument(
        "--unlike", action="append", default=[], metavar="NAME=FILE", help="plain text of another language"
    )


def plausible(
    path: Path, found: Iterator[Found], flags: argparse.Namespace, text: Callable[[Found], str] = str
) -> Iterator[Found]:
    """Return all items after a check of the script and the language of the first SAMPLE items."""
    first = list(islice(found, SAMPLE))
    others = named_paths(flags.unlike, "--unlike", "NAME=FILE")
    for problem, fix, wrong in doubts([text(one) for one in first], flags.script, others):
        if wrong:
            raise InputError(path, problem, fix=fix)
        log_to_stderr(__name__).warning("%s: %s (%s)", path, problem, fix)
    return chain(first, found)


def doubts(sample: Sequence[str], script: str, others: Mapping[str, Path]) -> Iterator[tuple[str, str, bool]]:
    """Yield (problem, fix, whether it is an error) if a sample has the wrong script or words of another language."""
    letters = Counter(character for line in sample for character in line if character.isalpha())
    if script not in SCRIPTS or letters.total() < FEWEST_LETTERS:
        return
    scripts = Counter[str]()
    for letter, count in letters.items():
        scripts[script_of(letter)] += count
    share = sum(scripts[name] for name in SCRIPTS[script]) / letters.total()
    most = next((name for name, _ in scripts.most_common() if name not in SCRIPTS[script]), "")
    if share < FEW and most:
        example = next(line for line in sample if any(script_of(c) == most for c in line))
        told = f"{share:.0%} of its letters are {script}, most are {most.capitalize()}, as in {example[:60]!r}"
        yield told, "is it the right file, and the language's script?", share < TOO_FEW
    own = frequent_words(sample, script)
    for name, other in others.items():
        theirs = frequent_words(islice(read_lines(other), SAMPLE), script)
        both = [set(few[:FREQUENT]) & set(many) for few, many in ((own, theirs), (theirs, own))]
        share, words = min(map(len, both)) / FREQUENT, [word for word in own if word in both[0]]
        if share >= ALIKE:
            told = f"its most frequent words ({', '.join(words[:5])}) are those of {other}, the text of {name}"
            yield told, "one of the two files is of another language", share >= TOO_ALIKE


def script_of(letter: str) -> str:
    """Return the script of a letter in capitals, such as LATIN."""
    return unicodedata.name(letter, "UNNAMED").split()[0]


def frequent_words(sample: Iterable[str], script: str) -> list[str]:
    """Return the KNOWN most frequent words in a script, which are mostly function words."""
    words = Counter(word for line in sample for word in WORD.findall(line.lower()))
    return list(islice((word for word, _ in words.most_common() if script_of(word[0]) in SCRIPTS[script]), KNOWN))
