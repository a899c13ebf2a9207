"""The front page shows what the reference run found: its verdicts and its figure are those that the files give."""

import pytest
from doc_blocks import texts_and_marks
from embedded import ROOT

from docs import headline
from xling.report import style
from xling.report.figures import kept
from xling.report.measured import Study
from xling.report.records import Cell, Results


def cells(default, other, floor=10.0):
    rows = [
        Cell(setting=setting, task="ner", language=language, score=score, chance=floor)
        for language in ("fr", "ru")
        for setting, score in (("Default", default), ("No anchors", other))
    ]
    return Study(Results(figure3=tuple(rows)), redraws=0)


def test_the_kept_share_is_a_mean_over_languages_with_signal_and_tasks_without_are_named():
    known = cells(30.0, 20.0)
    assert kept.languages_with_signal(known) == {"ner": ["fr", "ru"]}
    shares = kept.kept_shares([known] * 3, ["No anchors", "Sep Emb"])
    assert [mark[:3] for mark in shares] == [("ner", "fr ru", "No anchors")] * 3
    here = tuple(cell for (setting, _, x), cell in known.cells.items() if x == "fr" or setting == "Default")
    french = Study(Results(figure3=here), redraws=0)
    marks = kept.kept_shares([french, french, cells(30.0, 25.0)], ["No anchors"])  # run in one of the two languages
    assert [(mark.languages, round(mark.kept, 9)) for mark in marks] == [("fr", 0.5), ("fr", 0.5), ("fr", 0.75)]
    assert kept.languages_with_signal(cells(14.9, 12.0)) == {}
    assert headline.without_signal(known)[0].startswith("Not judged: XNLI, Parsing, because")


def test_the_readme_and_the_committed_figure_show_the_reference_run(tmp_path):
    read, claims = headline.read_reference()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = headline.block(Study(Results(figure3=tuple(read)), redraws=0), claims)
    assert headline.with_block(readme, block) == readme, "run python -m docs.headline"
    assert "](docs/headline.svg)" in readme
    with style.styled():
        style.save_images(headline.draw(read), tmp_path, "headline", ["svg"])
    said, marks = texts_and_marks(ROOT / "docs/headline.svg")
    said_now, marks_now = texts_and_marks(tmp_path / "headline.svg")
    assert said == said_now, "run python -m docs.headline"
    assert len(marks) > 100
    assert marks == pytest.approx(marks_now, abs=0.1), "run python -m docs.headline"
