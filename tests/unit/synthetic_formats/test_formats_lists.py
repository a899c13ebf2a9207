import csv
import sqlite3
from pathlib import Path

import jieba
import numpy as np
import pytest
from scipy.sparse import csr_array

from xling.core.errors import XlingError
from xling.synthetic.formats.fasttext import (
    TokenLog,
    cooccurrence,
    factorise,
    shifted_ppmi,
    word_splitter,
    write_vectors,
)
from xling.synthetic.formats.jieba_dictionary import write_jieba
from xling.synthetic.formats.muse import TRAINING_SHARE, write_muse
from xling.synthetic.formats.panlex import ATTESTED_BY, HEADERS, SOURCES, degraded, write_panlex
from xling.synthetic.formats.tatoeba import write_tatoeba
from xling.synthetic.types import Translation

ENTRIES = [
    Translation(f"Word{number}", f"mot{number}{suffix}", 4 + (number + extra) % 6)
    for number in range(40)
    for extra, suffix in enumerate(("", "b")[: 1 + number % 2])
]
RATED = [Translation(entry.source, entry.target, 1 + place % 9) for place, entry in enumerate(ENTRIES)]
FREQUENCY = {f"Word{number}": 1 / (1 + number) for number in range(40)}


def pairs(path: Path) -> list[list[str]]:
    return [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]


def test_muse_splits_by_source_word_frequent_ones_first(tmp_path: Path) -> None:
    write_muse(tmp_path, "en", "fr", [*ENTRIES, Translation("two words", "x", 9)], FREQUENCY)
    full, train, test = (pairs(tmp_path / f"en-fr.{part}txt") for part in ("", "0-5000.", "5000-6500."))
    assert full == train + test
    assert all(len(pair) == 2 for pair in full)
    assert not {one for one, _ in train} & {one for one, _ in test}
    assert list(dict.fromkeys(one for one, _ in full)) == [f"word{number}" for number in range(40)]
    assert len({one for one, _ in train}) == round(40 * TRAINING_SHARE)
    assert len(full) == len(ENTRIES)


def test_muse_puts_the_better_translation_first(tmp_path: Path) -> None:
    write_muse(
        tmp_path,
        "en",
        "fr",
        [Translation("a", "fair", 5), Translation("a", "good", 8), Translation("a", "miss", 2)],
        {},
    )
    assert pairs(tmp_path / "en-fr.txt") == [["a", "good"], ["a", "fair"]]


def test_tatoeba_files_are_parallel(tmp_path: Path) -> None:
    write_tatoeba(tmp_path, "eng", "fra", [("One.", "Un."), ("Two.", "Deux.")])
    assert (tmp_path / "tatoeba.fra-eng.fra").read_text() == "Un.\nDeux.\n"
    assert (tmp_path / "tatoeba.fra-eng.eng").read_text() == "One.\nTwo.\n"


def test_jieba_loads_its_dictionary_and_cuts_with_it(tmp_path: Path) -> None:
    write_jieba(tmp_path / "zh.dict.txt", [("王明", 500.0), ("爱", 0.2), ("北京", 800.0), ("a b", 3.0)])
    assert (tmp_path / "zh.dict.txt").read_text() == "北京 800\n王明 500\n爱 1\n"
    tokeniser = jieba.Tokenizer(dictionary=str(tmp_path / "zh.dict.txt"))
    tokeniser.tmp_dir = str(tmp_path)
    assert tokeniser.lcut("王明爱北京", HMM=False) == ["王明", "爱", "北京"]


@pytest.fixture
def database(tmp_path: Path) -> sqlite3.Connection:
    """Load the five tables by their headers into a database that knows nothing of our code."""
    write_panlex(tmp_path, "eng", {"fra": RATED, "rus": ENTRIES[:5]})
    connection = sqlite3.connect(":memory:")
    for table in HEADERS:
        with (tmp_path / f"{table}.csv").open(encoding="utf-8", newline="") as handle:
            names, *rows = csv.reader(handle)
        assert {len(row) for row in rows} == {len(names)}
        connection.execute(f"CREATE TABLE {table} ({', '.join(names)})")
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)  # noqa: S608
    return connection


QUALITY = """
    SELECT one, two, SUM(best) FROM (
        SELECT e1.txt AS one, e2.txt AS two, MAX(CAST(s.quality AS INTEGER)) AS best
        FROM denotation d1 JOIN denotation d2 ON d1.meaning = d2.meaning
        JOIN expr e1 ON e1.id = d1.expr JOIN expr e2 ON e2.id = d2.expr
        JOIN langvar l1 ON l1.id = e1.langvar JOIN langvar l2 ON l2.id = e2.langvar
        JOIN meaning m ON m.id = d1.meaning JOIN source s ON s.id = m.source
        WHERE l1.lang_code = 'eng' AND l1.var_code = '0' AND l2.lang_code = 'fra' AND l2.var_code = '0'
        GROUP BY e1.txt, e2.txt, s.grp)
    GROUP BY one, two"""


def test_panlex_quality_summed_over_source_groups_is_the_quality_of_the_entry(database: sqlite3.Connection) -> None:
    found = {(one, two): quality for one, two, quality in database.execute(QUALITY)}
    assert found == {(entry.source, entry.target): entry.quality for entry in RATED}


def test_panlex_keys_are_whole(database: sqlite3.Connection) -> None:
    for table in HEADERS:
        count, distinct = database.execute(f"SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}").fetchone()  # noqa: S608
        assert count == distinct > 0
    for table in ("expr", "meaning"):
        dangling = f"SELECT COUNT(*) FROM denotation WHERE {table} NOT IN (SELECT id FROM {table})"  # noqa: S608
        assert database.execute(dangling).fetchone() == (0,)
    uids = "SELECT lang_code || '-' || printf('%03d', var_code), txt FROM langvar JOIN expr ON expr.id = uid_expr"
    assert all(uid == text for uid, text in database.execute(uids))
    assert database.execute("SELECT COUNT(*) FROM langvar WHERE lang_code = 'eng'").fetchone() == (2,)


def test_sources_of_one_group_are_not_counted_twice() -> None:
    quality = {source.id: (source.group, source.quality) for source in SOURCES}
    for wanted, sources in ATTESTED_BY.items():
        groups: dict[int, int] = {}
        for group, best in (quality[source] for source in sources):
            groups[group] = max(best, groups.get(group, 0))
        assert sum(groups.values()) == wanted
    assert any(len(sources) > len({quality[source][0] for source in sources}) for sources in ATTESTED_BY.values())


def test_degraded_text() -> None:
    assert [degraded(text) for text in ("L'École", "ÄB c", "猫")] == ["lecole", "abc", "猫"]


SENTENCES = [[0, 1, 2, 3], [3, 1], [4], [2, 2, 0, 1, 4, 3]]
IDS = np.array([word for sentence in SENTENCES for word in (*sentence, *[-1] * 5)], dtype=np.int32)


def naive_counts(window: int) -> np.ndarray:
    counts = np.zeros((5, 5))
    for sentence in SENTENCES:
        for i, one in enumerate(sentence):
            for j, two in enumerate(sentence):
                counts[one, two] += i != j and abs(i - j) <= window
    return counts


@pytest.mark.parametrize("window", [1, 2, 5])
def test_cooccurrence_counts_within_the_window_and_the_sentence(window: int) -> None:
    np.testing.assert_array_equal(cooccurrence(IDS, 5, window).toarray(), naive_counts(window))


def test_cooccurrence_does_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xling.synthetic.formats.fasttext.TOKENS_AT_ONCE", 3)
    np.testing.assert_array_equal(cooccurrence(IDS, 5, 2).toarray(), naive_counts(2))


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_shifted_ppmi_from_its_definition(shift: float) -> None:
    counts = naive_counts(2)
    share = counts / counts.sum()
    with np.errstate(divide="ignore"):
        expected = np.log(share / np.outer(share.sum(1), share.sum(0))) - np.log(shift)
    found = shifted_ppmi(cooccurrence(IDS, 5, 2), shift).toarray()
    np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-12)


def test_factors_are_those_of_a_full_decomposition() -> None:
    rng = np.random.default_rng(3)
    base = np.abs(rng.normal(size=(30, 30)))
    matrix = base + base.T
    vectors = factorise(csr_array(matrix), 4, seed=1)
    left, strengths, _ = np.linalg.svd(matrix)
    expected = left[:, :4] * np.sqrt(strengths[:4])
    np.testing.assert_allclose(np.abs(vectors), np.abs(expected), atol=2e-5)
    assert all(column[np.abs(column).argmax()] > 0 for column in vectors.T)


def log_of(text: list[str]) -> TokenLog:
    log = TokenLog(word_splitter([], spaces=True))
    log.listen(text)
    return log


def test_ranks_follow_frequency_then_spelling() -> None:
    words, ids = log_of(["b b c", "a c b"]).ranked()
    assert words == ["b", "c", "a"]
    assert ids[ids >= 0].tolist() == [0, 0, 1, 2, 1, 0]
    assert ids[3:8].tolist() == [-1] * 5


def test_vectors_file_groups_words_by_their_contexts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = [["cat", "dog", "cow"], ["red", "blue", "green"]]
    frames = [["the", "runs", "home", "today"], ["a", "paint", "dries", "slowly"]]
    text = []
    for _ in range(600):
        kind = rng.integers(2)
        words = [*rng.permutation(frames[kind])[:3], rng.choice(kinds[kind])]
        text.append(" ".join(rng.permutation(words)))
    write_vectors(tmp_path / "wiki.xx.vec", log_of(text), 3, seed=1)
    header, *lines = (tmp_path / "wiki.xx.vec").read_text().splitlines()
    assert header == "14 3"
    vectors = {line.split(" ")[0]: np.array(line.split()[1:], dtype=float) for line in lines}
    counts = [sum(word in sentence.split() for sentence in text) for word in vectors]
    assert counts == sorted(counts, reverse=True)

    def cosine(one: str, two: str) -> float:
        a, b = vectors[one], vectors[two]
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert min(cosine("cat", "dog"), cosine("red", "blue")) > 0.9 > 0.5 > cosine("cat", "red")


def test_too_little_text_for_the_size_is_said(tmp_path: Path) -> None:
    with pytest.raises(XlingError, match="2 words are too few for vectors of size 5"):
        write_vectors(tmp_path / "wiki.xx.vec", log_of(["a b"]), 5, seed=1)
    assert list(tmp_path.iterdir()) == []


def test_splitters() -> None:
    assert word_splitter([], spaces=True)("The cat's 12 Häuser.") == ["the", "cat", "'", "s", "12", "häuser", "."]
    assert word_splitter(["王", "王明", "北京"], spaces=False)("王明爱北京12。") == ["王明", "爱", "北京", "12", "。"]
