import csv
import json
import sqlite3
import sys
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.data import panlex_dump
from xling.data.dictionary import clean, read_tsv
from xling.data.panlex import Translation, read_panlex
from xling.tokenization import dictionary
from xling.tokenization.dictionary import in_words, merge
from xling.tokenization.tokeniser import make_tokeniser

HEADERS = {
    "source": "id reg_date label url isbn author title publisher year quality grp note license ip_claim ip_claimant "
    "ip_claimant_email",
    "langvar": "id lang_code var_code mutable name_expr script_expr meaning region_expr uid_expr grp",
    "expr": "id langvar txt txt_degr",
    "meaning": "id source",
    "denotation": "id meaning expr",
}
Rows = list[dict[str, object]]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_dump(folder: Path, tables: dict[str, Rows]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, header in HEADERS.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, header.split(), restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(tables[name])
    return folder


def small_dump() -> dict[str, Rows]:
    """Return three languages; `dog` and `chien` meet in four sources of two groups."""
    texts = {
        10: (1, "dog"),
        11: (1, 'say "x, y"\n z'),
        5: (2, "chien"),
        6: (2, "cabot"),
        7: (3, "perro"),
        8: (4, "hund"),
    }
    meanings = {100: 1, 101: 2, 102: 3, 103: 4, 104: 1, 105: 5, 106: 1}
    denotes = {100: (10, 5), 101: (10, 5, 6), 102: (10, 5), 103: (10, 5, 7), 104: (11, 6), 105: (10, 8), 106: (7, 8)}
    pairs = [(meaning, expr) for meaning, exprs in denotes.items() for expr in exprs]
    return {
        "source": [
            {"id": number, "quality": quality, "grp": group, "note": 'two\nlines, "quoted"'}
            for number, quality, group in [(1, 3, 50), (2, 7, 50), (3, 5, 60), (4, 2, 60), (5, "", 70)]
        ],
        "langvar": [
            {"id": number, "lang_code": code, "var_code": variety}
            for number, code, variety in [(9, "eng", 1), (1, "eng", 0), (2, "fra", 0), (3, "spa", 0), (4, "deu", 12)]
        ],
        "expr": [{"id": number, "langvar": variety, "txt": text} for number, (variety, text) in texts.items()],
        "meaning": [{"id": number, "source": source} for number, source in meanings.items()],
        "denotation": [{"id": i, "meaning": meaning, "expr": expr} for i, (meaning, expr) in enumerate(pairs)],
    }


def test_quality_is_the_best_of_each_group_summed(tmp_path: Path) -> None:
    found = list(read_panlex(write_dump(tmp_path / "dump", small_dump()), "eng-000", "fra-000"))
    assert found == [
        Translation("dog", "cabot", 7.0),
        Translation("dog", "chien", 12.0),  # max(3, 7) + max(5, 2)
        Translation('say "x, y" z', "cabot", 3.0),
    ]


def test_varieties_and_unrated_sources(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    assert list(read_panlex(dump, "eng-000", "deu-012")) == [Translation("dog", "hund", 0.0)]
    assert next(read_panlex(dump, "fra-000", "eng-000")) == Translation("cabot", "dog", 7.0)
    assert list(read_panlex(dump, "fra-000", "deu-012")) == []


@pytest.mark.parametrize("inside", ["panlex-20190901-csv/", ""])
def test_published_zip_and_unpacked_folder_give_the_same(tmp_path: Path, inside: str) -> None:
    dump = write_dump(tmp_path / "unpacked" / inside, small_dump())
    archive = tmp_path / "panlex.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as handle:
        for path in sorted(dump.glob("*.csv")):
            handle.write(path, inside + path.name)
    both = [list(read_panlex(path, "eng-000", "fra-000")) for path in (archive, tmp_path / "unpacked")]
    assert len(both[0]) == 3
    assert both[0] == both[1]


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    expected = list(read_panlex(dump, "eng-000", "fra-000"))
    for name in HEADERS:
        with (dump / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
            rows = [row[::-1] for row in csv.reader(handle)]
        with (dump / f"{name}.csv").open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\r\n").writerows(rows)
    assert list(read_panlex(dump, "eng-000", "fra-000")) == expected


def oracle(tables: dict[str, Rows], source: int, target: int) -> list[tuple[str, str, float]]:
    """The same question asked of a database."""
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
    sources = [{"id": i, "quality": draw(st.integers(0, 9)), "grp": draw(st.integers(1, 3))} for i in range(1, 5)]
    denoted = draw(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(ids)), unique=True, max_size=30))
    return {
        "source": sources,
        "langvar": [{"id": 1, "lang_code": "eng", "var_code": 0}, {"id": 2, "lang_code": "fra", "var_code": 0}],
        "expr": [{"id": number, "langvar": 1 + i % 2, "txt": f"w{i}"} for i, number in enumerate(ids)],
        "meaning": [{"id": i, "source": draw(st.integers(1, 4))} for i in range(6)],
        "denotation": [{"id": i, "meaning": meaning, "expr": expr} for i, (meaning, expr) in enumerate(denoted)],
    }


@given(dumps(), st.sampled_from([1, 20, 1 << 22]))
@settings(max_examples=60)
def test_a_database_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, tables: dict[str, Rows], block_bytes: int
) -> None:
    dump = write_dump(tmp_path_factory.mktemp("panlex"), tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panlex_dump, "BLOCK_BYTES", block_bytes)
        found = list(read_panlex(dump, "eng-000", "fra-000"))
    assert [(entry.source, entry.target, entry.quality) for entry in found] == oracle(tables, 1, 2)


def test_memory_does_not_grow_with_other_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panlex_dump, "BLOCK_BYTES", 1 << 14)
    peaks = []
    for others in (6_000, 20_000):
        tables = small_dump()
        numbers = range(1000, 1000 + others)
        tables["expr"] += [{"id": i, "langvar": 3, "txt": f"palabra {i}"} for i in numbers]
        tables["meaning"] += [{"id": i, "source": 1} for i in numbers]
        tables["denotation"] += [{"id": i, "meaning": i, "expr": i} for i in numbers]
        dump = write_dump(tmp_path / str(others), tables)
        tracemalloc.start()
        found = list(read_panlex(dump, "eng-000", "fra-000"))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(found) == 3
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.parametrize(
    ("table", "old", "new", "line", "problem"),
    [
        ("expr", "id,langvar,txt", "id,langvar,text", 1, "no column 'txt' in the header"),
        ("expr", "10,1,dog,", "10,1,dog", 2, "3 columns where the header has 4"),
        ("expr", "10,1,dog", "1O,1,dog", 2, "'1O' is not a whole number"),
        ("expr", '"say', 'a"say', None, "expr.csv"),
        ("denotation", "1,100,5\n", "1,100,x\n", 3, "'x' is not a whole number"),
        ("denotation", "1,100,5\n", "1,100\n", 3, "2 columns"),
        ("denotation", "id,meaning,expr", "id,mean,expr", 1, "no column 'meaning'"),
        ("meaning", "102,3\n", "", None, "meaning 102 of denotation.csv is not in meaning.csv"),
        ("meaning", "102,3\n", "102,77\n", None, "source 77 of meaning.csv is not in source.csv"),
        ("source", ",7,50,", ",good,50,", 5, "'good' is not a whole number"),
        ("langvar", "2,fra,0", "2,fra,1", None, "no language variety fra-000 (it has: fra-001)"),
    ],
)
def test_malformed_dump(tmp_path: Path, table: str, old: str, new: str, line: int | None, problem: str) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    path = dump / f"{table}.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    write(path, text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        list(read_panlex(dump, "eng-000", "fra-000"))
    assert line is None or (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


def test_missing_table_broken_zip_and_bad_bytes(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", small_dump())
    (dump / "expr.csv").write_bytes(b"id,langvar,txt,txt_degr\n1,1,\xff,\n")
    with pytest.raises(InputError, match=r"expr.csv, line 2: not UTF-8"):
        list(read_panlex(dump, "eng-000", "fra-000"))
    (dump / "expr.csv").unlink()
    with pytest.raises(InputError, match=r"no expr.csv in this folder"):
        list(read_panlex(dump, "eng-000", "fra-000"))
    with pytest.raises(InputError, match=r"x.zip: not a whole zip archive"):
        list(read_panlex(write(tmp_path / "x.zip", "PK no"), "eng-000", "fra-000"))
    with pytest.raises(InputError, match=r"both eng-000"):
        list(read_panlex(dump, "eng-000", "eng-000"))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("chien", "chien"),
        ("éole-harpe  \\", "éole-harpe"),
        ("\\ en suspens", "en suspens"),
        ("\\", ""),
        ("Velo  \\ Drahtesel", ""),
        ("sich  halten", "sich halten"),
    ],
)
def test_junk_of_wiktionary(entry: str, expected: str) -> None:
    assert clean(entry) == expected


def test_simple_form(tmp_path: Path) -> None:
    path = write(tmp_path / "d.tsv", "dog\tchien\ndog\tcabot\t2.5\na\t\\\nb\t1\t1e3\n")
    counts: Counter[str] = Counter()
    assert list(read_tsv(path, counts)) == [
        Translation("dog", "chien", 1.0),
        Translation("dog", "cabot", 2.5),
        Translation("b", "1", 1000.0),
    ]
    assert counts == {"junk": 1}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a\tb\nc d\n", 2, "no tab"),
        ("a\tb\n\n", 2, "no tab"),
        ("a\tb\t1\tx\n", 1, "4 columns"),
        ("a\tb\tgood\n", 1, "quality 'good' is not a number from 0"),
        ("a\tb\t-1\n", 1, "quality '-1'"),
        ("a\tb\tnan\n", 1, "quality 'nan'"),
        ("", None, "empty"),
    ],
)
def test_malformed_simple_form(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = write(tmp_path / "d.tsv", text)
    with pytest.raises(InputError) as caught:
        list(read_tsv(path))
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


def test_merge_keeps_the_best_and_drops_what_cannot_be_drawn() -> None:
    entries = [Translation("a", "x", 1), Translation("a", "x", 3), Translation("a", "y", 0), Translation("b", "x", 2)]
    assert list(merge(entries)) == [Translation("a", "x", 3), Translation("b", "x", 2)]


def test_entries_are_put_in_the_words_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"segmenter": "none", "dictionary": None, "stanford_home": None, "script": "none", "strip_accents": False}
    english, french = ({**options, "language": code, "moses": code, "lowercase": True} for code in ("en", "fr"))
    entries = [
        Translation("Paris", "Paris", 1),
        Translation("paris", "paris", 4),
        Translation("hello", "Bonjour,", 2),
    ]
    assert list(merge(in_words(entries, make_tokeniser(english), make_tokeniser(french)))) == [
        Translation("paris", "paris", 4),
        Translation("hello", "bonjour ,", 2),
    ]
    path, out = write(tmp_path / "in.tsv", "Dog\tChien\ndog\tchien\t3\n"), tmp_path / "out.tsv"
    sides = [f"source={json.dumps(english)}", f"target={json.dumps(french)}"]
    run_main(
        monkeypatch, "--format", "tsv", "--input", path, "--tokeniser", sides[0], "--tokeniser", sides[1], "--out", out
    )
    assert out.read_text(encoding="utf-8") == "dog\tchien\t3\n"


def test_a_dictionary_without_translations_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = write(tmp_path / "in.tsv", "dog\tchien\t0\n"), tmp_path / "out.tsv"
    with pytest.raises(InputError, match="no translation in it"):
        run_main(monkeypatch, "--format", "tsv", "--input", path, "--out", out)
    assert not out.exists()


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["dictionary", *map(str, arguments)])
    dictionary.main()


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump, out = write_dump(tmp_path / "dump", small_dump()), tmp_path / "out.tsv"
    run_main(
        monkeypatch, "--format", "panlex", "--input", dump, "--source", "eng-000", "--target", "fra-000", "--out", out
    )
    first = out.read_text(encoding="utf-8")
    assert first == 'dog\tcabot\t7\ndog\tchien\t12\nsay "x, y" z\tcabot\t3\n'
    shuffled = write(tmp_path / "in.tsv", "\n".join([*first.splitlines()[::-1], "dog\tcabot\t1", "dog\tcabot"]) + "\n")
    run_main(monkeypatch, "--format", "tsv", "--input", shuffled, "--out", out)
    assert out.read_text(encoding="utf-8") == first


def test_command_leaves_the_old_file_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = write(tmp_path / "out.tsv", "old\n")
    with pytest.raises(InputError, match=r"in.tsv, line 2: no tab"):
        run_main(monkeypatch, "--format", "tsv", "--input", write(tmp_path / "in.tsv", "a\tb\nc\n"), "--out", out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.tsv", "out.tsv"]
    assert out.read_text(encoding="utf-8") == "old\n"


def test_command_asks_for_the_varieties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        run_main(monkeypatch, "--format", "panlex", "--input", tmp_path, "--out", tmp_path / "out.tsv")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("code", "rows", "junk"), [("cmn", 66717, 41), ("de", 70558, 21), ("fr", 63506, 16), ("ru", 89648, 137)]
)
def test_real_dictionaries(real_data: Path, code: str, rows: int, junk: int) -> None:
    counts: Counter[str] = Counter()
    entries = list(read_tsv(real_data / f"dictionary/en-{code}.tsv", counts))
    assert (len(entries) + counts["junk"], counts["junk"]) == (rows, junk)
    assert not any("\\" in entry.target or entry.target != entry.target.strip() for entry in entries)
