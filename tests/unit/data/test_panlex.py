"""PanLex: translations with their qualities from its tables, and the table and problem named in bad ones."""

import csv

import pytest

from xling.core.errors import InputError
from xling.data import panlex
from xling.data.panlex import read_panlex

# `dog` and `chien` meet in four sources of two groups; the source of `hund` has no rating.
PANLEX = {
    "source": 'id,label,quality,grp,note\n1,a,3,50,"two\nlines, ""quoted"""\n2,b,7,50,\n3,c,5,60,\n4,d,2,60,\n5,e,,70,\n',
    "langvar": "id,lang_code,var_code\n9,eng,1\n1,eng,0\n2,fra,0\n3,spa,0\n4,deu,12\n",
    "expr": 'id,langvar,txt,txt_degr\n10,1,dog,\n11,1,"say ""x, y""\n z",\n5,2,chien,\n6,2,cabot,\n7,3,perro,\n8,4,hund,\n',
    "meaning": "id,source\n100,1\n101,2\n102,3\n103,4\n104,1\n105,5\n106,1\n",
    "denotation": "id,meaning,expr\n0,100,10\n1,100,5\n2,101,10\n3,101,5\n4,101,6\n5,102,10\n6,102,5\n7,103,10\n"
    "8,103,5\n9,103,7\n10,104,11\n11,104,6\n12,105,10\n13,105,8\n14,106,7\n15,106,8\n",
}


ENGLISH_FRENCH = [("dog", "cabot", 7.0), ("dog", "chien", 12.0), ('say "x, y" z', "cabot", 3.0)]  # 12: best 7 + best 5


@pytest.fixture
def dump(tmp_path):
    for name, text in PANLEX.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8", newline="")
    return tmp_path


def test_quality_is_the_best_of_each_group_summed(dump, monkeypatch):
    assert sorted(read_panlex(dump, "eng-000", "fra-000")) == ENGLISH_FRENCH
    assert sorted(read_panlex(dump, "eng-000", "deu-012")) == [("dog", "hund", 0.0)]  # its source is not rated
    assert sorted(read_panlex(dump, "fra-000", "eng-000"))[0] == ("cabot", "dog", 7.0)
    assert sorted(read_panlex(dump, "fra-000", "deu-012")) == []
    monkeypatch.setattr(panlex, "BLOCK_ROWS", 2)  # blocks of any size, and columns in any order
    for path in dump.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as handle:
            rows = [fields[::-1] for fields in csv.reader(handle)]
        with path.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\r\n").writerows(rows)
    assert sorted(read_panlex(dump, "eng-000", "fra-000")) == ENGLISH_FRENCH


BAD_PANLEX = [
    ("expr", "id,langvar,txt", "id,langvar,text", "expr.csv: not a table with id, langvar, txt: .*not found.*'txt'"),
    ("expr", "10,1,dog,", "10,1,dog,,", "expr.csv: not a table with id, langvar, txt"),
    ("expr", "10,1,dog", "1O,1,dog", "expr.csv: .*1O"),
    ("expr", "dog", "d\udcffg", "expr.csv: .*decode"),
    ("expr", ",2,", ",3,", "expr.csv has no expression of fra-000"),
    ("denotation", "1,100,5\n", "1,100,x\n", "denotation.csv: .*'x'"),
    ("denotation", "1,100,5\n", "1,100\n", "denotation.csv: not a table with meaning, expr"),
    ("meaning", "102,3\n", "", "meaning.csv: no meaning 102"),
    ("meaning", "102,3\n", "102,77\n", "source.csv: no source 77"),
    ("source", ",7,50,", ",good,50,", "source.csv: a quality that is no whole number: .*'good'"),
    ("langvar", "2,fra,0", "2,fra,1", r"no language variety fra-000 \(it has: fra-001\)"),
]


@pytest.mark.parametrize(("table", "old", "new", "problem"), BAD_PANLEX)
def test_malformed_panlex_dump(dump, table, old, new, problem):
    assert old in PANLEX[table]
    (dump / f"{table}.csv").write_bytes(PANLEX[table].replace(old, new).encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=problem) as caught:
        sorted(read_panlex(dump, "eng-000", "fra-000"))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="both eng-000"):
        sorted(read_panlex(dump, "eng-000", "eng-000"))
