"""Code-switching of real text with the Wiktionary dictionary: the limits of section 4.2 hold."""

import lzma
import zlib
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path

import pytest
from scipy import stats

from xling.codeswitch.switch_codes import (
    BLOCK_WORDS,
    CAP,
    KEEP,
    Counts,
    Dictionary,
    build_dictionary,
    load_dictionary,
    read_pairs,
    split_blocks,
    switch_text,
)

pytestmark = pytest.mark.real_data
DIRECTIONS = {"forward": "wiki.en.txt.xz", "backward": "wiki.fr.txt.xz"}


def real_lines(real_data: Path, name: str, number: int = 4000) -> list[str]:
    with lzma.open(real_data / "text" / name, "rt", encoding="utf-8") as handle:
        return [" ".join(line.lower().split()) for line in islice(handle, number)]


def switch(
    lines: list[str], dictionary: Dictionary, direction: str, cap: float = CAP, block_words: int = BLOCK_WORDS
) -> tuple[list[list[str]], list[Counts]]:
    blocks = list(switch_text(lines, dictionary, 11, direction, KEEP, cap, block_words))
    return [block for block, _ in blocks], [counts for _, counts in blocks]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_thirty_percent_of_dictionary_words_when_the_cap_does_not_bind(real_data: Path, direction: str) -> None:
    lines = real_lines(real_data, DIRECTIONS[direction])
    dictionary = load_dictionary(real_data / "dictionary" / "en-fr.tsv", direction, lower=True)
    _, counts = switch(lines, dictionary, direction, cap=1.0)
    total = sum(counts, Counts())
    by_hand = sum(word in dictionary.entries for line in lines for word in line.split(" "))
    assert total.dictionary_words == by_hand > 10_000
    assert total.dropped_by_cap == 0
    assert stats.binomtest(total.replaced, by_hand, 0.3).pvalue > 1e-3


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("block_words", [100, BLOCK_WORDS])
def test_never_more_than_fifteen_percent_of_a_block(real_data: Path, direction: str, block_words: int) -> None:
    lines = real_lines(real_data, DIRECTIONS[direction])
    pairs = [pair for pair in read_pairs(real_data / "dictionary" / "en-fr.tsv") if not any(" " in w for w in pair[:2])]
    dictionary = build_dictionary(pairs, backward=direction == "backward")
    after, counts = switch(lines, dictionary, direction, block_words=block_words)
    for block, switched in zip(split_blocks(lines, block_words), after, strict=True):
        words = list(zip(" ".join(block).split(" "), " ".join(switched).split(" "), strict=True))
        assert sum(a != b for a, b in words) <= 0.15 * sum(a != "" for a, _ in words)
    assert max(c.largest_block_share for c in counts) <= 0.15
    assert sum(c.capped_blocks for c in counts) > 0, "the whole dictionary must make the cap bind"


def test_real_words_are_translated_by_quality(real_data: Path) -> None:
    pairs = [
        (source.lower(), target.lower(), 1.0 + zlib.crc32(target.encode()) % 9)
        for source, target, _ in read_pairs(real_data / "dictionary" / "en-fr.tsv")
        if " " not in source and " " not in target
    ]
    lines = real_lines(real_data, "wiki.en.txt.xz", 8000)
    after, _ = switch(lines, build_dictionary(pairs), "forward", cap=1.0)
    quality: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for source, target, weight in pairs:
        quality[source][target] += weight
    before_words = " ".join(lines).split(" ")
    after_words = " ".join(line for block in after for line in block).split(" ")
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for before, word in zip(before_words, after_words, strict=True):
        if before != word:
            seen[before][word] += 1
    statistic = degrees = 0
    for source, counts in seen.items():
        # a word that is its own translation looks left alone, so the draw is conditioned on being another word
        weights = {target: weight for target, weight in quality[source].items() if target != source}
        expected = {t: counts.total() * w / sum(weights.values()) for t, w in weights.items()}
        if len(expected) > 1 and min(expected.values()) >= 5:
            statistic += sum((counts[t] - e) ** 2 / e for t, e in expected.items())
            degrees += len(expected) - 1
        assert set(counts) <= set(weights)
    assert degrees > 100
    assert stats.chi2(degrees).sf(statistic) > 1e-3
