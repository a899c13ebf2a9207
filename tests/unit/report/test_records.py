"""Record files: what goes in comes out, and what is wrong is named by file, line and column."""

from dataclasses import replace

import pytest
from made_up_study import curves, table

from xling.core.errors import InputError
from xling.report.records import KINDS, Cell, read_results, write_records

CELLS = "setting,task,language,score,chance,low,high\n"
CKA = "layer,pair,model,cka\n"


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path):
    odd = replace(table().figure3[0], setting=" \"a\", 'b'; #\u2028NaN\ufeffé", score=100 / 3, seed=2, floor="NA ")
    results = replace(curves(), figure3=(*table().figure3, odd), paper_scale=True)
    for name, kind in KINDS.items():
        first = getattr(results, name)[: -1 if name == "figure3" else None]
        write_records(tmp_path / f"{name}.csv", kind, first)
    write_records(tmp_path / "more/figure3.csv", Cell, results.figure3[-1:])
    (tmp_path / "table1.csv").write_text("not a record file\n", encoding="utf-8")
    assert read_results([tmp_path, tmp_path / "more/figure3.csv"], paper_scale=True) == results
    with pytest.raises(InputError, match=r"figure3.csv: given twice: Default xnli fr \(one record each"):
        read_results([tmp_path, tmp_path / "figure3.csv"])


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("figure3.csv", CELLS + "Default,xnli,fr,high,33,,\n", "line 2: score: expected a number, found the text 'high'"),
        ("figure3.csv", CELLS + "Default,xnli,fr,nan,33,,\n", "line 2: score: expected a finite number, found the text 'nan'"),
        ("figure3.csv", CELLS + "Default,xnli,fr,101,33,,\n", "line 2: score: expected at most 100, found the text '101'"),
        ("figure3.csv", CELLS + "Default,xnli,fr,,33,,\n", "line 2: score: missing key"),
        ("figure3.csv", CELLS + "Default,xnli,fr,70,33,69,\n", "line 2: low: an interval needs both"),
        ("figure3.csv", CELLS + "Default,xnli,fr,70,33,71,69\n", "line 2: low: the interval is the wrong way round"),
        ("figure3.csv", CELLS + "Default,xnli,fr,70,33\n", r"line 2: 5 columns where the header has 7"),
        ("figure3.csv", CELLS + "A,ner,fr,1,0,,\nA,ner,fr,2,0,,\n", r"given twice: A ner fr \(one record each"),
        ("figure3.csv", "", "line 1: empty: expected a header line"),
        ("figure3.csv", "setting,taks\nDefault,ner\n", r"line 1: unknown column 'taks' \(did you mean 'task'"),
        ("figure3.csv", "setting\nDefault\n", "line 2: task: missing key"),
        ("figure7.csv", CKA + "L1,en-fr,bilingul,0.5\n", "line 2: model: expected one of bilingual, monolingual, random, found 'bilingul'"),
        ("figure7.csv", CKA + "1,en-fr,random,0.5\n", "line 2: layer: expected L0, L1, … or AVER, found '1'"),
        ("figure7.csv", CKA + "L1,en-fr,random,52\n", "cka: expected at most 1, found the text '52'"),
        ("figure5.csv", "task,language,series,encoder,layer,score\nner,fr,biMLM,trained,1.5,1\n", "layer: expected a whole number, found the text '1.5'"),
        ("cells.csv", "a\n1\n", "not named after a figure"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_named(name, text, problem, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}.*{problem}"):
        read_results([tmp_path / name])
