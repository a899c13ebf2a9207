"""Committed runs are whole, and today's predicates judge them as their own files say."""

from pathlib import Path

import pytest

from xling.core.io import read_json
from xling.report import published
from xling.report.claims.render import as_json, judge_all
from xling.report.means import cell_means, means
from xling.report.records import Cell, read_records, read_results

REFERENCE = Path(__file__).resolve().parents[3] / "results/reference"
RUNS = sorted(path.name for path in REFERENCE.iterdir() if path.is_dir())


def test_there_are_runs_of_every_cell_on_generated_and_on_real_text() -> None:
    assert RUNS == ["demo-full", "mini"]


@pytest.mark.parametrize("run", RUNS)
def test_every_cell_of_table_1_has_score_interval_and_floor(run: str) -> None:
    cells = cell_means(read_records(REFERENCE / run / "records/figure3.csv", Cell))
    wanted = {(cell.setting, cell.task, cell.language) for cell in published.table1().cells}
    assert wanted <= {(cell.setting, cell.task, cell.language) for cell in cells}
    assert len(wanted) == 90
    assert [cell for cell in cells if cell.low is None or cell.high is None or not 0 <= cell.floor < 100] == []


@pytest.mark.parametrize("run", RUNS)
def test_the_verdicts_follow_from_the_numbers(run: str) -> None:
    kept = read_json(REFERENCE / run / "claims.json")
    outcomes = judge_all(means(read_results([REFERENCE / run / "records"], kept["paper_scale"])))
    found = as_json(outcomes, kept["paper_scale"], kept["config"])
    assert found == kept
