"""The verdicts as files, in words and on the screen; the command ends well whatever they are."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_files import verdicts

from xling.report import published
from xling.report.claims.__main__ import main
from xling.report.claims.render import as_json, as_markdown, judge_all, paper_text, summary
from xling.report.claims.show import main as show
from xling.report.claims.show import verdict_lines
from xling.report.claims.verdict import Check, Claim, Coverage, Outcome, Over, Part, Relation, Unit, Verdict
from xling.report.claims.words import brief_standing, count_text, counted, sentence, standing
from xling.report.estimate import Estimate
from xling.report.means import Means, means
from xling.report.records import Cell, write_records

PUBLISHED = judge_all(means(published.results()))
NUMBERS = ["1a", "1b", "2a", "2b", "3", "4a", "4b", "4c", "4d", "5", "6a", "6b", "6c", "7a", "7b", "7c"]
UNPRINTED = "said in the text; the figure was not published as numbers"
Judged = Callable[..., dict[str, Any]]


@pytest.fixture
def judged(tmp_path: Path, call: Callable[..., Any]) -> Judged:
    """Return a function that writes cells, runs the command on them and returns the verdicts."""

    def judge(cells: list[Cell], *arguments: str) -> dict[str, Any]:
        write_records(tmp_path / "in/figure3.csv", Cell, cells)
        outputs = ("--out-json", tmp_path / "claims.json", "--out-md", tmp_path / "claims.md")
        assert call(main, "--results", tmp_path / "in", *arguments, *outputs).code == 0
        return dict(json.loads((tmp_path / "claims.json").read_text(encoding="utf-8")))

    return judge


def check(value: float, where: str = "NER fr", reach: float | None = None) -> Check:
    low, high = (None, None) if reach is None else (value - reach, value + reach)
    return Check(where, Estimate(value, low, high), Relation.ABOVE)


def made(*parts: Part) -> Outcome:
    return Outcome(Claim("9z", "warmth helps", "Table 9", lambda _: parts), parts)


def part(*checks: Check, **more: Any) -> Part:
    return Part("warm minus cold", Unit.POINTS, checks, **more)


def test_every_sub_claim_is_there_once_and_the_published_numbers_support_what_they_can_judge() -> None:
    assert [outcome.claim.number for outcome in PUBLISHED] == NUMBERS
    assert summary(PUBLISHED) == "12 supported, 4 not run."


@pytest.mark.parametrize(
    ("outcome", "verdict", "told"),
    [
        (
            made(part(check(3.0, reach=1.0), check(9.0, "NER ru"))),
            Verdict.SUPPORTED,
            ["On all 2 cells", "agree with the claim that warmth helps", "above 0 points in 2 of 2 (weakest 3.0 [2.0, 4.0], NER fr)",
             "no interval is known in 1 of 2"],
        ),
        (
            made(part(check(-0.04, reach=1.0), check(9.0, "NER ru"))),
            Verdict.NOT_SUPPORTED,
            ["do not agree", "in 1 of 2 (weakest -0.04 [-1.0, 1.0], NER fr)", "the interval reaches beyond the border in 1 of 2"],
        ),
        (made(part(left_out=("NER fr",))), Verdict.NO_SIGNAL, ["cannot tell whether warmth helps", "too little signal in NER fr"]),
        (made(part()), Verdict.NOT_RUN, ["Not checked whether warmth helps", "warm minus cold could not be judged"]),
        (
            made(part(check(1.0), left_out=("NER ru",), not_run=tuple(f"XNLI {n}" for n in range(8)), lacking=("EA",))),
            Verdict.SUPPORTED,
            ["On what could be judged, 1 of 10 cells", "left out for too little signal: NER ru", "XNLI 5 and 2 more (without EA)."],
        ),
    ],
)  # fmt: skip
def test_each_verdict_in_words(outcome: Outcome, verdict: Verdict, told: list[str]) -> None:
    assert outcome.verdict is verdict
    assert [text for text in told if text not in sentence(outcome)] == []


@pytest.mark.parametrize(
    ("verdict", "counts", "text", "brief"),
    [
        (Verdict.SUPPORTED, (6, 6), "supported: 6 of 6 cells", "supported, 6 of 6 cells"),
        (Verdict.SUPPORTED, (1, 1), "supported on what was run: 1 of 6 cells", "supported, only 1 of 6 cells"),
        (Verdict.SUPPORTED, (1, 2), "supported on what could be judged: 1 of 6 cells", "supported, only 1 of 6 cells"),
        (Verdict.NOT_SUPPORTED, (0, 0), "not supported on what was run: 0 of 6 cells in full", "not supported, only 0 of 6 cells"),
        (Verdict.NO_SIGNAL, (0, 6), "not enough signal: 0 of 6 cells could be judged", "not enough signal, 0 of 6 cells"),
        (Verdict.NOT_RUN, (0, 1), "not run: 0 of 6 cells could be judged", "not run, 0 of 6 cells"),
    ],
)  # fmt: skip
def test_a_verdict_says_what_it_rests_on(verdict: Verdict, counts: tuple[int, int], text: str, brief: str) -> None:
    coverage = Coverage(*counts, 6, Over.CELLS)
    assert (standing(verdict, coverage), brief_standing(verdict, coverage)) == (text, brief)


@pytest.mark.parametrize(
    ("value", "low", "high", "unsure"),
    [(1, 0.1, 2, False), (1, 0, 2, True), (-1, -2, 0, False), (-1, -2, 0.1, True), (1, None, None, False)],
)
def test_an_interval_may_reach_beyond_the_border(value: float, low: Any, high: Any, unsure: bool) -> None:
    assert Check("NER fr", Estimate(value, low, high), Relation.ABOVE).unsure is unsure


def test_a_claim_is_as_covered_as_the_least_covered_part_that_decides() -> None:
    one, two, wrong = check(1.0), check(1.0, "NER ru"), check(-1.0, "NER zh")
    full, half, nothing = part(one, two), part(one, not_run=("NER ru",)), part(not_run=("NER ru",))
    failed = part(wrong, not_run=("NER ru", "NER fr"))
    for parts, expected in (
        ((full, half), (Verdict.SUPPORTED, 1, 2)),
        ((full, half, nothing), (Verdict.NOT_RUN, 0, 1)),
        ((full, half, nothing, failed), (Verdict.NOT_SUPPORTED, 1, 3)),
    ):
        found = made(*parts)
        assert (found.verdict, found.coverage.judged, found.coverage.wanted) == expected
    assert "; of its 4 parts 2 hold; of its 4 parts 1 was not run" in sentence(found)


def test_the_papers_value_stands_beside_each_claim() -> None:
    texts = {outcome.claim.number: paper_text(outcome) for outcome in PUBLISHED}
    assert texts["1a"] == "kept share of No anchors: 0.95 to 0.99"
    assert texts["4c"] == "mean loss of Sep L1-6 over that of Sep L1-3: 6.3 to 7.2 times"
    assert texts["6a"] == UNPRINTED
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
    assert found["claims"][10]["paper"] == {"verdict": None, "effect": UNPRINTED}
    json.dumps(found, allow_nan=False)


def test_the_page_has_a_row_and_a_sentence_for_each_claim() -> None:
    page = as_markdown(PUBLISHED)
    for outcome in PUBLISHED:
        label, rests = outcome.claim.number, counted(outcome.coverage)
        assert page.count(f"\n| {label} | {outcome.claim.says} | **{outcome.verdict}** | {rests} |") == 1
        assert f"\n- **{label}, {outcome.verdict}.** {sentence(outcome)}\n" in page


@pytest.mark.parametrize("score", [11.0, 60.0], ids=["refuting", "flat"])
def test_the_command_ends_well_whatever_the_verdicts(score: float, judged: Judged) -> None:
    cells = [
        replace(cell, score=70.0 if cell.setting == "Default" else score, chance=10.0)
        for cell in published.table1().cells
    ]
    found = judged(cells, "--config-hash", "abc")
    assert found["counts"]["not supported"] > 4
    assert found["config"] == "abc"


def test_nothing_run_is_a_page_too(judged: Judged, tmp_path: Path) -> None:
    assert judged([]) == as_json(judge_all(Means()), False, "")
    assert "Language by language" not in (tmp_path / "claims.md").read_text(encoding="utf-8")


def test_one_cell_of_six_is_said_in_every_file(judged: Judged, tmp_path: Path) -> None:
    cells = [c for c in published.table1().cells if (c.task, c.language) == ("parsing", "fr")]
    found = {claim["claim"]: claim for claim in judged(cells)["claims"]}
    claim, counts = found["1b"], ("cells_judged", "cells_run", "cells_wanted")
    assert (claim["verdict"], *(claim[key] for key in counts)) == ("supported", 1, 1, 6)
    assert claim["stands"] == "supported on what was run: 1 of 6 cells"
    assert claim["sentence"].startswith("On what was run, 1 of 6 cells, the values of this run agree")
    page = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert f"| {claim['says']} | **supported** | 1 of 6 cells |" in page
    assert claim["sentence"] in page
    assert "on fewer cells than the claim is about" in page.splitlines()[2]
    assert found["5"]["stands"] == "not run: 0 of 30 rows could be judged"
    mixed = [(Verdict.SUPPORTED, True), (Verdict.SUPPORTED, False), (Verdict.NOT_RUN, False)]
    assert count_text(mixed) == "2 supported (1 of them on fewer cells than the claim is about), 1 not run"


def test_bad_input_leaves_nothing_behind(tmp_path: Path, call: Callable[..., Any]) -> None:
    (tmp_path / "figure7.csv").write_text("layer,pair,model,cka\nL0,en-fr,bilingual,much\n", encoding="utf-8")
    outputs = ("--out-json", tmp_path / "claims.json", "--out-md", tmp_path / "claims.md")
    code, error = call(main, "--results", tmp_path, *outputs)
    assert code == 2
    assert "figure7.csv, line 2: 'cka' is 'much'" in error
    assert not (tmp_path / "claims.json").exists()


def test_what_make_demo_ends_with(tmp_path: Path, call: Callable[..., Any]) -> None:
    lines = verdict_lines(verdicts(Means()))
    assert lines[0] == "The paper's claims in this run: 16 not run"
    assert [line.split()[0] for line in lines[1:]] == NUMBERS
    cells = tuple(cell for cell in means(published.results()).figure3 if cell.language == "fr")
    some, whole = verdict_lines(verdicts(Means(figure3=cells))), verdict_lines(verdicts())
    assert "6 supported (6 of them on fewer cells than the claim is about), " in some[0]
    assert some[2].startswith("  1b  supported, only 2 of 6 cells ")
    assert whole[2].startswith("  1b  supported, 6 of 6 cells ")
    (tmp_path / "claims.json").write_text(json.dumps(verdicts()), encoding="utf-8")
    assert call(show, "--claims", tmp_path / "claims.json", "--report", "out/report.html").code == 0
