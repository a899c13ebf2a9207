"""The switching of one block, against the numbers of section 4.2 and against second, slower implementations."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xling.codeswitch.switch_codes import Counts, build_dictionary, match_case, split_blocks, switch_block

WORDS = [f"w{i}" for i in range(200)]
ALL_KNOWN = build_dictionary((word, f"t{word}", 1.0) for word in WORDS)
LINE = st.text(alphabet=st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), max_size=30)


def changed_positions(before: list[str], after: list[str]) -> list[int]:
    return [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]


def test_translations_are_drawn_by_quality() -> None:
    weights = {"un": 1.0, "deux": 2.0, "trois": 7.0, "quatre": 0.5}
    dictionary = build_dictionary(("one", target, quality) for target, quality in weights.items())
    (line,), _ = switch_block(["one " * 19999 + "one"], dictionary, (1,), keep=0.0, cap=1.0)
    seen = Counter(line.split())
    found, expected = [seen[target] for target in weights], [20000 * weight / 10.5 for weight in weights.values()]
    assert stats.chisquare(found, expected).pvalue > 1e-3
    assert stats.chisquare(found[:2]).pvalue < 1e-6, "a wrong weighting would be noticed"


def test_draws_stay_within_the_entry_at_the_end_of_a_large_dictionary() -> None:
    pairs = [(f"s{i}", f"t{i}.{j}", 1e-9 if j else 1.0) for i in range(20_000) for j in range(2)]
    source = [f"s{i}" for i in range(19_000, 20_000)]
    (line,), _ = switch_block([" ".join(source)], build_dictionary(pairs), (3,), keep=0.0, cap=1.0)
    assert all(after.split(".")[0] == f"t{before[1:]}" for before, after in zip(source, line.split(" "), strict=True))


@pytest.mark.parametrize("keep", [0.0, 0.25, 0.7, 1.0])
def test_dictionary_words_are_left_alone_as_often_as_asked(keep: float) -> None:
    lines = [" ".join(WORDS)] * 100
    after, counts = switch_block(lines, ALL_KNOWN, (5,), keep=keep, cap=1.0)
    replaced = len(changed_positions(" ".join(lines).split(), " ".join(after).split()))
    assert replaced == counts.replaced
    assert stats.binomtest(replaced, 20000, 1 - keep).pvalue > 1e-3


def test_the_cap_holds_exactly_and_what_it_drops_is_uniform() -> None:
    kept = np.zeros(len(WORDS), dtype=int)
    for number in range(400):
        (after,), counts = switch_block([" ".join(WORDS)], ALL_KNOWN, (number,), keep=0.0)
        positions = changed_positions(WORDS, after.split())
        assert len(positions) == counts.replaced == 30
        assert (counts.dropped_by_cap, counts.capped_blocks) == (170, 1)
        kept[positions] += 1
    # drawn without replacement: a position's count has the variance 400 * .15 * .85, so the plain statistic shrinks
    statistic = ((kept - 60) ** 2 / (60 * 0.85)).sum() * (len(WORDS) - 1) / len(WORDS)
    assert 1e-3 < stats.chi2(len(WORDS) - 1).sf(statistic) < 1 - 1e-3


@pytest.mark.parametrize(("words", "limit"), [(20, 3), (40, 6), (60, 9), (6, 0), (7, 1), (140, 21)])
def test_the_cap_is_a_whole_number_of_words(words: int, limit: int) -> None:
    _, counts = switch_block([" ".join(WORDS[:words])], ALL_KNOWN, (1,), keep=0.0, cap=0.15)
    assert counts.replaced == limit


@pytest.mark.parametrize(
    ("backward", "before", "after"),
    [
        (False, "potato x x x x x x ice cream x", "pomme de terre x x x x x x ice cream x"),
        (True, "glace pomme de terre x x x x x", "ice cream pomme de terre x x x x x"),
    ],
)
def test_a_translation_of_several_words_counts_once_and_such_a_source_is_left_out(
    backward: bool, before: str, after: str
) -> None:
    pairs = [("potato", "pomme de terre", 1.0), ("ice cream", "glace", 1.0)]
    dictionary = build_dictionary(pairs, backward)
    lines, counts = switch_block([before], dictionary, (1,), keep=0.0)
    assert lines == [after]
    assert (counts.words, counts.dictionary_words, counts.replaced) == (len(before.split()), 1, 1)
    assert dictionary.multiword_pairs == 1


def test_repeated_pairs_add_up_and_quality_zero_is_never_drawn() -> None:
    dictionary = build_dictionary([("A", "x", 1.0), ("a", "X", 1.0), ("a", "y", 2.0), ("a", "z", 0.0), ("b", "c", 0.0)])
    assert (dictionary.targets, list(dictionary.entries), dictionary.zero_pairs) == (["x", "y"], ["a"], 2)
    assert dictionary.cumulative.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("dog", "chien"), ("Dog", "Chien"), ("DOG", "CHIEN"), ("dOG", "chien"), ("I", "Chien"), ("ДОМ", "CHIEN")],
)
def test_casing_is_taken_over(word: str, expected: str) -> None:
    assert match_case(word, "chien") == expected


def test_cased_text_uses_the_entry_as_written_before_the_lower_one() -> None:
    dictionary = build_dictionary(
        [("Turkey", "Türkei", 1.0), ("turkey", "Truthahn", 1.0), ("of", "von", 1.0)], lower=False
    )
    after, _ = switch_block(["Turkey turkey TURKEY Of OF"], dictionary, (1,), 0.0, 1.0)
    assert after == ["Türkei Truthahn TRUTHAHN Von VON"]


def test_a_translation_equal_to_the_word_is_told_apart() -> None:
    _, counts = switch_block(["taxi bus"], build_dictionary([("taxi", "taxi", 1.0)]), (1,), 0.0, 1.0)
    assert (counts.replaced, counts.identical) == (1, 1)


@given(st.lists(LINE, min_size=1, max_size=8))
def test_keeping_everything_changes_no_byte(lines: list[str]) -> None:
    words = [word for line in lines for word in line.split(" ") if word]
    dictionary = build_dictionary((word, "new", 1.0) for word in words)
    after, counts = switch_block(lines, dictionary, (1,), keep=1.0)
    assert after == lines
    assert counts.words == len(words)


@given(st.lists(LINE, min_size=1, max_size=8))
def test_every_dictionary_word_and_nothing_else_is_replaced(lines: list[str]) -> None:
    words = {word for line in lines for word in line.split(" ") if word}
    dictionary = build_dictionary([(word, "<new>", 1.0) for word in words], lower=False)
    after, _ = switch_block(lines, dictionary, (1,), keep=0.0, cap=1.0)
    assert after == [" ".join("<new>" if word else "" for word in line.split(" ")) for line in lines]


@given(st.lists(LINE, max_size=20), st.integers(1, 12))
def test_blocks_are_whole_lines_in_order_and_small_enough(lines: list[str], size: int) -> None:
    blocks = list(split_blocks(lines, size))
    assert [line for block in blocks for line in block] == lines
    assert all(len(block) == 1 or len(" ".join(block).split(" ")) <= size for block in blocks)


def test_counts_add_up_and_keep_the_largest_share() -> None:
    total = Counts(10, 5, 2, 1, 3, 1, 1, 0.2) + Counts(20, 6, 3, 0, 0, 1, 0, 0.15)
    assert total == Counts(30, 11, 5, 1, 3, 2, 1, 0.2)


def test_a_block_depends_on_its_number_and_not_on_those_before() -> None:
    forwards, backwards = (
        {number: switch_block([" ".join(WORDS)], ALL_KNOWN, (9, "forward", number))[0][0] for number in order}
        for order in (range(6), reversed(range(6)))
    )
    assert forwards == backwards
    assert len(set(forwards.values())) == 6


def test_an_empty_block_of_lines_is_left_as_it_is() -> None:
    assert switch_block(["", ""], ALL_KNOWN, (1,)) == (["", ""], Counts(blocks=1))
