"""Splitting and trimming a corpus: a partition, spread out, unbiased, the same on every run."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tiny_models import write

from xling.core.io import read_json, read_lines, write_json
from xling.core.seeds import python_rng
from xling.data.split_corpus import Plan, draw_held_out, main, shuffle, split_corpus, thin

LINE = st.text(alphabet=st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]), max_size=20)
LINES = [f"line {i} " + "x " * (i % 7) + "end" for i in range(1000)]
HELD = ["--valid-lines", 10, "--test-lines", 20, "--seed", 4]


def read(folder):
    return {name: list(read_lines(folder / f"{name}.txt.zst")) for name in ("train", "valid", "test")}


def words(lines):
    return sum(len(line.split()) for line in lines)


@settings(max_examples=25)  # each waits for the disk
@given(st.lists(LINE, min_size=6, max_size=40), st.integers(0, 2), st.integers(0, 3), st.sampled_from([None, 1]))
def test_the_splits_are_a_partition_of_the_lines(lines, valid, test, shuffled):
    lines = [*lines, *(["a word"] * 6)]  # so that words are left for training
    with tempfile.TemporaryDirectory() as folder:
        text = write(Path(folder) / "tok.txt.zst", lines)
        split_corpus([text], Path(folder), Plan(valid, test, seed=3, shuffle_seed=shuffled))
        parts = read(Path(folder))
    assert (len(parts["valid"]), len(parts["test"])) == (valid, test)
    assert Counter(line for part in parts.values() for line in part) == Counter(lines)


def test_one_line_of_each_stretch_is_held_out_and_every_line_alike():
    drawn = Counter[int]()
    for seed in range(2000):
        held = draw_held_out(50, 3, 2, seed)
        assert Counter(held.values()) == {"valid": 3, "test": 2}
        assert [line // 10 for line in sorted(held)] == [0, 1, 2, 3, 4]
        drawn.update(list(held))
    assert stats.chisquare([drawn[i] for i in range(50)]).pvalue > 1e-3
    assert draw_held_out(10, 0, 0, 1) == {}


@given(st.lists(LINE, max_size=60), st.integers(0, 80), st.integers(0, 5))
def test_trimming_comes_within_a_line_of_the_budget(lines, budget, seed):
    total, longest = words(lines), max((len(line.split()) for line in lines), default=0)
    kept = list(thin(lines, total, budget, python_rng(seed)))
    rest = iter(lines)
    assert all(line in rest for line in kept), "a subset in the old order"
    assert words(kept) <= budget
    assert budget >= total or budget - words(kept) < max(longest, 1)
    assert budget <= total or words(kept) == total


def test_every_line_is_kept_alike_wherever_it_stands():
    lines = [f"{i} " + "x " * (i % 5) for i in range(100)]
    kept = Counter(line for seed in range(1500) for line in thin(lines, words(lines), 100, python_rng(seed)))
    # the last lines are skipped where they no longer fit, so they are left out of the comparison
    early, late = sum(kept[line] for line in lines[:45]), sum(kept[line] for line in lines[45:90])
    assert early == pytest.approx(late, rel=0.02)
    by_length = [sum(kept[line] for line in lines[k:90:5]) / (18 * 1500) for k in range(5)]
    assert by_length == pytest.approx([100 / words(lines)] * 5, rel=0.06)


def test_an_external_shuffle_is_a_fair_permutation(tmp_path):
    lines = [str(i) for i in range(6)]
    places = np.zeros((6, 6), dtype=int)
    for seed in range(300):
        order = list(shuffle(lines, 3, seed, tmp_path))
        assert sorted(order) == lines
        places[[int(line) for line in order], range(6)] += 1
    assert stats.chisquare(places.ravel(), ddof=10).pvalue > 1e-3  # 25 degrees: rows and columns are fixed
    assert list(tmp_path.iterdir()) == []


def test_both_sides_end_up_the_same_size(tmp_path, call):
    texts = {"small": LINES[:600], "large": [f"{line} and more words" for line in LINES]}
    for name, count in (("small", words(texts["small"])), ("1", 9), ("2", 9999)):  # the large one in two shards
        write_json(tmp_path / f"{name}.json", {"words": count})
    limit = ["--max-words-of", tmp_path / "small.json", f"{tmp_path}/1.json:{tmp_path}/2.json"]
    sizes = []
    for name, lines in texts.items():
        text = write(tmp_path / f"{name}.txt.zst", lines)
        assert call(main, "--input", text, *HELD, *limit, "--out-dir", tmp_path / name).code == 0
        sizes.append(sum(map(words, read(tmp_path / name).values())))
    assert sizes[0] == words(texts["small"]), "the smaller one loses nothing"
    assert 0 <= sizes[0] - sizes[1] < 14


def test_the_command_gives_en_prime_an_order_of_its_own_and_takes_a_text_in_shards(tmp_path, call):
    shards = [write(tmp_path / "1.txt.zst", LINES[:300]), write(tmp_path / "2.txt.zst", LINES[300:])]
    whole = [write(tmp_path / "tok.txt.zst", LINES)]
    for out, inputs, seed in (("plain", whole, []), ("a", whole, [9]), ("b", shards, [9]), ("c", whole, [8])):
        more = ["--max-words", 3000, *(["--shuffle-seed", *seed] if seed else [])]
        assert call(main, "--input", *inputs, *HELD, *more, "--out-dir", tmp_path / out).code == 0
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / out).iterdir()} for out in "ab")
    assert one == two
    assert sorted(one) == [".stats.json.sha256", "stats.json", "test.txt.zst", "train.txt.zst", "valid.txt.zst"]
    plain, a, c = (read(tmp_path / out) for out in ("plain", "a", "c"))
    assert sorted(plain["train"]) == sorted(a["train"]) == sorted(c["train"])
    assert len({tuple(parts["train"]) for parts in (plain, a, c)}) == 3
    assert plain["valid"] == a["valid"] == c["valid"]
    found = read_json(tmp_path / "a/stats.json")
    assert (found["lines"], found["words"]) == (1000, words(LINES))
    assert found["splits"] == {name: {"lines": len(part), "words": words(part)} for name, part in a.items()}


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        (LINES[:30], [], "tok.txt.zst: 30 lines with 175 words, too few to hold out 10 valid and 20 test lines"),
        ([], [], "tok.txt.zst: 0 lines with 0 words, too few to hold out 10 valid"),
        ([""] * 50, [], "tok.txt.zst: 50 lines with 0 words, too few"),
        (
            LINES,
            ["--max-words", "2"],
            "tok.txt.zst: the train split would be empty: 165 of 5997 words are in held-out lines, and the limit leaves room for 2",
        ),
    ],
)
def test_too_little_text_is_one_clear_line(tmp_path, refused, lines, more, message):
    text, out = write(tmp_path / "tok.txt.zst", lines), tmp_path / "out"
    assert message in refused(main, "--input", text, *HELD, "--out-dir", out, *more, out=out / "stats.json")
    assert list(out.glob("*")) == []
