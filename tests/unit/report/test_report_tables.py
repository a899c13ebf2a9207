"""Table 1 of any study: what was not run says so, deltas say over what, ours stands beside theirs."""

import csv
from pathlib import Path

import pytest

from xling.report import published
from xling.report.compare import comparison
from xling.report.grid import Column, Grid, Row, as_csv, as_latex, as_markdown, beside, signed, write_grid
from xling.report.html.tables import Table, read_table, without_margins
from xling.report.records import Cell, Examples, Setting
from xling.report.table1 import margins, table1, trained_on

CELLS = [
    Cell("Default", "ner", "fr", 80.0, 20.0, 78.0, 82.0),
    Cell("Default", "ner", "ru", 60.0, 20.0, 58.0, 62.0),
    Cell("Sep Emb", "ner", "fr", 65.04, 20.0, 62.0, 68.0),
]


def row_of(grid: Grid, *start: str) -> tuple[str, ...]:
    return next(row.cells for row in grid.rows if row.cells[: len(start)] == start)


def test_cells_that_were_not_run_say_so() -> None:
    row = row_of(table1(CELLS, published.settings()), "Default")
    assert row[6:] == (*["not run"] * 4, "80.0", "60.0", "not run", "0.0 (fr ru)", *["not run"] * 4)
    assert set(row_of(table1(CELLS, published.settings()), "No anchors")[6:]) == {"not run"}


def test_a_table_says_on_how_much_its_tasks_were_trained() -> None:
    rows = [Examples("ner", code, train, 9, 9) for code, train in (("fr", 14987), ("ru", 14987), ("zh", 20000))]
    rows += [Examples("xnli", code, 10000, 9, 9) for code in ("fr", "ru", "zh")]
    assert trained_on(rows) == "Training examples: XNLI 10,000, NER 14,987 (fr ru) and 20,000 (zh)."


def test_a_delta_over_fewer_languages_names_them() -> None:
    assert row_of(table1(CELLS, published.settings()), "Sep Emb")[10:14] == ("65.0", "not run", "not run", "-15.0 (fr)")


def test_an_empty_study_is_a_table_of_the_papers_shape() -> None:
    grid = table1([], published.settings())
    assert (len(grid.rows), len(grid.columns)) == (10, 18)
    assert {text for row in grid.rows for text in row.cells[6:]} == {"not run"}


def test_settings_languages_and_tasks_of_ones_own_are_shown() -> None:
    grid = table1([Cell("Mine", "pos", "cs", 50.0, 5.0)], published.settings())
    assert [column.title for column in grid.columns][9:11] == ["XNLI (Acc) cs", "XNLI (Acc) Δ"]
    assert [column.title for column in grid.columns][-2:] == ["POS (Acc) cs", "POS (Acc) Δ"]
    assert row_of(grid, "Mine")[-2] == "50.0"


def test_rows_can_be_described_by_the_study() -> None:
    rows = [Setting("Default", "", "Wiki-Wiki", "1200", "all", "all", "shared")]
    assert row_of(table1(CELLS, rows), "Default")[2] == "1200"


def test_ours_beside_theirs() -> None:
    grid = comparison(CELLS, [Cell("Default", "ner", "fr", 79.8, 0.0), Cell("Sep Emb", "ner", "fr", 75.5, 0.0)])
    assert row_of(grid, "Default", "fr")[2:] == ("80.0 [78.0, 82.0]", "20.0", "1.00", "79.8", "1.00", "+0.2", "0.00")
    assert row_of(grid, "Sep Emb", "fr")[2:] == (
        "65.0 [62.0, 68.0]",
        "20.0",
        "0.75 [0.69, 0.81]",
        "75.5",
        "0.95",
        "-10.5",
        "-0.20",
    )
    assert row_of(grid, "Default", "ru")[5:] == ("not run", "", "", "")


def test_no_kept_share_without_signal() -> None:
    grid = comparison([Cell("Default", "ner", "fr", 24.9, 20.0), Cell("Sep Emb", "ner", "fr", 24.0, 20.0)], [])
    assert row_of(grid, "Sep Emb", "fr")[4] == ""


@pytest.mark.parametrize(("value", "text"), [(0.04, "0.0"), (-0.04, "0.0"), (0.06, "+0.1"), (-22.6, "-22.6")])
def test_zero_has_no_sign(value: float, text: str) -> None:
    assert signed(value) == text


GRID = Grid(
    (Column("", "Model"), Column("Both_ways", "a & b")),
    (Row("", ("x|y", "0*")), Row("G (§4)", ("50%", "-3"))),
)


def test_characters_that_mean_something_are_escaped() -> None:
    assert as_markdown(GRID).splitlines()[2:] == [r"| x\|y | 0\* |", "| *G (§4)* |  |", "| 50% | -3 |"]
    latex = as_latex(GRID)
    assert r"\multicolumn{1}{c}{Both\_ways}" in latex
    assert r"Model & a \& b \\" in latex
    assert r"\textit{G (\S{}4)}" in latex
    assert r"50\% & $-$3 \\" in latex
    assert as_csv(GRID) == "Group,Model,Both_ways a & b\n,x|y,0*\nG (§4),50%,-3\n"


def test_a_table_is_written_in_three_formats(tmp_path: Path) -> None:
    write_grid(GRID, tmp_path, "t")
    texts = [(tmp_path / f"t{suffix}").read_text(encoding="utf-8") for suffix in (".csv", ".md", ".tex")]
    assert texts == [as_csv(GRID), as_markdown(GRID), as_latex(GRID)]


def test_the_csv_has_the_interval_and_the_floor_of_every_cell() -> None:
    cells = [Cell("Default", "ner", "fr", 80.04, 20.0, 78.26, 81.5), Cell("Sep Emb", "ner", "ru", 60.0, 10.0)]
    settings = published.settings()
    whole = beside(table1(cells, settings), margins(cells, settings))
    lines = list(csv.DictReader(as_csv(whole).splitlines()))
    default = next(line for line in lines if line["Model"] == "Default")
    assert [default[f"NER (F1) fr{part}"] for part in ("", " low", " high", " floor")] == [
        "80.0",
        "78.3",
        "81.5",
        "20.0",
    ]
    assert default["NER (F1) ru"] == "not run"
    assert default["NER (F1) ru low"] == default["NER (F1) ru floor"] == ""
    apart = next(line for line in lines if line["Model"] == "Sep Emb")
    assert (apart["NER (F1) ru low"], apart["NER (F1) ru floor"]) == ("", "10.0")
    assert "XNLI (Acc) fr low" not in default  # nothing was run there


def test_the_page_leaves_intervals_and_floors_to_the_figure(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Model,NER fr,NER fr low,NER fr floor\nDefault,1,2,3\n", encoding="utf-8")
    assert without_margins(read_table(tmp_path / "t.csv")) == Table(["Model", "NER fr"], [["Default", "1"]])
