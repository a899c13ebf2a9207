"""Verdicts as files, in words and on the screen; on the paper's numbers and on the committed runs."""

from pathlib import Path

import numpy as np
import pytest
from made_up_study import CELL_LANGUAGES, TASKS, cell, table

from docs import verdicts as paper
from xling.core.io import read_json
from xling.report.claims.__main__ import main
from xling.report.claims.render import AT_FLOOR, as_markdown, judged, number, row
from xling.report.claims.show import main as show
from xling.report.claims.show import verdict_lines
from xling.report.items import write_items
from xling.report.names import SETTINGS
from xling.report.records import Cell, Results, read_results, write_records
from xling.report.rule import Verdict

REFERENCE = Path(__file__).resolve().parents[3] / "results/reference/mini"
PAPER = judged(paper.noisy_paper(), "abc")


def by_number(stored):
    return {claim["claim"]: claim for claim in stored["claims"]}


def leaves(value):
    """Return everything in a structure, whatever the order of its keys."""
    parts = [item for _, item in sorted(value.items())] if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in leaves(part)] if isinstance(value, dict | list) else [value]


def test_the_published_numbers_with_their_noise_contradict_nothing_and_support_nearly_all():
    printed = [claim["verdict"] for claim in PAPER["claims"] if claim["verdict"] != "not run"]
    assert len(printed) == 13  # twelve, and 4e
    assert Verdict.CONTRADICTED not in printed
    assert printed.count(Verdict.SUPPORTED) >= 11
    assert paper.table(PAPER) in paper.PAGE.read_text(encoding="utf-8"), "run python -m docs.verdicts"


def test_all_that_is_said_of_mini_follows_from_its_numbers():
    kept = read_json(REFERENCE / "claims.json")
    found = judged(read_results([REFERENCE / "records"], kept["paper_scale"]), kept["config"])
    assert "one seed: its variance is taken from Table 1" in by_number(found)["6b"]["sentence"]
    assert found.keys() == kept.keys()  # nothing says that it learnt nothing
    assert leaves(found) == pytest.approx(leaves(kept))


def test_a_number_is_not_rounded_onto_its_border():
    shown = {0.62: "0.62", 0.749: "0.749", 0.75: "0.75", -0.001: "0.00"}
    assert {value: number(value, {"unit": "share", "threshold": 0.75}) for value in shown} == shown


FEW = ("xnli", "ner", "ru", "zh", "Default anchors")  # what a small study leaves out: it has parsing in French
NOT_RUN = "not run, or not in full: XNLI ru, XNLI zh, Parsing ru, Parsing zh (missing there: Default, No anchors, Default anchors)."


@pytest.mark.parametrize(
    ("results", "number", "verdict", "shown", "said", "headline"),
    [
        (table({("No anchors", t, x): 11.0 for t in TASKS for x in CELL_LANGUAGES}), "1a", "undecided", "undecided",
         "seed variance unknown", "There is one seed, so seed variance is unknown"),
        (table(drop=("ru", "zh")), "1b", "supported", "supported", f"on 2 of 6 cells: 2 clear; seed variance unknown; {NOT_RUN}", ""),
        (table({("Default", "parsing", "fr"): 14.0}, drop=FEW), "1a", "not run", "not enough signal",
         "left out for too little signal: Parsing fr", "seven have not enough signal"),
        (table({("Default", "parsing", "fr"): 14.0}, drop=FEW), "1b", "not run", "not run", "Default anchors", ""),
        (table(drop=FEW), "1a", "supported", "supported", "on 1 of 9 cells: 1 clear", ""),
    ],
)  # fmt: skip
def test_verdicts_say_what_they_rest_on(results, number, verdict, shown, said, headline):
    stored = judged(results)
    claim = by_number(stored)[number]
    assert (claim["verdict"], row(claim)[5], said in claim["sentence"]) == (verdict, f"**{shown}**", True)
    assert headline in stored["headline"]
    assert f"- **{number}, {shown}.** {claim['sentence']}" in as_markdown(stored).splitlines()
    assert row(claim)[-1] == ("unknown: one seed" if verdict == "undecided" else "-")


@pytest.mark.parametrize(("gain", "reach", "said"), [(2.7, 2.5, True), (4.9, 2.5, False), (5.0, 9.0, False)])
def test_models_that_learnt_nothing_are_told_first(gain, reach, said):
    """One of ten cells may be above its floor by chance, a little beyond its own interval."""
    scores = dict.fromkeys(SETTINGS, 10.0) | {"Extra anchors": 10.0 + gain}
    cells = [cell(name, "ner", "fr", score, low=score - reach, high=score + reach) for name, score in scores.items()]
    stored = judged(Results(figure3=tuple(cells)))
    lines = as_markdown(stored).splitlines()
    assert (lines[2] == AT_FLOOR, verdict_lines(stored)[0] == AT_FLOOR, "at_floor" in stored) == (said,) * 3


def test_the_commands_judge_with_paired_items_show_verdicts_and_refuse_bad_records(tmp_path, call):
    names = [(name, seed) for name in ("Default", "No anchors", "Extra anchors") for seed in (1, 2)]
    cells = [cell(x, "xnli", "fr", 60.0 + s, seed=s, low=56.2 + s, high=65.8 + s, chance=33.3) for x, s in names]
    write_records(tmp_path / "in/figure3.csv", Cell, cells)
    counts = np.stack([np.arange(400) % 10 < 6, np.ones(400)], axis=-1).astype(np.int64)[None]
    write_items(tmp_path / "items.npz", {("xnli", "fr", *name): counts for name in names})
    out, given = tmp_path / "claims.json", ("--results", tmp_path / "in", "--config-hash", "abc")
    command = (main, *given, "--out-json", out, "--out-md", tmp_path / "claims.md")
    widths = []
    for items in ((), ("--items", tmp_path / "items.npz")):  # the models err in the same sentences
        assert call(*command, *items).code == 0
        part = by_number(read_json(out))["2a"]["parts"][0]
        widths.append(part["high"] - part["low"])
    assert widths[1] < 0.6 * widths[0]
    assert read_json(out)["config"] == "abc"
    assert call(show, "--claims", out, "--report", "out/report.html").code == 0
    out.unlink()
    (tmp_path / "in/figure7.csv").write_text("layer,pair,model,cka\nL0,en-fr,bilingual,much\n", encoding="utf-8")
    code, error, _ = call(*command)
    assert (code, "figure7.csv, line 2: cka: expected a number, found the text 'much'" in error) == (2, True)
    assert not out.exists()


def test_what_make_demo_ends_with():
    lines = verdict_lines(PAPER)
    assert (lines[0], lines[-1]) == (PAPER["headline"], "  not run: 6a, 6b, 6c, 7c")
    assert [line.split()[0] for line in lines[1:-1]] == [x for x in by_number(PAPER) if x not in lines[-1]]
