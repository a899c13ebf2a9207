"""The front page shows what the reference run found: its verdicts and its figure are those that the files give."""

from pathlib import Path

import pytest
from doc_blocks import texts_and_marks
from embedded import ROOT

from docs import headline
from xling.report import style
from xling.report.measured import Study
from xling.report.records import Cell, Results


def cells(default: float, other: float, floor: float = 10.0) -> Study:
    rows = [
        Cell(setting=setting, task="ner", language=language, score=score, chance=floor)
        for language in ("fr", "ru")
        for setting, score in (("Default", default), ("No anchors", other))
    ]
    return Study(Results(figure3=tuple(rows)), redraws=0)


def test_the_kept_share_is_a_mean_over_languages_with_signal() -> None:
    known = cells(30.0, 20.0)
    assert headline.languages_with_signal(known, "ner") == ["fr", "ru"]
    kept = headline.mean_kept(known, "No anchors", "ner", ["fr", "ru"])
    assert kept is not None
    assert kept.value == pytest.approx(0.5)
    assert headline.languages_with_signal(cells(14.9, 12.0), "ner") == []
    assert headline.mean_kept(known, "No anchors", "ner", []) is None
    assert headline.mean_kept(known, "Sep Emb", "ner", ["fr"]) is None


def test_tasks_without_signal_are_named_and_not_shown() -> None:
    assert headline.tasks_with_signal(cells(30.0, 20.0)) == ["ner"]
    assert headline.without_signal(cells(30.0, 20.0)) == ["Too little signal in every language: XNLI, Parsing."]


def test_claims_are_listed_by_verdict() -> None:
    verdicts = {"1a": "undecided", "1b": "supported", "2a": "undecided"}
    claims = [{"claim": name, "verdict": verdict} for name, verdict in verdicts.items()]
    said = "One holds. In detail: supported 1b; undecided 1a, 2a."
    assert headline.verdicts({"headline": "One holds.", "claims": claims}) == said


def test_the_text_between_the_markers_is_replaced() -> None:
    readme = f"before\n{headline.START}\nold\n{headline.END}\nafter"
    assert headline.with_block(readme, "new") == "before\nnew\nafter"


def test_the_readme_shows_the_reference_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (ours, *_), claims = headline.read_reference()
    assert headline.block(ours, claims) in readme, "run python -m docs.headline"
    assert "](docs/headline.svg)" in readme


def test_the_committed_figure_is_the_drawn_one(tmp_path: Path) -> None:
    studies, _ = headline.read_reference()
    with style.styled():
        style.save_images(headline.draw(*studies), tmp_path, "headline", ["svg"])
    said, marks = texts_and_marks(ROOT / "docs/headline.svg")
    said_now, marks_now = texts_and_marks(tmp_path / "headline.svg")
    assert said == said_now, "run python -m docs.headline"
    assert len(marks) > 100
    assert marks == pytest.approx(marks_now, abs=0.1), "run python -m docs.headline"
