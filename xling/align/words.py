"""Word translation by the rules of MUSE (section 5.1.1).

Each side is normalised over its whole vocabulary, the map is fitted on the training pairs, and translations are
retrieved by CSLS among all target words. Words are compared in lower case; the first of several spellings counts. Pairs
with an unknown word are left out and counted; a source word counts once, and is right when any of its translations is
found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xling.align.csls import csls_search
from xling.align.intervals import Hits
from xling.align.mapping import apply_map, procrustes
from xling.align.normalise import Matrix, fit_normaliser
from xling.core.errors import InputError
from xling.data.muse import WordPair
from xling.model.device import side_by_side

LIMIT = 200_000  # vectors of fastText that are read (section 5.1.1 of the paper)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Lower-cased words, each with its place among those kept, and the rows of the file they came from."""

    places: dict[str, int]
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """The pairs of a dictionary with both words known, as places, each once; and how many had an unknown word."""

    pairs: tuple[tuple[int, int], ...]
    given: int
    unknown_source: int
    unknown_target: int

    def by_source(self) -> dict[int, set[int]]:
        """Return the known translations of each source word."""
        found: dict[int, set[int]] = {}
        for source, target in self.pairs:
            found.setdefault(source, set()).add(target)
        return found

    def describe(self) -> dict[str, int]:
        """Return the counts that a result carries."""
        return {
            "pairs": self.given,
            "pairs_kept": len(self.pairs),
            "source_words_kept": len(self.by_source()),
            "unknown_source": self.unknown_source,
            "unknown_target": self.unknown_target,
        }


def fold_case(words: Sequence[str], allowed: Iterable[str] | None = None) -> Vocabulary:
    """Return the vocabulary of words in the order of a file, restricted to the allowed ones where some are named."""
    wanted = None if allowed is None else {word.lower() for word in allowed}
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        if wanted is None or word.lower() in wanted:
            rows.setdefault(word.lower(), row)
    places = {word: place for place, word in enumerate(rows)}
    return Vocabulary(places, np.fromiter(rows.values(), dtype=np.int64))


def known_pairs(path: Path, pairs: Iterable[WordPair], source: Vocabulary, target: Vocabulary) -> KnownPairs:
    """Return the pairs of a dictionary (its path is for errors) whose words both have vectors; there must be some."""
    found: dict[tuple[int, int], None] = {}
    folded = dict.fromkeys((pair.source.lower(), pair.target.lower()) for pair in pairs)
    unknown_source = sum(left not in source.places for left, _ in folded)
    unknown_target = sum(right not in target.places for _, right in folded)
    for left, right in folded:
        if left in source.places and right in target.places:
            found[source.places[left], target.places[right]] = None
    if not found:
        counts = f"{unknown_source} source and {unknown_target} target words are unknown"
        raise InputError(path, f"none of its {len(folded)} pairs has vectors on both sides ({counts})")
    return KnownPairs(tuple(found), len(folded), unknown_source, unknown_target)


def translate(source: Matrix, target: Matrix, train: KnownPairs, test: KnownPairs, device: str = "cpu") -> Hits:
    """Return for each test word whether one of its translations comes first after mapping the source space."""
    x, y = side_by_side(lambda side: fit_normaliser(side)[1], (source, target))
    left, right = np.array(train.pairs).T
    gold = test.by_source()
    mapped = apply_map(procrustes(x[left], y[right]), x)
    found = csls_search(mapped, y, 1, np.array(list(gold)), device=device).indices[:, 0].tolist()
    return np.array([first in answers for first, answers in zip(found, gold.values(), strict=True)])


def chance(gold: Iterable[set[int]], targets: int) -> float:
    """Return the precision at 1 of guessing a target word at random."""
    return float(np.mean([1 - (targets - len(answers)) / targets for answers in gold]))
