"""Verdicts as files, in words and on the screen; on the paper's numbers and on the committed runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_study import CELL_LANGUAGES, TASKS, cell, table

from docs import verdicts as paper
from xling.core.io import read_json
from xling.report.claims.__main__ import main
from xling.report.claims.render import AT_FLOOR, as_markdown, judged, number, row, seeds_text, worded
from xling.report.claims.show import main as show
from xling.report.claims.show import verdict_lines
from xling.report.items import item_covariances, write_items
from xling.report.names import SETTINGS
from xling.report.records import Cell, Results, read_results, write_records
from xling.report.rule import Verdict

REFERENCE = Path(__file__).resolve().parents[3] / "results/reference/mini"
PAPER = judged(paper.noisy_paper(), "abc")
# The appendix of the analysis that the rule comes from; the predicates of the other claims have changed since.
MINI = {"2a": "supported", "3": "undecided", "4a": "supported", "4c": "contradicted", "6b": "undecided"}
MINI |= {"6a": "contradicted", "6c": "supported", "7a": "supported", "7b": "contradicted", "7c": "undecided"}
MINI |= {"1b": "undecided", "5": "supported"}


def by_number(stored: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {claim["claim"]: claim for claim in stored["claims"]}


def leaves(value: Any) -> list[Any]:
    """Return everything in a structure, whatever the order of its keys."""
    parts = [item for _, item in sorted(value.items())] if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in leaves(part)] if isinstance(value, dict | list) else [value]


def test_the_published_numbers_with_their_noise_contradict_nothing_and_support_nearly_all() -> None:
    printed = [claim["verdict"] for claim in PAPER["claims"] if claim["verdict"] != "not run"]
    assert len(printed) == 13  # twelve, and 4e
    assert Verdict.CONTRADICTED not in printed
    assert printed.count(Verdict.SUPPORTED) >= 11
    assert paper.table(PAPER) in paper.PAGE.read_text(encoding="utf-8"), "run python -m docs.verdicts"


def test_all_that_is_said_of_mini_follows_from_its_numbers_and_is_what_the_analysis_found() -> None:
    kept = read_json(REFERENCE / "claims.json")
    found = judged(read_results([REFERENCE / "records"], kept["paper_scale"]), kept["config"])
    stored = by_number(found)
    assert {name: stored[name]["verdict"] for name in MINI} == MINI
    assert "one seed: its variance is taken from Table 1" in stored["6b"]["sentence"]
    assert found.keys() == kept.keys()  # nothing says that it learnt nothing
    assert leaves(found) == pytest.approx(leaves(kept))


@pytest.mark.parametrize(
    ("value", "border", "text"),
    [(0.62, 0.75, "0.62"), (0.749, 0.75, "0.749"), (0.75, 0.75, "0.75"), (-0.001, 0.9, "0.00")],
)
def test_a_number_is_not_rounded_onto_its_border(value: float, border: float, text: str) -> None:
    assert number(value, {"unit": "share", "border": border}) == text


def test_one_seed_is_said_and_never_contradicts() -> None:
    stored = judged(table({("No anchors", t, x): 11.0 for t in TASKS for x in CELL_LANGUAGES}))
    claim = by_number(stored)["1a"]
    assert (claim["verdict"], seeds_text(claim), row(claim)[-1]) == ("undecided", *["unknown: one seed"] * 2)
    assert "seed variance unknown" in claim["sentence"]
    assert "one seed, so seed variance is unknown" in stored["headline"]


def test_fewer_cells_than_the_claim_is_about_are_said() -> None:
    claim = by_number(judged(table(drop=("ru", "zh"))))["1b"]
    assert (claim["judged"], claim["wanted"]) == (2, 6)
    assert "on 2 of 6 cells" in claim["sentence"]
    assert "not run, or not in full: XNLI ru" in claim["sentence"]
    assert claim["sentence"].endswith(" (missing there: Default, No anchors, Default anchors).")


FEW = ("xnli", "ner", "ru", "zh", "Default anchors")  # what a small study leaves out: it has parsing in French


@pytest.mark.parametrize(
    ("default", "shown"), [(14.0, "not enough signal"), (90.0, "supported")], ids=["weak", "with signal"]
)
def test_what_was_run_without_signal_is_not_told_as_not_run(default: float, shown: str) -> None:
    stored = judged(table({("Default", "parsing", "fr"): default}, drop=FEW))
    claims = by_number(stored)
    assert claims["1a"]["verdict"] == ("not run" if default < 15 else "supported")
    assert (worded(claims["1a"]), worded(claims["1b"])) == (shown, "not run")
    assert (row(claims["1a"])[5], f"- **1a, {shown}.**" in as_markdown(stored)) == (f"**{shown}**", True)
    assert ("seven have not enough signal" in stored["headline"]) == (default < 15)


@pytest.mark.parametrize(("gain", "reach", "said"), [(2.7, 2.5, True), (4.9, 2.5, False), (5.0, 9.0, False)])
def test_models_that_learnt_nothing_are_told_first(gain: float, reach: float, said: bool) -> None:
    """One of ten cells may be above its floor by chance, a little beyond its own interval."""
    scores = dict.fromkeys(SETTINGS, 10.0) | {"Extra anchors": 10.0 + gain}
    cells = [cell(name, "ner", "fr", score, low=score - reach, high=score + reach) for name, score in scores.items()]
    stored = judged(Results(figure3=tuple(cells)))
    lines = as_markdown(stored).splitlines()
    assert (lines[2] == AT_FLOOR, verdict_lines(stored)[0] == AT_FLOOR, "at_floor" in stored) == (said,) * 3


def test_the_command_ends_well_whatever_the_verdicts(tmp_path: Path, call: Callable[..., Any]) -> None:
    outputs = ("--out-json", tmp_path / "claims.json", "--out-md", tmp_path / "claims.md")
    write_records(tmp_path / "in/figure3.csv", Cell, [])
    assert call(main, "--results", tmp_path / "in", "--config-hash", "abc", *outputs).code == 0
    assert read_json(tmp_path / "claims.json")["config"] == "abc"
    assert call(show, "--claims", tmp_path / "claims.json", "--report", "out/report.html").code == 0
    (tmp_path / "in/figure7.csv").write_text("layer,pair,model,cka\nL0,en-fr,bilingual,much\n", encoding="utf-8")
    (tmp_path / "claims.json").unlink()
    code, error, _ = call(main, "--results", tmp_path / "in", *outputs)
    assert (code, "figure7.csv, line 2: cka: expected a number, found the text 'much'" in error) == (2, True)
    assert not (tmp_path / "claims.json").exists()


def test_what_make_demo_ends_with() -> None:
    lines = verdict_lines(PAPER)
    assert (lines[0], lines[-1]) == (PAPER["headline"], "  not run: 6a, 6b, 6c, 7c")
    assert [line.split()[0] for line in lines[1:-1]] == [x for x in by_number(PAPER) if x not in lines[-1]]
    assert verdict_lines(judged(Results()))[0] == "Of the paper's 17 claims, 17 were not run."


def test_scores_on_the_same_sentences_are_paired_where_their_counts_are_kept(tmp_path: Path) -> None:
    right = np.arange(400) % 10 < 6
    names = [(name, seed) for name in ("Default", "No anchors", "Extra anchors") for seed in (1, 2)]
    cells = [cell(x, "xnli", "fr", 60.0 + s, seed=s, low=56.2 + s, high=65.8 + s, chance=33.3) for x, s in names]
    counts = np.stack([right, np.ones_like(right)], axis=-1).astype(np.int64)[None]
    write_items(tmp_path / "items.npz", {("xnli", "fr", *name): counts for name in names})
    results = Results(figure3=tuple(cells))
    alone, paired = (
        by_number(judged(results, covariances=known))["2a"]["parts"][0]
        for known in ({}, item_covariances(tmp_path / "items.npz", cells))
    )
    assert paired["high"] - paired["low"] < 0.6 * (alone["high"] - alone["low"])
