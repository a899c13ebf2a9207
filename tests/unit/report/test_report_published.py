"""The paper's numbers: complete, equal to the shared copies, and shown to the printed digit."""

import math
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from xling.report import published, style
from xling.report.cka_table import layers_of, similarity
from xling.report.figure3 import figure3
from xling.report.figure7 import annotation, figure7
from xling.report.grid import as_csv, as_latex, as_markdown
from xling.report.records import AVERAGE
from xling.report.table1 import delta, delta_check, table1

# As the text of the paper has it, a row a line.
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
FIGURE7 = """\
0.76 0.75 0.52 0.61 0.65 0.46 0.66 0.64 0.46 0.56 0.56 0.42 0.56 0.6 0.44
0.75 0.77 0.6 0.74 0.71 0.55 0.76 0.7 0.54 0.67 0.65 0.5 0.65 0.67 0.51
0.74 0.74 0.58 0.71 0.7 0.52 0.72 0.69 0.52 0.64 0.63 0.47 0.61 0.65 0.49
0.75 0.71 0.58 0.73 0.7 0.53 0.73 0.69 0.54 0.65 0.64 0.48 0.59 0.64 0.5
0.73 0.66 0.6 0.73 0.64 0.55 0.73 0.63 0.56 0.65 0.61 0.5 0.58 0.6 0.52
0.69 0.58 0.52 0.72 0.59 0.48 0.74 0.6 0.49 0.64 0.56 0.44 0.59 0.56 0.46
0.64 0.48 0.44 0.71 0.5 0.41 0.7 0.52 0.42 0.63 0.5 0.37 0.57 0.51 0.39
0.48 0.24 0.32 0.67 0.34 0.31 0.6 0.39 0.31 0.6 0.34 0.29 0.5 0.37 0.3
0.55 0.4 0.3 0.62 0.4 0.28 0.64 0.43 0.28 0.5 0.39 0.26 0.51 0.4 0.27
0.68 0.59 0.5 0.69 0.58 0.46 0.7 0.59 0.46 0.62 0.54 0.41 0.57 0.56 0.43"""
TABLE = published.table1()


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["table1.csv", "figure7.csv"])
def test_the_package_holds_the_shared_numbers(name: str, real_data: Path) -> None:
    kept = Path(published.__file__).with_name("data") / name
    assert kept.read_bytes() == (real_data.parent / "published" / name).read_bytes()


def test_nothing_is_missing() -> None:
    assert (len(TABLE.cells), len(TABLE.deltas), len(published.figure7())) == (90, 30, 150)


def test_table1_equals_the_papers_to_the_printed_digit() -> None:
    grid = table1(TABLE.cells, published.settings(), TABLE.deltas)
    assert [" ".join(row.cells) for row in grid.rows] == TABLE1.split("\n")
    assert [row.group for row in grid.rows] == [
        "",
        "Domain Similarity (§4.1)",
        *["Anchor Points (§4.2)"] * 3,
        *["Parameter Sharing (§4.3)"] * 5,
    ]


@pytest.mark.parametrize("line", TABLE1.split("\n"))
def test_every_format_of_table1_holds_every_number(line: str) -> None:
    grid = table1(TABLE.cells, published.settings(), TABLE.deltas)
    numbers = line.split()[-12:]
    assert f" {' | '.join(numbers)} |" in as_markdown(grid)
    assert f",{','.join(numbers)}\n" in as_csv(grid)
    assert f" & {' & '.join(number.replace('-', '$-$') for number in numbers)} \\\\\n" in as_latex(grid)


def test_printed_deltas_differ_from_the_cells_by_rounding_alone() -> None:
    scores = {(cell.setting, cell.task, cell.language): cell for cell in TABLE.cells}
    worst = max(abs(delta(scores, *key, ("fr", "ru", "zh"))[0] - value) for key, value in TABLE.deltas.items())
    assert worst == pytest.approx(0.10, abs=1e-9)
    assert ("Sep L1-3", "NER", "-5.3", "-5.40", "-0.10") in [
        row.cells for row in delta_check(TABLE.cells, TABLE.deltas).rows
    ]


def test_printed_averages_differ_from_the_layers_by_rounding_alone() -> None:
    layers_only = [score for score in published.figure7() if score.layer != AVERAGE]
    computed, printed = similarity(layers_only), similarity(published.figure7())
    keys = [key for key in printed if key[0] == AVERAGE]
    assert len(keys) == 15
    assert 0.005 < max(abs(computed[key] - printed[key]) for key in keys) <= 0.006


def test_figure7_shows_the_papers_numbers() -> None:
    with style.styled():
        axes = figure7(published.figure7()).axes[0]
    shown = {}
    for text in axes.texts:
        x, y = text.get_position()
        shown[math.floor(y), x] = text.get_text()
    rows = [[shown[key] for key in sorted(shown) if key[0] == row] for row in range(10)]
    assert [" ".join(row) for row in rows] == FIGURE7.split("\n")
    assert [label.get_text() for label in axes.get_yticklabels()] == [*layers_of(published.figure7()), AVERAGE]


@pytest.fixture(scope="module")
def bars() -> Figure:
    with style.styled():
        return figure3(TABLE.cells, published.settings())


@pytest.mark.parametrize("panel", range(9))
def test_figure3_shows_the_papers_numbers(panel: int, bars: Figure) -> None:
    axes = bars.axes[panel]
    column = 6 + 4 * (panel // 3) + panel % 3
    expected = [line.split()[column - 18] for line in TABLE1.split("\n")]
    assert [text.get_text() for text in axes.texts] == expected
    ends = [patch.get_x() + patch.get_width() for patch in axes.patches][::2]
    assert [f"{end:.1f}" for end in ends] == expected


@pytest.mark.parametrize(("value", "text"), [(0.6, "0.6"), (0.604, "0.6"), (0.056, "0.06"), (1.0, "1"), (0.0, "0")])
def test_annotations_are_printed_as_in_the_paper(value: float, text: str) -> None:
    assert annotation(value) == text
