"""Extra anchors (section 4.2 of the paper): words replaced by translations, block by block, on lists of lines.

A word is what stands between spaces. A dictionary word is left as it is 70% of the time, else replaced by one of
its translations, drawn by quality; at most 15% of the words of a block are replaced. What counts towards that cap
is replaced source words: a translation of three words counts once. A word is looked up as it stands, then in lower
case; in the second case its translation takes over its casing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xling.core.seeds import numpy_rng

KEEP = 0.7
CAP = 0.15
BLOCK_WORDS = 96 * 256  # one batch of one GPU, section 3.1 of the paper

Pair = tuple[str, str, float]


@dataclass(frozen=True)
class Dictionary:
    """Translations of single words, ready to be drawn by quality.

    The translations of entry i stand side by side in `targets`; `cumulative` there is i + the share of quality up to
    and including each, so one search in the sorted array draws for any number of words at once.
    """

    entries: dict[str, int]
    targets: list[str]
    cumulative: NDArray[np.float64]
    last: NDArray[np.int64]  # the last target of each entry
    multiword_pairs: int  # left out, because a source of several words cannot be looked up
    zero_pairs: int  # left out, because they would never be drawn


@dataclass(frozen=True)
class Counts:
    """What switching one block, or several, did."""

    words: int = 0
    dictionary_words: int = 0
    replaced: int = 0
    identical: int = 0  # replaced by a translation that is the same word
    dropped_by_cap: int = 0
    blocks: int = 0
    capped_blocks: int = 0
    largest_block_share: float = 0.0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.words + other.words,
            self.dictionary_words + other.dictionary_words,
            self.replaced + other.replaced,
            self.identical + other.identical,
            self.dropped_by_cap + other.dropped_by_cap,
            self.blocks + other.blocks,
            self.capped_blocks + other.capped_blocks,
            max(self.largest_block_share, other.largest_block_share),
        )


def build_dictionary(pairs: Iterable[Pair], backward: bool = False, lower: bool = True) -> Dictionary:
    """Index (source, target, quality) pairs; the qualities of a pair that occurs twice are added up."""
    weights: dict[str, dict[str, float]] = {}
    multiword = zero = 0
    for source, target, quality in pairs:
        source, target = (target, source) if backward else (source, target)
        source, target = (source.lower(), target.lower()) if lower else (source, target)
        if " " in source:
            multiword += 1
        elif quality == 0:
            zero += 1
        else:
            targets = weights.setdefault(source, {})
            targets[target] = targets.get(target, 0.0) + quality
    return _index(weights, multiword, zero)


def split_blocks(lines: Iterable[str], block_words: int = BLOCK_WORDS) -> Iterator[list[str]]:
    """Yield runs of whole lines of at most `block_words` words; a longer line is a block of its own."""
    block: list[str] = []
    size = 0
    for line in lines:
        words = line.count(" ") + 1  # never fewer than there are
        if block and size + words > block_words:
            yield block
            block, size = [], 0
        block.append(line)
        size += words
    if block:
        yield block


def switch_block(
    lines: list[str], dictionary: Dictionary, key: tuple[object, ...], keep: float = KEEP, cap: float = CAP
) -> tuple[list[str], Counts]:
    """Return a block with words replaced, and what was done; `key` (seed, direction, block number) is the seed."""
    rng = numpy_rng("codeswitch", *key)
    words = "\n".join(lines).replace("\n", " \n ").split(" ")  # a line end becomes a word that no dictionary has
    total = len(words) - words.count("") - (len(lines) - 1)
    entries = _look_up(words, dictionary.entries)
    known = np.flatnonzero(entries >= 0)
    drawn = known[rng.random(len(known)) >= keep]
    limit = int(cap * total + 1e-9)  # 0.15 * 20 must be 3
    chosen = drawn if len(drawn) <= limit else np.sort(rng.choice(drawn, limit, replace=False))
    targets = _draw_targets(dictionary, entries[chosen], rng)
    identical = _replace(words, chosen, targets, dictionary)
    share = len(chosen) / total if total else 0.0
    dropped = len(drawn) - len(chosen)
    counts = Counts(total, len(known), len(chosen), identical, dropped, 1, int(dropped > 0), share)
    return " ".join(words).replace(" \n ", "\n").split("\n"), counts


def match_case(word: str, translation: str) -> str:
    """Give a translation the casing of the word it replaces: UPPER, Capitalised or its own."""
    if len(word) > 1 and word.isupper():
        return translation.upper()
    if word[:1].isupper():
        return translation[:1].upper() + translation[1:]
    return translation


def _index(weights: dict[str, dict[str, float]], multiword: int, zero: int) -> Dictionary:
    cumulative = np.empty(sum(map(len, weights.values())))
    last = np.cumsum([len(targets) for targets in weights.values()], dtype=np.int64) - 1
    start = 0
    for number, targets in enumerate(weights.values()):
        shares = np.cumsum(list(targets.values()))
        cumulative[start : start + len(targets)] = number + shares / shares[-1]
        start += len(targets)
    entries = {source: number for number, source in enumerate(weights)}
    flat = [target for targets in weights.values() for target in targets]
    return Dictionary(entries, flat, cumulative, last, multiword, zero)


def _look_up(words: list[str], entries: dict[str, int]) -> NDArray[np.int64]:
    find = entries.get
    found = [find(word) if word in entries else find(word.lower(), -1) for word in words]
    return np.array(found, dtype=np.int64)


def _draw_targets(dictionary: Dictionary, entries: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    found = np.searchsorted(dictionary.cumulative, entries + rng.random(len(entries)), side="right")
    return np.minimum(found, dictionary.last[entries])  # entry + 0.999… can round up to the next entry


def _replace(words: list[str], chosen: NDArray[np.int64], targets: NDArray[np.int64], dictionary: Dictionary) -> int:
    identical = 0
    for position, target in zip(chosen.tolist(), targets.tolist(), strict=True):
        word, translation = words[position], dictionary.targets[target]
        words[position] = translation if word in dictionary.entries else match_case(word, translation)
        identical += words[position] == word
    return identical
