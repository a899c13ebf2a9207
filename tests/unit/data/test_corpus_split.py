"""Splitting and trimming a corpus: a partition, spread out, unbiased, the same on every run."""

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from xling.core.io import read_json, read_lines, write_json, write_text
from xling.core.seeds import python_rng
from xling.data.split_corpus import (
    Plan,
    draw_held_out,
    main,
    shuffle,
    smallest_words,
    split_corpus,
    thin,
)

SPLITS = ("train", "valid", "test")
LINE = st.text(alphabet=st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]), max_size=20)
LINES = [f"line {i} " + "x " * (i % 7) + "end" for i in range(1000)]


def write(path: Path, lines: list[str]) -> Path:
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)
    return path


def split(folder: Path, lines: list[str], plan: Plan) -> dict[str, list[str]]:
    split_corpus([write(folder / "tok.txt.zst", lines)], folder / "out", plan)
    return {name: list(read_lines(folder / "out" / f"{name}.txt.zst")) for name in SPLITS}


def words(lines: list[str]) -> int:
    return sum(len(line.split()) for line in lines)


@settings(max_examples=25)  # each waits for the disk
@given(st.lists(LINE, min_size=6, max_size=40).filter(words), st.data())
def test_the_splits_are_a_partition_of_the_lines(lines: list[str], data: st.DataObject) -> None:
    valid, test = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3))
    shuffle_seed = data.draw(st.sampled_from([None, 1]))
    lines = [*lines, *(["a word"] * 6)]  # so that words are left for training
    with tempfile.TemporaryDirectory() as folder:
        parts = split(Path(folder), lines, Plan(valid, test, seed=3, shuffle_seed=shuffle_seed))
    assert (len(parts["valid"]), len(parts["test"])) == (valid, test)
    assert Counter(line for part in parts.values() for line in part) == Counter(lines)


@given(st.integers(1, 10_000), st.integers(0, 40), st.integers(0, 40), st.integers(0, 9))
def test_one_line_of_each_stretch_is_held_out(lines: int, valid: int, test: int, seed: int) -> None:
    lines += valid + test
    held = draw_held_out(lines, valid, test, seed)
    assert Counter(held.values()) == Counter({"valid": valid, "test": test})
    stretches = valid + test
    for stretch, line in enumerate(sorted(held)):
        assert stretch * lines // stretches <= line < (stretch + 1) * lines // stretches


def test_every_line_can_be_held_out_alike() -> None:
    drawn = Counter(line for seed in range(2000) for line in draw_held_out(50, 3, 2, seed))
    assert stats.chisquare([drawn[i] for i in range(50)]).pvalue > 1e-3


@given(st.lists(LINE, max_size=60), st.integers(0, 80), st.integers(0, 5))
def test_trimming_comes_within_a_line_of_the_budget(lines: list[str], budget: int, seed: int) -> None:
    total, longest = words(lines), max((len(line.split()) for line in lines), default=0)
    kept = list(thin(lines, total, budget, python_rng(seed)))
    rest = iter(lines)
    assert all(line in rest for line in kept), "a subset in the old order"
    assert words(kept) <= budget
    assert budget >= total or budget - words(kept) < max(longest, 1)
    assert budget <= total or words(kept) == total


def test_every_line_is_kept_alike_wherever_it_stands() -> None:
    lines = [f"{i} " + "x " * (i % 5) for i in range(100)]
    kept = Counter(line for seed in range(1500) for line in thin(lines, words(lines), 100, python_rng(seed)))
    # the last lines are skipped where they no longer fit, so they are left out of the comparison
    early, late = sum(kept[line] for line in lines[:45]), sum(kept[line] for line in lines[45:90])
    assert early == pytest.approx(late, rel=0.02)
    share = 100 / words(lines)
    by_length = [sum(kept[line] for line in lines[k:90:5]) / (18 * 1500) for k in range(5)]
    assert by_length == pytest.approx([share] * 5, rel=0.06)


def test_an_external_shuffle_is_a_fair_permutation(tmp_path: Path) -> None:
    lines = [str(i) for i in range(6)]
    places = np.zeros((6, 6), dtype=int)
    for seed in range(300):
        order = list(shuffle(lines, 3, seed, tmp_path))
        assert sorted(order) == lines
        for place, line in enumerate(order):
            places[int(line), place] += 1
    assert stats.chisquare(places.ravel(), ddof=10).pvalue > 1e-3  # 25 degrees: rows and columns are fixed
    assert list(tmp_path.iterdir()) == []


def test_both_sides_end_up_the_same_size(tmp_path: Path) -> None:
    small, large = LINES[:600], [f"{line} and more words" for line in LINES]
    stats_files = [[tmp_path / "small.json"], [tmp_path / "1.json", tmp_path / "2.json"]]  # the large one in two shards
    for path, count in zip([path for paths in stats_files for path in paths], (words(small), 9, 9999), strict=True):
        write_json(path, {"words": count})
    target = smallest_words(stats_files)
    assert target == words(small)
    sizes = []
    for name, lines in (("a", small), ("b", large)):
        (tmp_path / name).mkdir()
        parts = split(tmp_path / name, lines, Plan(20, 30, seed=5, corpus_words=target))
        sizes.append(sum(map(words, parts.values())))
    assert sizes[0] == target, "the smaller one loses nothing"
    assert 0 <= target - sizes[1] < 14


def test_the_command_gives_en_prime_an_order_of_its_own_and_takes_a_text_in_shards(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    shards = [write(tmp_path / "1.txt.zst", LINES[:300]), write(tmp_path / "2.txt.zst", LINES[300:])]
    whole = write(tmp_path / "tok.txt.zst", LINES)
    common = ["--valid-lines", 10, "--test-lines", 20, "--seed", 4, "--max-words", 3000]
    for out, inputs, more in (("plain", [whole], []), ("a", [whole], [9]), ("b", shards, [9]), ("c", [whole], [8])):
        order = ["--shuffle-seed", *more] if more else []
        assert call(main, "--input", *inputs, *common, *order, "--out-dir", tmp_path / out).code == 0
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == [".stats.json.sha256", "stats.json", "test.txt.zst", "train.txt.zst", "valid.txt.zst"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)
    trains = [list(read_lines(tmp_path / out / "train.txt.zst")) for out in ("plain", "a", "c")]
    assert sorted(trains[0]) == sorted(trains[1]) == sorted(trains[2])
    assert len(set(map(tuple, trains))) == 3
    assert len({(tmp_path / out / "valid.txt.zst").read_bytes() for out in ("plain", "a", "c")}) == 1
    found = read_json(tmp_path / "a/stats.json")
    assert (found["lines"], found["words"]) == (1000, words(LINES))
    assert found["splits"]["test"]["lines"] == 20
    assert found["splits"]["train"] == {"lines": len(trains[1]), "words": words(trains[1])}


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        (LINES[:30], [], "30 lines with 175 words, but 10 valid and 20 test lines are held out"),
        ([], [], "0 lines with 0 words, but 10 valid"),
        ([""] * 50, [], "50 lines with 0 words, but"),
        (LINES, ["--max-words", "2"], "no train line fits into 2 words"),
    ],
)
def test_too_little_text_is_one_clear_line(
    tmp_path: Path, call: Callable[..., Any], lines: list[str], more: list[str], message: str
) -> None:
    text = write(tmp_path / "tok.txt.zst", lines)
    held = ["--valid-lines", 10, "--test-lines", 20, "--seed", 4, "--out-dir", tmp_path / "out"]
    code, error, _ = call(main, "--input", text, *held, *more)
    assert (code, error.count("\n")) == (2, 1)
    assert f"tok.txt.zst: {message}" in error
    assert list((tmp_path / "out").glob("*")) == []
