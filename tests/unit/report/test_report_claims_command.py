"""The verdicts as files, and in words; the command ends well whatever they are."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xling.report import published
from xling.report.claims.render import as_json, as_markdown, judge_all, paper_text, summary
from xling.report.claims.verdict import Check, Claim, Outcome, Part, Relation, Unit, Verdict
from xling.report.claims.words import number, sentence
from xling.report.estimate import Estimate
from xling.report.record_files import write_records
from xling.report.records import Cell, Results

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
    assert summary(PUBLISHED) == "12 supported, 0 not supported, 0 not enough signal, 4 not run."


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            Verdict.SUPPORTED,
            "This run shows that warmth helps: warm minus cold is above 0 points in 2 of 2 (weakest 3.0 [2.0, 4.0], NER fr).",
        ),
        (
            Verdict.NOT_SUPPORTED,
            "This run does not show that warmth helps: warm minus cold is above 0 points in 1 of 2 (weakest 0.0 [-1.0, 1.0], NER fr).",
        ),
        (Verdict.NO_SIGNAL, "This run cannot tell whether warmth helps: there is too little signal in NER fr."),
        (Verdict.NOT_RUN, "Not checked whether warmth helps: warm minus cold was not run."),
    ],
)
def test_each_verdict_in_words(verdict: Verdict, text: str) -> None:
    assert made(verdict).verdict is verdict
    assert sentence(made(verdict)) == text


def test_what_was_left_out_is_said_beside_a_verdict() -> None:
    check = Check("NER fr", Estimate(1.0), Relation.ABOVE)
    part = Part("warm minus cold", Unit.POINTS, (check,), ("NER ru",), tuple(f"XNLI {n}" for n in range(8)))
    text = sentence(Outcome(Claim("9z", "warmth helps", "Table 9", lambda _: [part]), (part,)))
    assert text.endswith(
        "; left out for too little signal: NER ru; not run: XNLI 0, XNLI 1, XNLI 2, XNLI 3, XNLI 4, XNLI 5 and 2 more."
    )


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
    assert found["claims"][10]["paper"] == {
        "verdict": None,
        "effect": "said in the text; the figure was not published as numbers",
    }
    json.dumps(found, allow_nan=False)


def test_the_page_has_a_row_and_a_sentence_for_each_claim() -> None:
    page = as_markdown(PUBLISHED)
    for outcome in PUBLISHED:
        label = outcome.claim.number
        assert page.count(f"\n| {label} | {outcome.claim.says} | **{outcome.verdict}** |") == 1
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


def test_bad_input_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "figure3.csv").write_text("setting,task\n", encoding="utf-8")
    (tmp_path / "figure7.csv").write_text("layer,pair,model,cka\nL0,en-fr,bilingual,much\n", encoding="utf-8")
    done = claims_command(tmp_path, "--results", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.endswith("figure7.csv, line 2: 'cka' should be a number, found 'much'\n")
    assert not (tmp_path / "claims.json").exists()
