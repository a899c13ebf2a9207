from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.data.fasttext import read_vectors
from xling.data.muse import WordPair, by_source, read_muse

WORD = st.text(st.characters(blacklist_characters=" \t\n\r", blacklist_categories=("Cs",)), min_size=1, max_size=6)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_muse_keeps_order_and_reads_both_separators(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "the le\nthe\tla\nb x\nthe le\na\u00a0b c\n")
    pairs = list(read_muse(path))
    assert pairs[0] == WordPair("the", "le")
    assert by_source(pairs) == {"the": ["le", "la"], "b": ["x"], "a\u00a0b": ["c"]}
    assert list(by_source(pairs)) == ["the", "b", "a\u00a0b"]


@pytest.mark.parametrize("line", ["one", "a b c", "a  b", " a", "a\tb\tc", ""])
def test_malformed_muse(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"bad.txt, line 2: .* is not two words"):
        list(read_muse(write(tmp_path / "bad.txt", f"a b\n{line}\nc d\n")))


def test_empty_muse(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bad.txt: empty"):
        list(read_muse(write(tmp_path / "bad.txt", "")))


@settings(max_examples=50)
@given(st.lists(st.tuples(WORD, WORD), min_size=1), st.sampled_from(" \t"))
def test_muse_round_trip(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], separator: str
) -> None:
    path = write(tmp_path_factory.mktemp("muse") / "a", "".join(f"{separator.join(pair)}\n" for pair in pairs))
    assert [(pair.source, pair.target) for pair in read_muse(path)] == pairs


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("pair", "full", "train", "test", "words"),
    [
        ("en-de", 101931, 14677, 3660, 74655),
        ("en-fr", 113286, 10872, 2943, 94681),
        ("en-ru", 53186, 10887, 2447, 42615),
        ("en-zh", 39334, 8728, 2230, 32495),
    ],
)
def test_real_muse(real_data: Path, pair: str, full: int, train: int, test: int, words: int) -> None:
    files = [read_muse(real_data / f"muse/{pair}{part}.txt") for part in ("", ".0-5000", ".5000-6500")]
    read = [list(pairs) for pairs in files]
    assert [len(pairs) for pairs in read] == [full, train, test]
    assert [len(by_source(pairs)) for pairs in read] == [words, 5000, 1500]


VECTORS = "5 2\na 1 2 \nb\u00a0c 0.5 -1e-3 \nd e  3 4 \na 9 9 \nf 5 6 \n"


def test_vectors_split_from_the_right(tmp_path: Path) -> None:
    vectors = read_vectors(write(tmp_path / "w.vec", VECTORS), 10)
    assert vectors.words == ("a", "b\u00a0c", "d e ", "f")
    expected = np.array([[1, 2], [0.5, -1e-3], [3, 4], [5, 6]], dtype=np.float32)
    np.testing.assert_array_equal(vectors.vectors, expected)
    assert vectors.vectors.dtype == np.float32
    assert vectors.duplicates == 1


def test_first_vectors_only_and_nothing_after_them(tmp_path: Path) -> None:
    path = write(tmp_path / "w.vec", VECTORS.replace("f 5 6", "f 5 broken"))
    assert read_vectors(path, 3).words == ("a", "b\u00a0c", "d e ")
    assert read_vectors(path, 0).vectors.shape == (0, 2)


def test_duplicates_do_not_use_up_the_limit(tmp_path: Path) -> None:
    assert read_vectors(write(tmp_path / "w.vec", VECTORS), 4).words[-1] == "f"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("2 2\na 1 2\nb 1 nan\n", 3, "vector of 'b' holds a number that is not finite"),
        ("2 2\na 1 inf\nb 1 2\n", 2, "not finite"),
        ("2 2\na 1 2\nb 1 x\n", 3, "could not convert string to float"),
        ("2 2\na 1\nb 1 2\n", 2, "not a word and 2 numbers"),
        ("3 2\na 1 2\nb 1 2\n", None, "ends after 2 of 3 vectors"),
        ("a 1 2\nb 1 2\n", 1, "not a header"),
        ("2 0\na\nb\n", 1, "not a header"),
        ("", 1, "not a header"),
    ],
)
def test_malformed_vectors(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = write(tmp_path / "w.vec", text)
    with pytest.raises(InputError) as caught:
        read_vectors(path, 10)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


@settings(max_examples=50)
@given(
    st.dictionaries(WORD, st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
)
def test_vectors_round_trip(tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[float]]) -> None:
    lines = "".join(f"{word} {' '.join(map(repr, row))} \n" for word, row in table.items())
    vectors = read_vectors(write(tmp_path_factory.mktemp("vec") / "w.vec", f"{len(table)} 3\n{lines}"), 100)
    assert list(vectors.words) == list(table)
    np.testing.assert_array_equal(vectors.vectors, np.array(list(table.values()), dtype=np.float32).reshape(-1, 3))
