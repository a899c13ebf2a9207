"""Switching against the numbers of section 4.2 and against second, slower implementations; the command's files and errors."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xling.codeswitch.switch_codes import build_dictionary, load_dictionary, main, split_blocks, switch_block
from xling.core.io import open_binary, read_json, write_text

WORDS = [f"w{i}" for i in range(200)]
ALL_KNOWN = build_dictionary((word, f"t{word}", 1.0) for word in WORDS)
LINE = st.text(alphabet=st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), max_size=30)
PAIRS = "cat\tchat\t3\ncat\tmatou\t1\nice cream\tglace\t2\nhouse\tmaison\n"
TEXT = ["the cat sat in the  house", "", "cat house cat", "Cat CAT ☃ house"] * 50
FLAGS = ["--input", "train.txt.zst", "--dictionary", "dict.tsv", "--direction", "forward", "--seed", "7"]
FLAGS += ["--out", "out.txt.zst", "--stats", "stats.json"]


def switched(text, pairs, **options):
    """Return one line in which every word of a dictionary is replaced."""
    (line,), _ = switch_block([text], build_dictionary(pairs, **options), (1,), keep=0.0, cap=1.0)
    return line


def test_translations_are_drawn_by_quality():
    weights = {"un": 1.0, "deux": 2.0, "trois": 7.0, "quatre": 0.5, "zéro": 0.0}
    pairs = [("One", *pair) for pair in weights.items()] + [("one", "Trois", 3.0), ("two", "deux", 0.0)]  # adds up
    seen = Counter(switched("one " * 20000 + "two", pairs).split())
    found, expected = [seen[target] for target in weights], [20000 * weight / 13.5 for weight in (1, 2, 10, 0.5)]
    assert stats.chisquare(found[:4], expected).pvalue > 1e-3
    assert stats.chisquare(found[:2]).pvalue < 1e-6, "a wrong weighting would be noticed"
    assert (seen["two"], found[4]) == (1, 0), "quality 0 is never drawn"


def test_the_largest_draw_stays_within_the_entry_at_the_end_of_a_large_dictionary(monkeypatch):
    largest = SimpleNamespace(random=lambda size: np.full(size, np.nextafter(1, 0)))  # rounds up to the next entry
    monkeypatch.setattr("xling.codeswitch.switch_codes.numpy_rng", lambda *_: largest)
    pairs = [(f"s{i}", f"t{i}.{j}", 1e-9 if j else 1.0) for i in range(20_000) for j in range(2)]
    source = [f"s{i}" for i in range(19_000, 20_000)]
    assert switched(" ".join(source), pairs).split(" ") == [f"t{i}.1" for i in range(19_000, 20_000)]


@pytest.mark.parametrize("keep", [0.0, 0.25, 0.7, 1.0])
def test_dictionary_words_are_left_alone_as_often_as_asked(keep):
    lines = [" ".join(WORDS)] * 100
    after, counts = switch_block(lines, ALL_KNOWN, (5,), keep=keep, cap=1.0)
    replaced = sum(a != b for a, b in zip(" ".join(lines).split(), " ".join(after).split(), strict=True))
    assert replaced == counts["replaced"]
    assert stats.binomtest(replaced, 20000, 1 - keep).pvalue > 1e-3


def test_the_cap_holds_exactly_and_what_it_drops_is_uniform():
    kept = np.zeros(len(WORDS), dtype=int)
    for number in range(400):
        (after,), counts = switch_block([" ".join(WORDS)], ALL_KNOWN, (number,), keep=0.0)
        changed = np.array(WORDS) != np.array(after.split())
        assert changed.sum() == counts["replaced"] == 30
        assert (counts["dropped_by_cap"], counts["capped_blocks"]) == (170, 1)
        kept += changed
    # drawn without replacement: a position's count has the variance 400 * .15 * .85, so the plain statistic shrinks
    statistic = ((kept - 60) ** 2 / (60 * 0.85)).sum() * (len(WORDS) - 1) / len(WORDS)
    assert 1e-3 < stats.chi2(len(WORDS) - 1).sf(statistic) < 1 - 1e-3
    for words, limit in ((20, 3), (60, 9), (6, 0), (7, 1), (140, 21)):  # a whole number of words
        _, counts = switch_block([" ".join(WORDS[:words])], ALL_KNOWN, (1,), keep=0.0, cap=0.15)
        assert counts["replaced"] == limit


@pytest.mark.parametrize(
    ("backward", "before", "after"),
    [
        (False, "potato x x x x x x ice cream x", "pomme de terre x x x x x x ice cream x"),
        (True, "glace pomme de terre x x x x x", "ice cream pomme de terre x x x x x"),
    ],
)
def test_a_translation_of_several_words_counts_once_and_such_a_source_is_left_out(backward, before, after):
    dictionary = build_dictionary([("potato", "pomme de terre", 1.0), ("ice cream", "glace", 1.0)], backward)
    lines, counts = switch_block([before], dictionary, (1,), keep=0.0)
    assert lines == [after]
    assert (counts["words"], counts["dictionary_words"], counts["replaced"]) == (len(before.split()), 1, 1)
    assert dictionary.left_out == {"multiword_pairs": 1, "zero_quality_pairs": 0}


def test_casing_is_taken_over_unless_the_entry_is_written_so():
    pairs = [("dog", "chien", 1.0), ("i", "je", 1.0), ("дом", "maison", 1.0)]
    assert switched("dog Dog DOG dOG I ДОМ", pairs) == "chien Chien CHIEN chien Je MAISON"
    pairs = [("Turkey", "Türkei", 1.0), ("turkey", "Truthahn", 1.0), ("of", "von", 1.0)]
    assert switched("Turkey turkey TURKEY Of OF", pairs, lower=False) == "Türkei Truthahn TRUTHAHN Von VON"


@given(st.lists(LINE, min_size=1, max_size=8), st.integers(1, 12))
def test_all_dictionary_words_are_replaced_or_none_and_blocks_are_whole_lines(lines, size):
    words = [word for line in lines for word in line.split(" ") if word]
    dictionary = build_dictionary([(word, "<new>", 1.0) for word in words], lower=False)
    after, counts = switch_block(lines, dictionary, (1,), keep=0.0, cap=1.0)
    assert after == [" ".join("<new>" if word else "" for word in line.split(" ")) for line in lines]
    assert (counts["words"], counts["replaced"]) == (len(words), len(words))
    assert switch_block(lines, dictionary, (1,), keep=1.0)[0] == lines
    same = build_dictionary([(word, word, 1.0) for word in words], lower=False)
    assert switch_block(lines, same, (1,), keep=0.0, cap=1.0)[1]["identical"] == len(words)
    blocks = list(split_blocks(lines, size))
    assert [line for block in blocks for line in block] == lines
    assert all(len(block) == 1 or len(" ".join(block).split(" ")) <= size for block in blocks)


def write(name, text):
    with write_text(Path(name)) as handle:
        handle.write(text)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the folder of a text and a dictionary; commands run in it."""
    monkeypatch.chdir(tmp_path)
    load_dictionary.cache_clear()  # of a file with the same name in another test's folder
    write("dict.tsv", PAIRS)
    write("train.txt.zst", "".join(f"{line}\n" for line in TEXT))
    return tmp_path


def content(path):
    with open_binary(Path(path)) as handle:
        return handle.read()


def test_same_bytes_in_any_process_and_honest_stats(files, call, repository):
    more = ["--cap", "1", "--block-words", "40"]
    assert call(main, *FLAGS, *more).code == 0
    first, told = content("out.txt.zst"), read_json(files / "stats.json")
    environment = os.environ | {"PYTHONPATH": str(repository), "PYTHONHASHSEED": "2"}
    command = [sys.executable, "-m", "xling.codeswitch.switch_codes", *FLAGS, *more, "--processes", "2"]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    assert content("out.txt.zst") == first != content("train.txt.zst")
    lines = first.decode().splitlines()
    assert len({tuple(lines[at : at + 12]) for at in range(0, 192, 12)}) > 12, "a block has a draw of its own"
    before, after = " ".join(TEXT).split(" "), first.decode().replace("\n", " ").removesuffix(" ").split(" ")
    words, replaced = sum(word != "" for word in before), sum(a != b for a, b in zip(before, after, strict=True))
    known = sum(word.lower() in ("cat", "house") for word in before)
    assert told == {
        "words": words, "replaced": replaced, "dictionary_words": known, "identical": 0, "dropped_by_cap": 0,
        "blocks": told["blocks"], "capped_blocks": 0, "largest_block_share": told["largest_block_share"],
        "share": replaced / words, "dictionary_share": known / words, "drawn_share_of_dictionary_words": replaced / known,
        "dictionary": {"words": 2, "pairs": 3, "multiword_pairs_left_out": 1, "zero_quality_pairs_left_out": 0},
    }  # fmt: skip
    assert told["blocks"] > 10
    assert told["share"] < told["largest_block_share"] <= 1
    assert call(main, *FLAGS).code == 0
    told = read_json(files / "stats.json")
    assert told["capped_blocks"] == told["blocks"] == 1
    assert told["replaced"] == int(0.15 * told["words"]), "the default cap binds"


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("dict.tsv", b"cat\tchat\t1\n\xff\tx\t1\n", "dict.tsv, line 2: not UTF-8 (byte 0xff at column 1)"),
        ("dict.tsv", "chien\tHund\n", "dict.tsv: contains none of the 650 words of train.txt.zst (is it for"),
        ("dict.tsv", "ice cream\tglace\t1\ncat\tchat\t0\n",
         "dict.tsv: no usable entry for --direction forward (left out: 1 entries that translate several words, 1 entries with"),
        ("train.txt.zst", b"not zstd", "train.txt.zst: truncated or damaged after line 0"),
        ("train.txt.zst", "", "train.txt.zst: no words to switch"),
    ],
)  # fmt: skip
def test_one_clear_line_and_nothing_left_behind(files, call, name, damage, message):
    (files / name).write_bytes(damage) if isinstance(damage, bytes) else write(name, damage)
    code, error, _ = call(main, *FLAGS)
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"error: {message}")
    assert sorted(path.name for path in files.iterdir()) == ["dict.tsv", "train.txt.zst"]


@pytest.mark.usefixtures("files")
def test_a_dictionary_that_hardly_fits_and_shares_above_one_are_told(call):
    for others in (98, 100):
        write("train.txt.zst", "dog " * others + "cat\n")
        said = call(main, *FLAGS).said
        assert ("only 0.99% of the words of train.txt.zst are in dict.tsv" in said) == (others == 100)
    assert "--keep 1.5, --cap 0.15: expected numbers from 0 to 1" in call(main, *FLAGS, "--keep", "1.5").error
