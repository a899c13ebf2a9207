"""Code-switching of real text with the Wiktionary dictionary: the limits of section 4.2 hold."""

import lzma
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from scipy import stats

from xling.codeswitch.switch_codes import BLOCK_WORDS, CAP, KEEP, Counts, build_dictionary, switch_text
from xling.data.dictionary import read_tsv


@pytest.mark.real_data
def test_the_limits_hold_on_real_text(real_data: Path) -> None:
    with lzma.open(real_data / "text" / "wiki.en.txt.xz", "rt", encoding="utf-8") as handle:
        lines = [" ".join(line.lower().split()) for line in islice(handle, 1000)]
    single = [
        pair for pair in read_tsv(real_data / "dictionary" / "en-fr.tsv", Counter()) if " " not in pair[0] + pair[1]
    ]
    dictionary = build_dictionary(single)
    uncapped = switch_text(lines, dictionary, 11, "forward", KEEP, 1.0, BLOCK_WORDS)
    total = sum((counts for _, counts in uncapped), Counts())
    by_hand = sum(word in dictionary.entries for line in lines for word in line.split(" "))
    assert total.dictionary_words == by_hand > 10_000
    assert total.dropped_by_cap == 0
    assert stats.binomtest(total.replaced, by_hand, 0.3).pvalue > 1e-3
    for block_words in (100, BLOCK_WORDS):
        rest, capped = iter(lines), 0
        for block, counts in switch_text(lines, dictionary, 11, "forward", KEEP, CAP, block_words):
            words = zip(" ".join(islice(rest, len(block))).split(" "), " ".join(block).split(" "), strict=True)
            changed = [before != after for before, after in words if before]
            assert sum(changed) <= counts.replaced <= 0.15 * len(changed)
            capped += counts.capped_blocks
        assert capped > 0, "the whole dictionary must make the cap bind"
