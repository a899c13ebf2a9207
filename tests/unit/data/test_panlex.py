"""Translations out of a PanLex dump: a database gives the same, and damage is named."""

import csv
import sqlite3
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.data import panlex
from xling.data.panlex import read_panlex

HEADERS = {
    "source": "id reg_date label url isbn author title publisher year quality grp note license ip_claim ip_claimant "
    "ip_claimant_email",
    "langvar": "id lang_code var_code mutable name_expr script_expr meaning region_expr uid_expr grp",
    "expr": "id langvar txt txt_degr",
    "meaning": "id source",
    "denotation": "id meaning expr",
}
Rows = list[dict[str, object]]


def rows_of(columns: str, *rows: tuple[object, ...]) -> Rows:
    return [dict(zip(columns.split(), row, strict=True)) for row in rows]


def write_dump(folder: Path, tables: dict[str, Rows]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, header in HEADERS.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, header.split(), restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(tables[name])
    return folder


def small_dump() -> dict[str, Rows]:
    """Return four languages; `dog` and `chien` meet in four sources of two groups."""
    denotes = {100: (10, 5), 101: (10, 5, 6), 102: (10, 5), 103: (10, 5, 7), 104: (11, 6), 105: (10, 8), 106: (7, 8)}
    pairs = [(meaning, expr) for meaning, exprs in denotes.items() for expr in exprs]
    note = 'two\nlines, "quoted"'
    return {
        "source": rows_of(
            "id quality grp note", (1, 3, 50, note), (2, 7, 50, ""), (3, 5, 60, ""), (4, 2, 60, ""), (5, "", 70, "")
        ),
        "langvar": rows_of(
            "id lang_code var_code", (9, "eng", 1), (1, "eng", 0), (2, "fra", 0), (3, "spa", 0), (4, "deu", 12)
        ),
        "expr": rows_of(
            "id langvar txt",
            *[
                (10, 1, "dog"),
                (11, 1, 'say "x, y"\n z'),
                (5, 2, "chien"),
                (6, 2, "cabot"),
                (7, 3, "perro"),
                (8, 4, "hund"),
            ],
        ),
        "meaning": rows_of("id source", (100, 1), (101, 2), (102, 3), (103, 4), (104, 1), (105, 5), (106, 1)),
        "denotation": rows_of("id meaning expr", *((i, *pair) for i, pair in enumerate(pairs))),
    }


ENGLISH_FRENCH = [("dog", "cabot", 7.0), ("dog", "chien", 12.0), ('say "x, y" z', "cabot", 3.0)]  # 12: best 7 + best 5


def test_quality_is_the_best_of_each_group_summed(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    assert list(read_panlex(dump, "eng-000", "fra-000")) == ENGLISH_FRENCH
    assert list(read_panlex(dump, "eng-000", "deu-012")) == [("dog", "hund", 0.0)]  # its source is not rated
    assert next(read_panlex(dump, "fra-000", "eng-000")) == ("cabot", "dog", 7.0)
    assert list(read_panlex(dump, "fra-000", "deu-012")) == []


@pytest.mark.parametrize("inside", ["panlex-20190901-csv/", ""])
def test_published_zip_and_unpacked_folder_give_the_same(tmp_path: Path, inside: str) -> None:
    dump = write_dump(tmp_path / "unpacked" / inside, small_dump())
    with zipfile.ZipFile(tmp_path / "panlex.zip", "w", zipfile.ZIP_DEFLATED) as handle:
        for path in sorted(dump.glob("*.csv")):
            handle.write(path, inside + path.name)
    for name in ("panlex.zip", "unpacked"):
        assert list(read_panlex(tmp_path / name, "eng-000", "fra-000")) == ENGLISH_FRENCH


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    for path in dump.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as handle:
            rows = [row[::-1] for row in csv.reader(handle)]
        with path.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\r\n").writerows(rows)
    assert list(read_panlex(dump, "eng-000", "fra-000")) == ENGLISH_FRENCH


def oracle(tables: dict[str, Rows], source: int, target: int) -> list[tuple[str, str, float]]:
    """Ask a database the same question."""
    database = sqlite3.connect(":memory:")
    for name, header in HEADERS.items():
        columns = header.split()
        database.execute(f"create table {name} ({', '.join(columns)})")
        values = [[row.get(column) for column in columns] for row in tables[name]]
        database.executemany(f"insert into {name} values ({', '.join('?' * len(columns))})", values)  # noqa: S608
    return database.execute(
        """
        select source_text, target_text, sum(best) from (
            select e1.txt source_text, e2.txt target_text, s.grp, max(s.quality) best
            from expr e1 join denotation d1 on d1.expr = e1.id join denotation d2 on d2.meaning = d1.meaning
            join expr e2 on e2.id = d2.expr join meaning m on m.id = d1.meaning join source s on s.id = m.source
            where e1.langvar = ? and e2.langvar = ? group by e1.id, e2.id, s.grp
        ) group by source_text, target_text order by source_text, target_text
        """,
        (source, target),
    ).fetchall()


@st.composite
def dumps(draw: st.DrawFn) -> dict[str, Rows]:
    ids = draw(st.lists(st.integers(1, 10**9), min_size=8, max_size=8, unique=True))
    denoted = draw(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(ids)), unique=True, max_size=30))
    rated = [(i, draw(st.integers(0, 9)), draw(st.integers(1, 3))) for i in range(1, 5)]
    return {
        "source": rows_of("id quality grp", *rated),
        "langvar": rows_of("id lang_code var_code", (1, "eng", 0), (2, "fra", 0)),
        "expr": rows_of("id langvar txt", *((number, 1 + i % 2, f"w{i}") for i, number in enumerate(ids))),
        "meaning": rows_of("id source", *((i, draw(st.integers(1, 4))) for i in range(6))),
        "denotation": rows_of("id meaning expr", *((i, *pair) for i, pair in enumerate(denoted))),
    }


@given(dumps(), st.sampled_from([1, 5, 1 << 20]))
@settings(max_examples=40)
def test_a_database_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, tables: dict[str, Rows], block_rows: int
) -> None:
    dump = write_dump(tmp_path_factory.mktemp("panlex"), tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panlex, "BLOCK_ROWS", block_rows)
        assert list(read_panlex(dump, "eng-000", "fra-000")) == oracle(tables, 1, 2)


def test_memory_does_not_grow_with_other_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panlex, "BLOCK_ROWS", 500)
    peaks = []
    for others in (2_000, 8_000):
        tables, numbers = small_dump(), range(1000, 1000 + others)
        tables["expr"] += rows_of("id langvar txt", *((i, 3, f"palabra {i}") for i in numbers))
        tables["meaning"] += rows_of("id source", *((i, 1) for i in numbers))
        tables["denotation"] += rows_of("id meaning expr", *((i, i, i) for i in numbers))
        dump = write_dump(tmp_path / str(others), tables)
        tracemalloc.start()
        assert len(list(read_panlex(dump, "eng-000", "fra-000"))) == 3
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize(
    ("table", "old", "new", "line", "problem"),
    [
        ("expr", "id,langvar,txt", "id,langvar,text", 1, "no column 'txt' in the header"),
        ("expr", "10,1,dog,", "10,1,dog", 2, "3 columns where the header has 4"),
        ("expr", "10,1,dog", "1O,1,dog", 2, "'1O' is not a whole number"),
        ("expr", "dog", "d\udcffg", 2, "not UTF-8"),
        ("expr", '"say', 'a"say', None, "expr.csv"),
        ("expr", ",2,", ",3,", None, "expr.csv has no expression of fra-000"),
        ("denotation", "1,100,5\n", "1,100,x\n", 3, "'x' is not a whole number"),
        ("denotation", "1,100,5\n", "1,100\n", 3, "2 columns"),
        ("denotation", "id,meaning,expr", "id,mean,expr", 1, "no column 'meaning'"),
        ("meaning", "102,3\n", "", None, "meaning 102 of denotation.csv is not in meaning.csv"),
        ("meaning", "102,3\n", "102,77\n", None, "source 77 of meaning.csv is not in source.csv"),
        ("source", ",7,50,", ",good,50,", 4, "'good' is not a whole number"),
        ("langvar", "2,fra,0", "2,fra,1", None, "no language variety fra-000 (it has: fra-001)"),
    ],
)
def test_malformed_dump(tmp_path: Path, table: str, old: str, new: str, line: int | None, problem: str) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    path = dump / f"{table}.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_bytes(text.replace(old, new, 1 if line else -1).encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        list(read_panlex(dump, "eng-000", "fra-000"))
    assert line is None or (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


def test_missing_table_broken_zip_and_one_variety(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    (dump / "expr.csv").unlink()
    (tmp_path / "x.zip").write_bytes(b"PK no")
    for path, target, problem in [
        (dump, "fra-000", "no expr.csv in this folder"),
        (tmp_path / "x.zip", "fra-000", "x.zip: not a whole zip archive"),
        (dump, "eng-000", "both eng-000"),
    ]:
        with pytest.raises(InputError, match=problem):
            list(read_panlex(path, "eng-000", target))
