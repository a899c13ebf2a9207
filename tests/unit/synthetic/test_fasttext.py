"""Word vectors: counts, PPMI and factors against their definitions, and the file in fastText's format."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from xling.core.errors import XlingError
from xling.synthetic.corpus import Document
from xling.synthetic.formats import fasttext

SENTENCES = [[0, 1, 2, 3], [3, 1], [4], [2, 2, 0, 1, 4, 3]]
IDS = np.array([word for sentence in SENTENCES for word in (*sentence, *[-1] * 5)], dtype=np.int32)


def naive_counts(window: int) -> np.ndarray:
    counts = np.zeros((5, 5))
    for sentence in SENTENCES:
        for i, one in enumerate(sentence):
            for j, two in enumerate(sentence):
                counts[one, two] += i != j and abs(i - j) <= window
    return counts


@pytest.mark.parametrize(("window", "at_once"), [(1, 1 << 20), (2, 1 << 20), (5, 1 << 20), (2, 3)])
def test_cooccurrence_counts_within_window_and_sentence_in_any_batches(
    window: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xling.synthetic.formats.fasttext.TOKENS_AT_ONCE", at_once)
    np.testing.assert_array_equal(fasttext.cooccurrence(IDS, 5, window).toarray(), naive_counts(window))


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_shifted_ppmi_from_its_definition(shift: float) -> None:
    counts = naive_counts(2)
    share = counts / counts.sum()
    with np.errstate(divide="ignore"):
        expected = np.log(share / np.outer(share.sum(1), share.sum(0))) - np.log(shift)
    found = fasttext.shifted_ppmi(fasttext.cooccurrence(IDS, 5, 2), shift).toarray()
    np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-12)


def test_factors_are_those_of_a_full_decomposition() -> None:
    base = np.abs(np.random.default_rng(3).normal(size=(30, 30)))
    matrix = base + base.T
    vectors = fasttext.factorise(csr_array(matrix), 4, seed=1)
    left, strengths, _ = np.linalg.svd(matrix)
    np.testing.assert_allclose(np.abs(vectors), np.abs(left[:, :4] * np.sqrt(strengths[:4])), atol=2e-5)
    assert all(column[np.abs(column).argmax()] > 0 for column in vectors.T)


def log_of(text: list[str]) -> fasttext.TokenLog:
    log = fasttext.TokenLog(fasttext.word_splitter([], spaces=True))
    page = Document("title", [tuple(text)])
    assert list(log.overhear([page])) == [page]
    return log


def test_ranks_follow_frequency_then_spelling() -> None:
    words, ids = log_of(["b b c", "a c b"]).ranked()
    assert words == ["b", "c", "a"]
    assert ids.tolist() == [0, 0, 1, *[-1] * 5, 2, 1, 0, *[-1] * 5]


def test_vectors_file_groups_words_by_their_contexts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = [["cat", "dog", "cow"], ["red", "blue", "green"]]
    frames = [["the", "runs", "home", "today"], ["a", "paint", "dries", "slowly"]]
    text = []
    for kind in rng.integers(2, size=600):
        words = [*rng.permutation(frames[kind])[:3], rng.choice(kinds[kind])]
        text.append(" ".join(rng.permutation(words)))
    fasttext.write_vectors(tmp_path / "wiki.xx.vec", log_of(text), 3, seed=1)
    header, *lines = (tmp_path / "wiki.xx.vec").read_text().splitlines()
    assert header == "14 3"
    vectors = {line.split(" ")[0]: np.array(line.split()[1:], dtype=float) for line in lines}
    counts = [sum(word in sentence.split() for sentence in text) for word in vectors]
    assert counts == sorted(counts, reverse=True)
    unit = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    assert min(unit["cat"] @ unit["dog"], unit["red"] @ unit["blue"]) > 0.9 > 0.5 > unit["cat"] @ unit["red"]


def test_too_little_text_for_the_size_is_reported(tmp_path: Path) -> None:
    with pytest.raises(XlingError, match=r"wiki.xx.vec: 2 words are too few for vectors of size 5"):
        fasttext.write_vectors(tmp_path / "wiki.xx.vec", log_of(["a b"]), 5, seed=1)
    assert list(tmp_path.iterdir()) == []


def test_splitters() -> None:
    latin = fasttext.word_splitter([], spaces=True)("The cat's 12 Häuser.")
    assert latin == ["the", "cat", "'", "s", "12", "häuser", "."]
    chinese = fasttext.word_splitter(["王", "王明", "北京"], spaces=False)("王明爱北京12。")
    assert chinese == ["王明", "爱", "北京", "12", "。"]
