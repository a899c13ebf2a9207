"""BPE training: exactly N merges, the study's special tokens, the same bytes every time, clear faults."""

import os
import random
import subprocess
import sys
from collections import Counter

import pytest
import sentencepiece
from scipy import stats
from tiny_models import write

from xling.bpe.train_bpe import (
    SPECIAL_TOKENS,
    WORD_START,
    count_words,
    fit,
    main,
    sample_lines,
    sample_texts,
    train_bpe,
    usable_words,
)
from xling.bpe.vocabulary import pieces_of
from xling.core.errors import InputError, XlingError

rng = random.Random(5)
SYLLABLES = ["ba", "ko", "mi", "ru", "te", "lan", "sor", "dé", "жи", "漢"]
WORDS = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(400)]
LINES = [" ".join(rng.choices(WORDS, k=8)) for _ in range(300)]


def pieces(model):
    return pieces_of(sentencepiece.SentencePieceProcessor(model_proto=model))


def test_merges_are_those_of_the_definition():
    words = Counter({"a": 40, "ab": 20, "b": 11, "bb": 6, "abb": 2})  # counts of pairs: 62 ▁a, 22 ▁ab, 17 ▁b, …
    assert pieces(fit(words, 5))[4:9] == ["▁a", "▁ab", "▁b", "▁bb", "▁abb"]


@pytest.mark.parametrize(
    ("words", "merges"),
    [
        *((count_words(LINES), merges) for merges in (0, 1, 200)),
        (Counter({"𒇸": 1, "é": 2, "abab": 50_000_000}), 1),  # sentencepiece alone forgets the rare ones
        (count_words([" ".join(WORDS * 30), "é" * 1000]), 100),  # long lines and long words
    ],
)
def test_vocabulary_is_special_tokens_merges_and_characters(words, merges):
    found, characters = pieces(fit(words, merges)), {*"".join(words), WORD_START}
    assert tuple(found[:4]) == SPECIAL_TOKENS == ("<pad>", "<unk>", "</s>", "<mask>")
    assert {piece for piece in found[4:] if len(piece) == 1} == characters
    assert len(found) == 4 + merges + len(characters)


def test_unusable_words_are_left_out_and_special_tokens_never_come_from_text():
    words = Counter({"aa": 49, "b漢": 1, "<pad": 9, "mask": 9})
    unusable = dict.fromkeys(["<mask>", "a</s>b", "a" * 1001, "x\u2581y", "\u2585"], 50)
    assert usable_words(words + Counter(unusable)) == words
    model = sentencepiece.SentencePieceProcessor(model_proto=fit(words, 5))
    assert not {0, 2, 3} & set(model.encode("<mask> </s> <pad> mask"))
    assert model.bos_id() == -1


def test_same_bytes_in_every_process(tmp_path, call):
    sources = [write(tmp_path / f"{name}.txt.zst", lines) for name, lines in (("a", LINES), ("b", LINES[:150]))]
    flags = ["--input", *sources, "--merges", 100, "--max-lines", 100, "--seed", 3, "--out"]
    assert call(main, *flags, tmp_path / "here" / "x.model").code == 0
    command = [sys.executable, "-m", "xling.bpe.train_bpe", *map(str, flags), str(tmp_path / "there" / "x.model")]
    subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "1"}, check=True, capture_output=True)
    assert (tmp_path / "here" / "x.model").read_bytes() == (tmp_path / "there" / "x.model").read_bytes()
    assert "--merges must not be negative" in call(main, *flags, tmp_path / "x.model", "--merges", -1).error
    assert call(main, *flags, tmp_path / "x.model", "--max-lines", 0).code == 2


@pytest.mark.parametrize(
    ("balance", "max_lines", "left", "right"),  # how many words of each
    [
        ("lines", 10_000, 10_000, 1500),
        ("lines", 400, 8000, 1200),
        ("words", 10_000, 1500, 1500),
        ("words", 100, 300, 300),
    ],
)
def test_languages_give_the_same_number_of_lines_or_words(tmp_path, balance, max_lines, left, right):
    texts = [["ab " * 20] * 1000, ["漢字 漢字 漢字"] * 500]
    paths = [write(tmp_path / f"{number}.txt", lines) for number, lines in enumerate(texts)]
    assert count_words(sample_texts(paths, max_lines, 1, balance)) == Counter({"ab": left, "漢字": right})


def test_a_sample_is_exact_ordered_repeatable_and_uniform():
    counts, lines = Counter[str](), [str(number) for number in range(12)]
    for seed in range(4000):
        sample = list(sample_lines(lines, seed % 13, 12, (seed, 0)))
        assert sample == sorted(sample, key=int) == list(sample_lines(lines, seed % 13, 12, (seed, 0)))
        assert len(sample) == seed % 13
        counts.update(sample if seed % 13 == 3 else [])
    assert stats.chisquare([counts[line] for line in lines]).pvalue > 1e-3


def test_counting_stays_within_its_limit():
    lines = ["common words here"] * 3 + [f"rare{number}" for number in range(100)] + ["common"] * 3
    counted = count_words(lines, limit=10)
    assert len(counted) == 10
    assert counted["common"] == 6
    assert set(count_words(["b a c c"], limit=2)) == {"c", "b"}  # of equally rare ones the first


def test_a_text_that_is_too_small_is_named(tmp_path):
    path = write(tmp_path / "small.txt", ["ab ab", "abc"])
    with pytest.raises(XlingError, match=r"small.txt: 1000 merges asked for, 6 possible"):
        train_bpe([path], 1000, 10, 1)
    assert sum(len(piece) > 1 for piece in pieces(train_bpe([path], 6, 10, 1))[4:]) == 6
    for lines in ([], [" "], ["<mask>"]):
        with pytest.raises(InputError, match=r"small.txt: no words in it"):
            train_bpe([write(path, lines)], 10, 10, 1)
