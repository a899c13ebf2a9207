"""On how many cells of Table 1 the verdicts of claims 1 to 5 rest, and what a cell that was not run does to them."""

from collections.abc import Mapping

import pytest
from made_up_table import CC, DA, EA, L3, L6, LANGUAGES, TASKS, D, Key, outcome, study, whole

from xling.report import published
from xling.report.claims.verdict import Verdict
from xling.report.means import Means, means


def without(missing: set[Key], changes: Mapping[Key, float] | None = None) -> Means:
    """Return the made-up study without some cells of some settings."""
    cells = study(changes).figure3
    return Means(figure3=tuple(c for c in cells if (c.setting, c.task, c.language) not in missing))


CELLS = [(task, language) for task in TASKS for language in LANGUAGES]
ONLY_FR = {(s, t, x) for s in (DA, L3) for t, x in CELLS if x != "fr"}


@pytest.mark.parametrize(
    ("missing", "judged"),
    [(set(), 9), ({(DA, "ner", "zh")}, 8), (ONLY_FR, 3), (ONLY_FR | {(CC, "xnli", "fr")}, 2)],
)
def test_4d_counts_cells_where_all_ten_settings_ran(missing: set[Key], judged: int) -> None:
    found = outcome("4d", without(missing))
    assert found.verdict is Verdict.SUPPORTED
    lowest, kept = (part.coverage for part in found.parts)
    assert (lowest.judged, lowest.run, lowest.wanted) == (judged, judged, 9)
    assert (kept.judged, kept.wanted) == (6, 6)
    assert found.coverage == lowest


def test_4d_with_nine_settings_everywhere_is_not_run_though_the_lowest_is_lowest() -> None:
    found = outcome("4d", study(drop=(L6,)))
    assert found.parts[0].verdict is Verdict.NOT_RUN
    assert found.verdict is Verdict.NOT_RUN
    assert found.parts[0].lacking == (L6,)


@pytest.mark.parametrize(("score", "expected"), [(44.9, Verdict.NOT_SUPPORTED), (45.1, Verdict.SUPPORTED)])
def test_4d_a_cell_with_fewer_settings_can_refute(score: float, expected: Verdict) -> None:
    found = outcome("4d", without({(L3, "ner", "fr")}, {(L6, "ner", "fr"): score}))
    assert found.verdict is expected
    assert "NER fr" not in found.parts[0].judged
    assert "NER fr (9 of 10 settings)" in [check.where for check in found.parts[0].checks]


WANTED = {"1a": 6, "1b": 6, "2a": 6, "2b": 9, "3": 9, "4a": 9, "4b": 9, "4c": 9, "4d": 9, "5": 30}


@pytest.mark.parametrize(("number", "wanted"), WANTED.items())
def test_a_whole_study_covers_every_cell(number: str, wanted: int) -> None:
    for results in (study(), study(paper_scale=True), means(published.results())):
        found = outcome(number, results).coverage
        assert (found.judged, found.run, found.wanted, found.whole) == (wanted, wanted, wanted, True)
        assert found.over == ("rows" if number == "5" else "cells")


@pytest.mark.parametrize(
    ("number", "judged", "wanted"),
    [("1a", 4, 6), ("1b", 4, 6), ("2a", 4, 6), ("2b", 6, 9), ("3", 6, 9), ("4a", 6, 9), ("4b", 6, 9), ("4c", 6, 9)],
)
def test_one_pair_fewer_is_counted(number: str, judged: int, wanted: int) -> None:
    found = outcome(number, study(drop=("ru",))).coverage
    assert (found.judged, found.run, found.wanted, found.whole) == (judged, judged, wanted, False)


@pytest.mark.parametrize(("default", "judged"), [(15.0, 6), (14.99, 5)])
def test_a_cell_without_signal_was_run_but_is_not_judged(default: float, judged: int) -> None:
    found = outcome("2a", study({(D, "xnli", "zh"): default})).coverage
    assert (found.judged, found.run, found.wanted) == (judged, 6, 6)


def test_cells_that_lack_their_counterpart_are_not_judged() -> None:
    found = outcome("2b", without({(EA, "ner", "zh")}))
    assert (found.coverage.judged, found.coverage.run, found.coverage.wanted) == (6, 8, 9)


@pytest.mark.parametrize("free", [("ner",), TASKS])
def test_4c_counts_a_task_once_whichever_way_it_is_judged(free: tuple[str, ...]) -> None:
    changes = {key: value for task in free for key, value in whole(L3, task, 90.0, 70.0, 50.0).items()}
    found = outcome("4c", study(changes))
    assert found.verdict is Verdict.SUPPORTED
    assert sum(part.coverage.wanted for part in found.parts) == 9
    assert found.coverage.whole


WEAK_FR = {(D, task, "fr"): 14.99 for task in TASKS}
WEAK = WEAK_FR | {(D, task, x): 14.99 for task in TASKS for x in ("ru", "zh")}


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (study(WEAK), Verdict.NO_SIGNAL),  # all were run, none has signal
        (study(WEAK, drop=("zh",)), Verdict.NOT_RUN),  # some were not run
        (study(WEAK_FR, drop=("ru", "zh")), Verdict.NOT_RUN),
        (study(WEAK_FR, drop=("ru",)), Verdict.SUPPORTED),  # zh can be judged
    ],
)
@pytest.mark.parametrize("number", ["1a", "2a", "4b", "4c"])
def test_signal_is_lacking_only_where_all_was_run(number: str, results: Means, expected: Verdict) -> None:
    assert outcome(number, results).verdict is expected
