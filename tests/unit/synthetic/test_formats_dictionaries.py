"""MUSE's lists, and PanLex's tables in a database that knows nothing of our code."""

import csv
import sqlite3
from pathlib import Path

import pytest

from xling.synthetic.formats import dictionaries
from xling.synthetic.types import Translation

ENTRIES = [
    Translation(f"Word{number}", f"mot{number}{suffix}", 4 + (number + extra) % 6)
    for number in range(40)
    for extra, suffix in enumerate(("", "b")[: 1 + number % 2])
]
RATED = [Translation(entry.source, entry.target, 1 + place % 9) for place, entry in enumerate(ENTRIES)]
FREQUENCY = {f"Word{number}": 1 / (1 + number) for number in range(40)}
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


def test_muse_splits_by_source_word_frequent_ones_and_better_translations_first(tmp_path: Path) -> None:
    more = [Translation("two words", "x", 9), Translation("a", "fair", 5), Translation("a", "good", 8)]
    dictionaries.write_muse(tmp_path, "en", "fr", [*ENTRIES, *more, Translation("a", "miss", 2)], FREQUENCY)
    full, train, test = (
        [line.split(" ") for line in (tmp_path / f"en-fr{part}.txt").read_text(encoding="utf-8").splitlines()]
        for part in ("", ".0-5000", ".5000-6500")
    )
    assert full == train + test
    assert not {one for one, _ in train} & {one for one, _ in test}
    assert list(dict.fromkeys(one for one, _ in full)) == [*(f"word{number}" for number in range(40)), "a"]
    assert len({one for one, _ in train}) == round(41 * dictionaries.TRAINING_SHARE)
    assert len(full) == len(ENTRIES) + 2
    assert full[-2:] == [["a", "good"], ["a", "fair"]]


def test_panlex_gives_back_the_qualities_and_its_keys_are_whole(tmp_path: Path) -> None:
    dictionaries.write_panlex(tmp_path, "eng", {"fra": RATED, "rus": ENTRIES[:5]})
    database = sqlite3.connect(":memory:")
    for table in dictionaries.HEADERS:
        with (tmp_path / f"{table}.csv").open(encoding="utf-8", newline="") as handle:
            names, *rows = csv.reader(handle)
        assert {len(row) for row in rows} == {len(names)}
        database.execute(f"CREATE TABLE {table} ({', '.join(names)})")
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)  # noqa: S608
        count, distinct = database.execute(f"SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}").fetchone()  # noqa: S608
        assert count == distinct > 0
    for table in ("expr", "meaning"):
        dangling = f"SELECT COUNT(*) FROM denotation WHERE {table} NOT IN (SELECT id FROM {table})"  # noqa: S608
        assert database.execute(dangling).fetchone() == (0,)
    found = {(one, two): quality for one, two, quality in database.execute(QUALITY)}
    assert found == {(entry.source, entry.target): entry.quality for entry in RATED}
    uids = "SELECT lang_code || '-' || printf('%03d', var_code), txt FROM langvar JOIN expr ON expr.id = uid_expr"
    assert all(uid == text for uid, text in database.execute(uids))
    assert database.execute("SELECT COUNT(*) FROM langvar WHERE lang_code = 'eng'").fetchone() == (2,)


def test_sources_of_one_group_are_not_counted_twice() -> None:
    known = {number: (group, quality) for number, _, quality, group in dictionaries.SOURCES}
    for wanted, sources in dictionaries.ATTESTED_BY.items():
        best: dict[int, int] = {}
        for group, quality in map(known.__getitem__, sources):
            best[group] = max(quality, best.get(group, 0))
        assert sum(best.values()) == wanted
    assert any(
        len(sources) > len({known[source][0] for source in sources}) for sources in dictionaries.ATTESTED_BY.values()
    )


@pytest.mark.parametrize(("text", "expected"), [("L'École", "lecole"), ("ÄB c", "abc"), ("猫", "猫")])
def test_degraded_text(text: str, expected: str) -> None:
    assert dictionaries.degraded(text) == expected
