"""The verdicts as files, and in words; the command ends well whatever they are."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xling.report import published
from xling.report.claims.render import as_json, as_markdown, judge_all, paper_text, summary
from xling.report.claims.verdict import Check, Claim, Coverage, Outcome, Over, Part, Relation, Unit, Verdict
from xling.report.claims.words import brief_standing, count_text, counted, number, sentence, standing
from xling.report.estimate import Estimate
from xling.report.records import Cell, Results, write_records

PUBLISHED = judge_all(published.results())
NUMBERS = ["1a", "1b", "2a", "2b", "3", "4a", "4b", "4c", "4d", "5", "6a", "6b", "6c", "7a", "7b", "7c"]


def claims_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    outputs = ["--out-json", str(folder / "claims.json"), "--out-md", str(folder / "claims.md")]
    command = [sys.executable, "-m", "xling.report.claims", *arguments, *outputs]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def made(verdict: Verdict) -> Outcome:
    where = {"left_out": ("NER fr",)} if verdict is Verdict.NO_SIGNAL else {}
    checks = ()
    if verdict in (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED):
        value = 3.0 if verdict is Verdict.SUPPORTED else -0.04
        checks = (
            Check("NER fr", Estimate(value, value - 1, value + 1), Relation.ABOVE),
            Check("NER ru", Estimate(9.0), Relation.ABOVE),
        )
    part = Part("warm minus cold", Unit.POINTS, checks, **where)
    return Outcome(Claim("9z", "warmth helps", "Table 9", lambda _: [part]), (part,))


def test_every_sub_claim_is_there_once() -> None:
    assert [outcome.claim.number for outcome in PUBLISHED] == NUMBERS


def test_the_published_numbers_support_whatever_they_can_judge() -> None:
    assert summary(PUBLISHED) == "12 supported, 4 not run."


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            Verdict.SUPPORTED,
            "On all 2 cells the values of this run agree with the claim that warmth helps: warm minus cold is above 0 points"
            " in 2 of 2 (weakest 3.0 [2.0, 4.0], NER fr); no interval is known in 1 of 2.",
        ),
        (
            Verdict.NOT_SUPPORTED,
            "On all 2 cells the values of this run do not agree with the claim that warmth helps: warm minus cold is above"
            " 0 points in 1 of 2 (weakest -0.04 [-1.0, 1.0], NER fr); the interval reaches beyond the border in 1 of 2;"
            " no interval is known in 1 of 2.",
        ),
        (Verdict.NO_SIGNAL, "This run cannot tell whether warmth helps: there is too little signal in NER fr."),
        (Verdict.NOT_RUN, "Not checked whether warmth helps: warm minus cold could not be judged."),
    ],
)
def test_each_verdict_in_words(verdict: Verdict, text: str) -> None:
    assert made(verdict).verdict is verdict
    assert sentence(made(verdict)) == text


def test_what_was_left_out_is_said_beside_a_verdict() -> None:
    check = Check("NER fr", Estimate(1.0), Relation.ABOVE)
    part = Part(
        "warm minus cold", Unit.POINTS, (check,), ("NER ru",), tuple(f"XNLI {n}" for n in range(8)), (), ("EA",)
    )
    text = sentence(Outcome(Claim("9z", "warmth helps", "Table 9", lambda _: [part]), (part,)))
    assert text.startswith("On what could be judged, 1 of 10 cells, the values of this run agree with the claim that")
    assert text.endswith(
        "; left out for too little signal: NER ru"
        "; not run, or not in full: XNLI 0, XNLI 1, XNLI 2, XNLI 3, XNLI 4, XNLI 5 and 2 more (without EA)."
    )


@pytest.mark.parametrize(
    ("verdict", "counts", "text", "brief"),
    [
        (Verdict.SUPPORTED, (6, 6), "supported: 6 of 6 cells", "supported, 6 of 6 cells"),
        (Verdict.SUPPORTED, (1, 1), "supported on what was run: 1 of 6 cells", "supported, only 1 of 6 cells"),
        (Verdict.SUPPORTED, (5, 5), "supported on what was run: 5 of 6 cells", "supported, only 5 of 6 cells"),
        (Verdict.SUPPORTED, (1, 2), "supported on what could be judged: 1 of 6 cells", "supported, only 1 of 6 cells"),
        (
            Verdict.NOT_SUPPORTED,
            (5, 6),
            "not supported on what could be judged: 5 of 6 cells",
            "not supported, only 5 of 6 cells",
        ),
        (
            Verdict.NOT_SUPPORTED,
            (0, 0),
            "not supported on what was run: 0 of 6 cells in full",
            "not supported, only 0 of 6 cells",
        ),
        (
            Verdict.NO_SIGNAL,
            (0, 6),
            "not enough signal: 0 of 6 cells could be judged",
            "not enough signal, 0 of 6 cells",
        ),
        (Verdict.NOT_RUN, (0, 1), "not run: 0 of 6 cells could be judged", "not run, 0 of 6 cells"),
    ],
)
def test_a_verdict_says_what_it_rests_on(verdict: Verdict, counts: tuple[int, int], text: str, brief: str) -> None:
    coverage = Coverage(*counts, 6, Over.CELLS)
    assert standing(verdict, coverage) == text
    assert brief_standing(verdict, coverage) == brief


def test_fewer_cells_are_told_in_the_summary() -> None:
    found = [(Verdict.SUPPORTED, True), (Verdict.SUPPORTED, False), (Verdict.NOT_RUN, False)]
    assert count_text(found) == "2 supported (1 of them on fewer cells than the claim is about), 1 not run"


@pytest.mark.parametrize(
    ("value", "low", "high", "unsure"),
    [
        (1.0, 0.1, 2.0, False),
        (1.0, 0.0, 2.0, True),
        (-1.0, -2.0, 0.0, False),
        (-1.0, -2.0, 0.1, True),
        (1.0, None, None, False),
    ],
)
def test_an_interval_may_reach_beyond_the_border(
    value: float, low: float | None, high: float | None, unsure: bool
) -> None:
    assert Check("NER fr", Estimate(value, low, high), Relation.ABOVE).unsure is unsure


def test_a_claim_is_as_covered_as_the_least_covered_part_that_decides() -> None:
    one, two = (Check(place, Estimate(1.0), Relation.ABOVE) for place in ("NER fr", "NER ru"))
    wrong = Check("NER zh", Estimate(-1.0), Relation.ABOVE)
    full = Part("full", Unit.POINTS, (one, two))
    half = Part("half", Unit.POINTS, (one,), not_run=("NER ru",))
    nothing = Part("nothing", Unit.POINTS, not_run=("NER ru",))
    failed = Part("failed", Unit.POINTS, (wrong,), not_run=("NER ru", "NER fr"))
    claim = Claim("9z", "warmth helps", "Table 9", lambda _: [])

    def found(*parts: Part) -> tuple[Verdict, int, int]:
        outcome = Outcome(claim, parts)
        return outcome.verdict, outcome.coverage.judged, outcome.coverage.wanted

    assert found(full, half) == (Verdict.SUPPORTED, 1, 2)
    assert found(full, half, nothing) == (Verdict.NOT_RUN, 0, 1)
    assert found(full, half, nothing, failed) == (Verdict.NOT_SUPPORTED, 1, 3)
    told = sentence(Outcome(claim, (full, half, nothing, failed)))
    assert "; of its 4 parts 2 hold; of its 4 parts 1 was not run" in told


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (Estimate(0.954), Unit.SHARE, "0.95"),
        (Estimate(-1.23, -2, 0), Unit.POINTS, "-1.2 [-2.0, 0.0]"),
        (Estimate(6.35), Unit.TIMES, "6.3"),
    ],
)
def test_numbers_have_the_digits_of_their_unit(value: Estimate, unit: Unit, text: str) -> None:
    assert number(value, unit) == text


def test_the_papers_value_stands_beside_each_claim() -> None:
    texts = {outcome.claim.number: paper_text(outcome) for outcome in PUBLISHED}
    assert texts["1a"] == "kept share of No anchors: 0.95 to 0.99"
    assert texts["4c"] == "mean loss of Sep L1-6 over that of Sep L1-3: 6.3 to 7.2 times"
    assert texts["6a"] == "said in the text; the figure was not published as numbers"
    assert texts["7c"] == "over 0.9 for all four pairs (stated in the text)"


def test_the_json_holds_every_check() -> None:
    found = as_json(PUBLISHED, paper_scale=True, config_hash="abc")
    assert (found["config"], found["paper_scale"]) == ("abc", True)
    assert found["counts"] == {"supported": 12, "not supported": 0, "not enough signal": 0, "not run": 4}
    first: dict[str, Any] = found["claims"][0]
    assert first["effect"]["where"] == "Parsing zh"
    assert first["effect"]["value"] == pytest.approx(27.4 / 28.8)
    assert (len(first["parts"][0]["checks"]), first["paper"]["verdict"]) == (6, "supported")
    for each in (first, first["parts"][0]):
        assert (each["cells_judged"], each["cells_run"], each["cells_wanted"], each["counted_in"]) == (6, 6, 6, "cells")
    assert first["stands"] == "supported: 6 of 6 cells"
    assert found["claims"][10]["paper"] == {
        "verdict": None,
        "effect": "said in the text; the figure was not published as numbers",
    }
    json.dumps(found, allow_nan=False)


def test_the_page_has_a_row_and_a_sentence_for_each_claim() -> None:
    page = as_markdown(PUBLISHED)
    for outcome in PUBLISHED:
        label = outcome.claim.number
        rests = counted(outcome.coverage)
        assert page.count(f"\n| {label} | {outcome.claim.says} | **{outcome.verdict}** | {rests} |") == 1
        assert f"\n- **{label}, {outcome.verdict}.** {sentence(outcome)}\n" in page


@pytest.mark.parametrize("score", [11.0, 60.0], ids=["refuting", "flat"])
def test_the_command_ends_well_whatever_the_verdicts(score: float, tmp_path: Path) -> None:
    cells = [
        Cell(cell.setting, cell.task, cell.language, 70.0 if cell.setting == "Default" else score, 10.0)
        for cell in published.table1().cells
    ]
    write_records(tmp_path / "in" / "figure3.csv", Cell, cells)
    done = claims_command(tmp_path, "--results", str(tmp_path / "in"), "--config-hash", "abc")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert found["counts"]["not supported"] > 4
    assert found["config"] == "abc"
    assert (tmp_path / "claims.md").read_text(encoding="utf-8").startswith("# What this run shows")


def test_nothing_run_is_a_page_too(tmp_path: Path) -> None:
    done = claims_command(tmp_path)
    assert done.returncode == 0
    assert "16 not run" in done.stderr
    assert json.loads((tmp_path / "claims.json").read_text(encoding="utf-8")) == as_json(
        judge_all(Results()), False, ""
    )
    assert "Language by language" not in (tmp_path / "claims.md").read_text(encoding="utf-8")


def test_one_cell_of_six_is_said_in_every_file(tmp_path: Path) -> None:
    cells = [c for c in published.table1().cells if (c.task, c.language) == ("parsing", "fr")]
    write_records(tmp_path / "in" / "figure3.csv", Cell, cells)
    done = claims_command(tmp_path, "--results", str(tmp_path / "in"))
    found = {claim["claim"]: claim for claim in json.loads((tmp_path / "claims.json").read_text())["claims"]}
    claim = found["1b"]
    assert (claim["verdict"], claim["cells_judged"], claim["cells_run"], claim["cells_wanted"]) == (
        "supported",
        1,
        1,
        6,
    )
    assert claim["stands"] == "supported on what was run: 1 of 6 cells"
    assert claim["sentence"].startswith(
        "On what was run, 1 of 6 cells, the values of this run agree with the claim that"
    )
    page = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert f"| {claim['says']} | **supported** | 1 of 6 cells |" in page
    assert claim["sentence"] in page
    assert "on fewer cells than the claim is about" in page.splitlines()[2]
    assert "on fewer cells than the claim is about" in done.stderr
    assert found["5"]["stands"] == "not run: 0 of 30 rows could be judged"


def test_bad_input_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "figure3.csv").write_text("setting,task\n", encoding="utf-8")
    (tmp_path / "figure7.csv").write_text("layer,pair,model,cka\nL0,en-fr,bilingual,much\n", encoding="utf-8")
    done = claims_command(tmp_path, "--results", str(tmp_path))
    assert done.returncode == 2
    assert "figure7.csv, line 2: 'cka' is 'much'" in done.stderr
    assert not (tmp_path / "claims.json").exists()
