"""Task data: records, windows, batches. Bad data is named by file and line."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_tasks import section

from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.finetune.data import (
    Example,
    Layout,
    Speller,
    epoch_order,
    evaluation_batches,
    read_examples,
    training_batches,
    window_starts,
)
from xling.finetune.settings import Point, grid_points, read_settings
from xling.finetune.tasks import make_task

TREE = '{"words": ["cat", "sees"], "heads": [2, 0], "deprels": ["nsubj", "root"], "upos": ["NOUN", "VERB"]}'
GOOD = {
    "ner": '{"words": ["the", "cat"], "tags": ["O", "B-LOC"]}',
    "xnli": '{"premise": ["the", "cat"], "hypothesis": ["cat"], "label": "neutral"}',
    "parsing": TREE,
    "pos": TREE,
}
BAD = [
    ("ner", GOOD["ner"].replace("B-LOC", "B-FOO"), "tags: 'B-FOO' is none of O, B-LOC"),
    ("ner", GOOD["ner"].replace('"O", ', ""), "tags: 1 values for 2 words"),
    ("ner", GOOD["ner"].replace('"the"', '" "'), "words: word 1 is ' '"),
    ("ner", '{"words": [], "tags": []}', "words: no words"),
    ("ner", GOOD["xnli"], "no list 'words' (has: premise, hypothesis, label)"),
    ("ner", "the\tO", "not JSON: Expecting value at character 1"),
    ("ner", "[1]", "expected a JSON object"),
    ("xnli", GOOD["xnli"].replace("neutral", "perhaps"), "label: 'perhaps' is none of entailment"),
    ("xnli", '{"premise": ["a"], "hypothesis": ["b"]}', "no label"),
    ("parsing", TREE.replace("[2, 0]", "[3, 0]"), "heads: 3 of word 1 is not in 0 to 2"),
    ("parsing", TREE.replace("[2, 0]", '["2", 0]'), "heads: '2' of word 1"),
    ("parsing", TREE.replace("[2, 0]", "[0, 0]"), "heads: not one tree with one root"),
    ("parsing", TREE.replace("nsubj", "nsubj:pass"), "deprels: 'nsubj:pass' is none of acl"),
]
WORDS = ["table", "cat", "horse", "river", "the", "paris", "zzzqqqxxxyyyvvvwww" * 3, "sees"]


@pytest.fixture(scope="module")
def vocabulary(toy_model):
    return Vocabulary.load(toy_model[0])


@given(st.lists(st.integers(0, 7), min_size=1, max_size=60), st.integers(5, 40))
@settings(max_examples=60)
def test_every_word_is_at_its_place_in_one_window(vocabulary, chosen, limit):
    words = [WORDS[i] for i in chosen]  # one of them is longer than any window here
    windows, rows, places = Speller(vocabulary, "en", limit).sentence(words)
    ids, firsts = vocabulary.word_pieces("en", words)
    assert len(rows) == len(places) == len(words)
    assert all(len(window) <= limit and window[0] == window[-1] == END for window in windows)
    assert [int(windows[row][place]) for row, place in zip(rows, places, strict=True)] == [ids[i] for i in firsts]
    starts, room = window_starts(len(ids), limit - 2), limit - 2
    margins = np.minimum(np.array(firsts) - starts[:, None], starts[:, None] + room - 1 - np.array(firsts))
    assert margins[rows, np.arange(len(words))].tolist() == margins.max(axis=0).tolist()  # where it has most context
    assert ((np.diff(starts) > 0) & (np.diff(starts) <= max(1, room // 2))).all()
    if len(ids) + 2 <= limit:
        assert [window.tolist() for window in windows] == [[END, *ids, END]]


def test_pairs_are_joined_and_long_ones_windowed_on_both_sides(vocabulary):
    first, second = ["the", "cat"], ["paris"]
    left, right = vocabulary.encode_words("en", first), vocabulary.encode_words("en", second)
    (window,) = Speller(vocabulary, "en", 30).pair(first, second)
    assert window.tolist() == [END, *left, END, *right, END]
    windows = Speller(vocabulary, "en", 20).pair(first * 20, second * 40)
    assert len(windows) > 2
    assert all(len(window) <= 20 and (window == END).sum() == 3 for window in windows)
    short = Speller(vocabulary, "en", 20).pair(first * 20, second)  # a short hypothesis stays whole in every window
    assert len(short) > 2
    assert all(window[-len(right) - 2 :].tolist() == [END, *right, END] for window in short)
    with pytest.raises(XlingError, match="at least 5"):
        Speller(vocabulary, "en", 4)


@given(st.integers(1, 50), st.integers(1, 120), st.integers(1, 6))
def test_epochs_pass_over_everything_again_and_again(count, per_epoch, epochs):
    seen = np.concatenate([epoch_order(count, per_epoch, 3, epoch) for epoch in range(epochs)])
    assert len(seen) == per_epoch * epochs
    assert np.ptp(np.bincount(seen, minlength=count)) <= 1


def test_training_batches_hold_each_example_once_with_little_padding():
    lengths = np.random.default_rng(0).integers(4, 25, size=5000)
    batches, again = (training_batches(lengths, epoch_order(5000, 0, 1, 0), 32, 1, epoch) for epoch in (0, 1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(5000))
    assert sorted({len(batch) for batch in batches}) == [5000 % 32, 32]
    longest = [int(lengths[batch].max()) for batch in batches]
    assert sum(length * len(batch) for length, batch in zip(longest, batches, strict=True)) / lengths.sum() < 1.05
    assert longest[:40] != sorted(longest[:40])  # short ones do not come first
    assert [batch.tolist() for batch in again] != [batch.tolist() for batch in batches]


def test_a_layout_puts_windows_in_rows_and_finds_words_again():
    windows = [np.array(ids, np.int32) for ids in ([7, 7], [2, 5, 6, 2], [2, 8, 2])]
    rows, places = np.array([0, 1], np.int32), np.array([2, 1], np.int32)
    one = Example((windows[0],), rows[:1], places[1:], np.zeros(1, np.int64))
    two = Example((windows[1], windows[2]), rows, places, np.zeros(2, np.int64))
    layout = Layout([one, two], 4, 30)
    assert layout.tokens.tolist() == [[7, 7, 0, 0], [2, 5, 6, 2], [2, 8, 2, 0]]
    assert layout.tokens.ravel()[layout.places].tolist() == [7, 6, 8]
    lengths = [Layout([two], *sizes).length for sizes in ((4, 30), (3, 30), (16, 30), (16, 10))]
    assert lengths == [4, 6, 16, 10]  # rounded up, never beyond what the encoder reads
    for budget, count in ((3, 3), (4, 2), (15, 2), (16, 1)):  # one has a row of two tokens, two has two rows of four
        batches = evaluation_batches([two, one, one], budget)
        assert (len(batches), sorted(i for batch in batches for i in batch)) == (count, [0, 1, 2])


@pytest.mark.parametrize(("task", "line", "problem"), BAD)
def test_a_bad_record_is_named_by_file_and_line(task, line, problem, vocabulary, tmp_path):
    path, made = tmp_path / "data.jsonl", make_task(task, read_settings(section(task)).biaffine)
    encode = partial(made.encode, speller=Speller(vocabulary, "en", 24))
    path.write_text(f"{GOOD[task]}\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_examples(path, encode)
    assert str(caught.value).startswith(f"{path}, line 2: {problem}")
    path.write_text("")
    with pytest.raises(InputError, match=r"data\.jsonl: empty where JSON lines were expected"):
        read_examples(path, encode)


def test_grid_points_follow_the_order_of_the_configuration():
    grid = {"batch": [4, 8], "encoder_lr": [1e-6, 2e-6], "head_lr": [1e-5, 2e-5]}
    found = grid_points(read_settings(section("xnli", grid=grid)))
    assert found == [Point(number, *values) for number, values in enumerate(product(*grid.values()))]
    plain = grid_points(read_settings(section("ner", grid=grid | {"head_lr": None})))
    assert [(p.encoder_lr, p.head_lr) for p in plain] == [(1e-6, 1e-6), (2e-6, 2e-6)] * 2
