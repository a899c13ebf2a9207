"""BPE training: exactly N merges, the study's special tokens, the same bytes every time, clear faults."""

import io
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe.train_bpe import (
    SPECIAL_TOKENS,
    WORD_START,
    count_merges,
    count_words,
    fit,
    main,
    sample_lines,
    sample_texts,
    train_bpe,
    usable_words,
)
from xling.core.errors import InputError, XlingError
from xling.core.io import write_text

rng = random.Random(5)
SYLLABLES = ["ba", "ko", "mi", "ru", "te", "lan", "sor", "dé", "жи", "漢"]
WORDS = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(400)]
LINES = [" ".join(rng.choices(WORDS, k=8)) for _ in range(300)]


def load(model: bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def pieces(model: bytes) -> list[str]:
    loaded = load(model)
    return [loaded.id_to_piece(number) for number in range(len(loaded))]


def write(path: Path, lines: list[str]) -> Path:
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)
    return path


def test_merges_are_those_of_the_definition() -> None:
    words = Counter({"a": 40, "ab": 20, "b": 11, "bb": 6, "abb": 2})  # counts of pairs: 62 ▁a, 22 ▁ab, 17 ▁b, …
    assert pieces(fit(words, 5))[4:9] == ["▁a", "▁ab", "▁b", "▁bb", "▁abb"]


@pytest.mark.parametrize("merges", [0, 1, 50, 200])
def test_vocabulary_is_special_tokens_merges_and_characters(merges: int) -> None:
    words = count_words(LINES)
    found = pieces(fit(words, merges))
    characters = set("".join(WORDS)) | {WORD_START}
    assert tuple(found[:4]) == SPECIAL_TOKENS == ("<pad>", "<unk>", "</s>", "<mask>")
    assert {piece for piece in found[4:] if len(piece) == 1} == characters
    assert len(found) == 4 + merges + len(characters)
    assert count_merges(load(fit(words, merges))) == merges


def test_unusable_words_are_left_out_and_special_tokens_never_come_from_text() -> None:
    words = Counter({"aa": 49, "b漢": 1, "<pad": 9, "mask": 9})
    unusable = dict.fromkeys(["<mask>", "a</s>b", "a" * 1001, "x\u2581y", "\u2585"], 50)
    assert usable_words(words + Counter(unusable)) == words
    model = load(fit(words, 5))
    assert not {0, 2, 3} & set(model.encode("<mask> </s> <pad> mask"))
    assert model.bos_id() == -1


def test_counted_words_give_the_pieces_that_lines_give() -> None:
    counted = pieces(fit(count_words(LINES), 150))
    by_lines = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=by_lines, model_type="bpe", vocab_size=len(counted),
        character_coverage=1.0, normalization_rule_name="identity", split_by_unicode_script=False,
        split_by_number=False, pad_id=0, unk_id=1, eos_id=2, bos_id=-1, control_symbols=["<mask>"], minloglevel=2,
    )  # fmt: skip
    assert set(counted) == set(pieces(by_lines.getvalue()))


def test_same_bytes_in_every_process(tmp_path: Path, call: Callable[..., Any]) -> None:
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
def test_languages_give_the_same_number_of_lines_or_words(
    tmp_path: Path, balance: str, max_lines: int, left: int, right: int
) -> None:
    texts = [["ab " * 20] * 1000, ["漢字 漢字 漢字"] * 500]
    paths = [write(tmp_path / f"{number}.txt", lines) for number, lines in enumerate(texts)]
    assert count_words(sample_texts(paths, max_lines, 1, balance)) == Counter({"ab": left, "漢字": right})


@settings(max_examples=100)
@given(total=st.integers(1, 60), data=st.data())
def test_sample_is_exact_ordered_and_repeatable(total: int, data: st.DataObject) -> None:
    keep = data.draw(st.integers(0, total))
    lines = [str(number) for number in range(total)]
    sample = list(sample_lines(lines, keep, total, (7, 0)))
    assert len(sample) == keep
    assert sample == sorted(sample, key=int)
    assert sample == list(sample_lines(lines, keep, total, (7, 0)))


def test_sample_is_uniform() -> None:
    counts: Counter[str] = Counter()
    for seed in range(4000):
        counts.update(sample_lines(list("abcdefgh"), 2, 8, (seed, 0)))
    chi_square = sum((count - 1000) ** 2 / 1000 for count in counts.values())
    assert len(counts) == 8
    assert chi_square < 24.3  # 7 degrees of freedom, p = 0.001


def test_counting_stays_within_its_limit() -> None:
    lines = ["common words here"] * 3 + [f"rare{number}" for number in range(100)] + ["common"] * 3
    counted = count_words(lines, limit=10)
    assert len(counted) == 10
    assert counted["common"] == 6
    assert set(count_words(["b a c c"], limit=2)) == {"c", "b"}  # of equally rare ones the first


def test_a_rare_character_of_a_large_text_is_kept() -> None:
    model = load(fit(Counter({"𒇸": 1, "é": 2, "abab": 50_000_000}), 1))  # sentencepiece alone forgets both
    assert count_merges(model) == 1
    assert not set("𒇸éab") - {model.id_to_piece(number) for number in range(len(model))}


def test_long_lines_and_long_words_train(tmp_path: Path) -> None:
    lines = [" ".join(WORDS * 30), "é" * 1000, "漢" * 5000]
    assert count_merges(load(train_bpe([write(tmp_path / "long.txt", lines)], 100, 10, 1))) == 100


def test_a_text_that_is_too_small_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "small.txt", ["ab ab", "abc"])
    with pytest.raises(XlingError, match=r"small.txt: 1000 merges asked for, (\d+) possible") as caught:
        train_bpe([path], 1000, 10, 1)
    possible = int(str(caught.value).split("asked for, ")[1].split()[0])
    assert count_merges(load(train_bpe([path], possible, 10, 1))) == possible
    for lines in ([], [" "], ["<mask>"]):
        with pytest.raises(InputError, match=r"small.txt: no words in it"):
            train_bpe([write(path, lines)], 10, 10, 1)
