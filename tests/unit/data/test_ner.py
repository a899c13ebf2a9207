"""Tags of entities: every scheme becomes BIO, and labels of characters move to words without loss."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from xling.data.ner import read_wikiann, realign, to_bio

TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "I-MISC"]), max_size=12)
# Chinese: 中国 人民 银行 在 北京, the bank one entity, Peking another
CHARACTERS = list("中国人民银行在北京")
BIO = ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "B-LOC", "I-LOC"]


@given(TAGS)
def test_bio_has_the_entities_that_seqeval_finds_in_iob1(tags: list[str]) -> None:
    once = to_bio(tags)
    assert get_entities(once) == get_entities(tags)
    assert to_bio(once) == once


@pytest.mark.parametrize(
    ("words", "tags", "counts"),
    [
        ("中国 人民 银行 在 北京", "B-ORG I-ORG I-ORG O B-LOC", {"words": 5}),
        ("中国人民银行 在 北京", "B-ORG O B-LOC", {"words": 3}),
        ("中国 人民 银 行在 北 京", "B-ORG I-ORG I-ORG I-ORG B-LOC I-LOC", {"words": 6, "cut": 1}),
        ("中国 人民 银行 在北京", "B-ORG I-ORG I-ORG B-LOC", {"words": 4, "cut": 1}),
        ("中国 人民 银行在北 京", "B-ORG I-ORG I-ORG B-LOC", {"words": 4, "cut": 1, "shared": 1}),
        ("中国 人民 银行在北京", "B-ORG I-ORG I-ORG", {"words": 3, "cut": 1, "shared": 1, "lost": 1}),
    ],
)
def test_labels_move_to_words(words: str, tags: str, counts: dict[str, int]) -> None:
    tally: Counter[str] = Counter()
    assert realign(CHARACTERS, BIO, words.split(), tally) == tags.split()
    assert +tally == counts


@given(TAGS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_any_segmentation_gives_bio_and_accounts_for_every_entity(tags: list[str], cuts: list[bool]) -> None:
    characters = [chr(0x4E00 + i) for i in range(len(tags))]
    words: list[str] = []
    for character, cut in zip(characters, cuts, strict=False):
        if cut or not words:
            words.append(character)
        else:
            words[-1] += character
    counts: Counter[str] = Counter()
    assert realign(characters, tags, characters, Counter()) == to_bio(tags)
    moved = realign(characters, tags, words, counts)
    assert to_bio(moved) == moved
    assert len(get_entities(moved)) + counts["lost"] == len(get_entities(tags))


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["fr", "zh"])
def test_real_wikiann(real_data: Path, language: str) -> None:
    path = real_data / "wikiann" / language / "dev"
    counts: Counter[str] = Counter()
    read = list(read_wikiann(path, counts, language))
    assert len(read) == 10000
    assert (counts["repaired"] > 0) == (language == "zh")  # its character data has standalone I- tags
    lines = path.read_text(encoding="utf-8").split("\n")[:5000]
    found = [
        (f"{language}:{word}", tag) for s in read for word, tag in [*zip(s["words"], s["tags"], strict=True), ("", "O")]
    ]
    expected = [tuple(line.split("\t")) if line else (f"{language}:", "O") for line in lines]
    assert [word for word, _ in found[: len(lines)]] == [word for word, _ in expected]
    assert get_entities([tag for _, tag in found[: len(lines)]]) == get_entities([tag for _, tag in expected])
