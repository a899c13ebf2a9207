"""Record files: what goes in comes out, and what is wrong is named by file and line."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.report.record_files import read_records, read_results, write_records
from xling.report.records import KINDS, Cell, CkaScore, ContextualScore, SentenceScore, WordScore

EXAMPLES = {
    "figure3": Cell("Sep Emb + L1-3", "ner", "fr", 61.25, 12.5, 60.0, 62.5),
    "figure4a": WordScore("de", "fastText", 40.0, 0.1, pairs=812),
    "figure4b": WordScore("zh", "BERT", 31.0, 0.1, layer=0),
    "figure5": ContextualScore("parsing", "ru", "MLM align", 4, 33.0, 8.0),
    "figure6": SentenceScore("fr", "monolingual", "x-en", 1, 71.5, 0.1, 70.0, 73.0),
    "figure7": CkaScore("L0", "en-en'", "random", 0.52),
    "figure8": ContextualScore("ner", "zh", "biMLM align", 8, 3.0, 1.0),
}
HEADER = "setting,task,language,score,floor,low,high\n"


def cells_file(folder: Path, text: str) -> Path:
    path = folder / "figure3.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_csv_and_json_give_back_what_was_written(kind: str, tmp_path: Path) -> None:
    record = EXAMPLES[kind]
    write_records(tmp_path / f"{kind}.csv", type(record), [record])
    (tmp_path / "as.json").write_text(json.dumps({"config": "abc", "records": [vars(record)]}), encoding="utf-8")
    assert read_records(tmp_path / f"{kind}.csv", type(record)) == [record]
    assert read_records(tmp_path / "as.json", type(record)) == [record]


@settings(max_examples=50)
@given(name=st.text(st.characters(exclude_categories=["C"]), min_size=1), score=st.floats(0, 100))
def test_any_name_and_any_score_survive(name: str, score: float) -> None:
    record = Cell(name, "xnli", "fr", score, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        write_records(Path(folder) / "cells.csv", Cell, [record])
        assert read_records(Path(folder) / "cells.csv", Cell) == [record]


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    for kind, record in EXAMPLES.items():
        write_records(tmp_path / f"{kind}.csv", type(record), [record])
    (tmp_path / "table1.csv").write_text("not a record file\n", encoding="utf-8")
    results = read_results([tmp_path], paper_scale=True)
    assert {kind: getattr(results, kind) for kind in KINDS} == {kind: (record,) for kind, record in EXAMPLES.items()}
    assert results.paper_scale


def test_files_of_one_kind_are_put_together(tmp_path: Path) -> None:
    for number, language in enumerate(("fr", "ru")):
        write_records(tmp_path / str(number) / "figure3.csv", Cell, [Cell("Default", "ner", language, 50.0, 0.0)])
    found = read_results([tmp_path / "0", tmp_path / "1" / "figure3.csv"]).figure3
    assert [cell.language for cell in found] == ["fr", "ru"]


def test_no_records_is_an_empty_list(tmp_path: Path) -> None:
    write_records(tmp_path / "figure7.csv", CkaScore, [])
    assert read_records(tmp_path / "figure7.csv", CkaScore) == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Default,xnli,fr,high,33,,\n", r"line 2: 'score' should be a number, found 'high'"),
        ("Default,xnli,fr,nan,33,,\n", r"line 2: 'score' is nan \(a number from 0 to 100\)"),
        ("Default,xnli,fr,101,33,,\n", r"line 2: 'score' is 101"),
        ("Default,xnli,fr,,33,,\n", r"line 2: 'score' is missing"),
        ("Default,xnli,fr,70,33,69,\n", r"line 2: an interval needs both"),
        ("Default,xnli,fr,70,33,71,69\n", r"line 2: the interval is the wrong way round"),
        ("Default,xnli,fr,70,33\n", r"line 2: 5 columns where the header has 7"),
        ("A,ner,fr,1,0,,\nA,ner,fr,2,0,,\n", r"given twice: A ner fr \(one record each"),
    ],
)
def test_a_wrong_row_is_named(row: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"figure3\.csv.*" + problem):
        read_records(cells_file(tmp_path, row), Cell)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("figure3.csv", "", "line 1: empty: expected a header line"),
        ("figure3.csv", "setting,taks\nDefault,ner\n", "line 2: unknown column 'taks' .*setting, task, language"),
        ("figure6.json", '[{"language": "fr", "model": "mono"}]', "record 1: 'direction' is missing"),
        ("figure7.json", '{"cka": 1}', "expected a list of objects"),
        (
            "figure7.csv",
            "layer,pair,model,cka\nL1,en-fr,bilingul,0.5\n",
            "line 2: 'model' is 'bilingul' .one of: bilingual",
        ),
        ("figure7.csv", "layer,pair,model,cka\n1,en-fr,random,0.5\n", "line 2: 'layer' is '1' .one of: L0, …, AVER"),
        ("figure7.csv", "layer,pair,model,cka\nL1,en-fr,random,52\n", "'cka' is 52.* 0 to 1"),
        (
            "figure5.json",
            '[{"task": "ner", "language": "fr", "series": "biMLM", "layer": 1.5}]',
            "whole number, found '1.5'",
        ),
        ("cells.csv", "a\n1\n", "not named after a figure"),
    ],
)
def test_a_wrong_file_is_named(name: str, text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_results([tmp_path / name])
