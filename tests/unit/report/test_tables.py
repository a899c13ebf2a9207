"""Table 1 of any study and of the paper: every number, what was not run, deltas, escapes, ours beside theirs."""

from dataclasses import replace

import pandas as pd
import pytest

from xling.report import published
from xling.report.grid import as_csv, as_latex, as_markdown, grid, signed
from xling.report.means import CellMean, by_key, cell_means
from xling.report.records import Cell
from xling.report.table1 import comparison, delta, margins, table1

# As the text of the paper has it, one row per line.
TABLE1 = """\
Default Wiki-Wiki 80k all all shared 73.6 68.7 68.3 0.0 79.8 60.9 63.6 0.0 73.2 56.6 28.8 0.0
Wiki-CC Wiki-CC - - - - 74.2 65.8 66.5 -1.4 74.0 49.6 61.9 -6.2 71.3 54.8 25.2 -2.5
No anchors - 40k/40k 0 - - 72.1 67.5 67.7 -1.1 74.0 57.9 65.0 -2.4 72.3 56.2 27.4 -0.9
Default anchors - 40k/40k - - - 74.0 68.1 68.9 +0.1 76.8 56.3 61.2 -3.3 73.0 57.0 28.3 -0.1
Extra anchors - - extra - - 74.0 69.8 72.1 +1.8 76.1 59.7 66.8 -0.5 73.3 56.9 29.2 +0.3
Sep Emb - 40k/40k 0* Sep Emb lang-specific 72.7 63.6 60.8 -4.5 75.5 57.5 59.0 -4.1 71.7 54.0 27.5 -1.8
Sep L1-3 - 40k/40k - Sep L1-3 - 72.4 65.0 63.1 -3.4 74.0 53.3 60.8 -5.3 69.7 54.1 26.4 -2.8
Sep L1-6 - 40k/40k - Sep L1-6 - 61.9 43.6 37.4 -22.6 61.2 23.7 3.1 -38.7 61.7 31.6 12.0 -17.8
Sep Emb + L1-3 - 40k/40k 0* Sep Emb + L1-3 lang-specific 69.2 61.7 56.4 -7.8 73.8 46.8 53.5 -10.0 68.2 53.6 23.9 -4.3
Sep Emb + L1-6 - 40k/40k 0* Sep Emb + L1-6 lang-specific 51.6 35.8 34.4 -29.6 56.5 5.4 1.0 -47.1 50.9 6.4 1.5 -33.3"""
PAPER, SETTINGS = published.table1(), published.settings()
PAPER_MEANS = cell_means(PAPER.cells)
CELLS = [
    CellMean("Default", "ner", "fr", 80.04, 20.0, 78.26, 82.0),
    CellMean("Default", "ner", "ru", 60.0, 20.0),
    CellMean("Sep Emb", "ner", "fr", 65.04, 20.0, 62.0, 68.0),
]


def row(setting, language, score, reach=None):
    ends = {} if reach is None else {"low": score - reach, "high": score + reach}
    return Cell(setting=setting, task="ner", language=language, score=score, chance=0.0, **ends)


def row_of(table, *start):
    return next(row for row in table.to_numpy().tolist() if tuple(row[: len(start)]) == start)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["table1.csv", "figure7.csv"])
def test_the_package_holds_the_shared_numbers(name, real_data):
    assert (published.DATA / name).read_bytes() == (real_data.parent / "published" / name).read_bytes()


def test_table1_equals_the_papers_to_the_printed_digit_and_its_deltas_follow_but_for_rounding():
    table = table1(PAPER_MEANS, SETTINGS, PAPER.deltas)
    assert [" ".join(row) for row in table.to_numpy().tolist()] == TABLE1.split("\n")
    groups = {"": 1, "Domain Similarity (§4.1)": 1, "Anchor Points (§4.2)": 3, "Parameter Sharing (§4.3)": 5}
    assert list(table.index) == [group for group, count in groups.items() for _ in range(count)]
    scores = by_key(PAPER_MEANS)
    worst = max(abs(delta(scores, *key, ("fr", "ru", "zh"))[0] - value) for key, value in PAPER.deltas.items())
    assert worst == pytest.approx(0.10, abs=1e-9)
    squares = pd.DataFrame(published.figure7()).pivot_table(index="layer", columns=["pair", "model"], values="cka")
    assert 0.005 < (squares.drop("AVER").mean() - squares.loc["AVER"]).abs().max() <= 0.006


def test_cells_that_were_not_run_say_so_and_settings_of_ones_own_are_shown():
    table = table1([*CELLS, CellMean("Mine", "pos", "cs", 50.0, 5.0)], SETTINGS)
    assert list(table.columns)[-4:] == [("POS (Acc)", name) for name in ("fr", "ru", "cs", "Δ")]
    absent = ["not run"] * 4
    assert row_of(table, "Default")[6:] == ["80.0", "60.0", "not run", "0.0 (fr ru)", *absent]
    assert row_of(table, "Sep Emb")[6:] == ["65.0", "not run", "not run", "-15.0 (fr)", *absent]
    assert row_of(table, "No anchors")[6:] == [*absent, *absent]
    assert row_of(table, "Mine")[6:] == [*absent, "not run", "not run", "50.0", "not run"]
    assert table1([], SETTINGS).shape == (10, 6)
    assert margins([], SETTINGS) is None


def test_ours_beside_theirs():
    floors = [row("untrained", x, 20.0) for x in ("fr", "ru")]
    ours = [row("Default", "fr", 80.04, 1.9), row("Default", "ru", 60.0), row("Sep Emb", "fr", 65.04, 3.0)]
    above = [replace(own, floor="untrained") for own in ours]
    table = comparison([*above, *floors], [row("Default", "fr", 79.8), row("Sep Emb", "fr", 75.5)])
    score, floor, kept, above_chance, *rest = row_of(table, "Sep Emb", "fr")[2:]
    assert (score, floor, rest) == ("65.0 [62.0, 68.0]", "20.0", ["75.5", "0.95", "-10.5", "-0.13"])
    assert (kept[:6], above_chance[:6]) == ("0.75 [", "0.81 [")  # above the untrained encoder, and above chance
    assert row_of(table, "Default", "ru")[6:] == ["not run", "", "", ""]
    weak = comparison([row("Default", "fr", 4.9), row("Sep Emb", "fr", 4.0)], [])
    assert row_of(weak, "Sep Emb", "fr")[4] == ""  # no kept share without signal


def test_zero_has_no_sign_and_characters_that_mean_something_are_escaped():
    """The layout itself is compared with the tables of a reference run in test_figure_commands."""
    assert [signed(value) for value in (0.04, -0.04, 0.06, -22.6)] == ["0.0", "0.0", "+0.1", "-22.6"]  # 0 has no sign
    rows = [("", ["0*", "-3"]), ("{§4} $", ["a\\b ~ ^ <i> `c` 0*\nd", "5%"])]
    table = grid([("", "a & b|c"), ("Both_ways", "x")], rows)
    assert as_csv(table).startswith("Group,a & b|c,Both_ways x\n,0*,-3\n{§4} $,")
    _, _, first, group, second = as_markdown(table).splitlines()
    assert as_markdown(table).startswith(r"| a & b\|c | Both_ways x |")
    assert [first, group, second] == [r"| 0\* | -3 |", "| *{§4} $* |  |", r"| a\\b ~ ^ \<i> \`c\` 0\* d | 5% |"]
    escaped = [r"\multicolumn{1}{c}{Both\_ways}", r"a \& b|c & x \\", r"0* & $-$3 \\", r"\textit{\{\S{}4\} \$}"]
    escaped += [r"a\textbackslash{}b \textasciitilde{} \textasciicircum{} <i> `c` 0* d & 5\% \\"]
    assert [text for text in escaped if text not in as_latex(table)] == []
