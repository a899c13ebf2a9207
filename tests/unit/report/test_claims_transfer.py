"""Claims 1 to 5 on made-up tables: both sides of every border, too little signal, nothing run."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_table import (
    CC,
    DA,
    DEFAULT,
    EA,
    FLOOR,
    L3,
    L6,
    LANGUAGES,
    NA,
    SE,
    SE3,
    SE6,
    TASKS,
    TRANSFER,
    D,
    Key,
    outcome,
    study,
    whole,
)

from xling.report import published
from xling.report.claims.verdict import Verdict
from xling.report.means import CellMean, Means, means
from xling.report.names import SETTINGS


@pytest.mark.parametrize("number", TRANSFER)
@pytest.mark.parametrize("results", [study(), study(paper_scale=True)], ids=["elsewhere", "paper scale"])
def test_the_made_up_study_shows_everything_and_no_study_nothing(number: str, results: Means) -> None:
    assert outcome(number, results).verdict is Verdict.SUPPORTED
    assert outcome(number, Means(paper_scale=results.paper_scale)).verdict is Verdict.NOT_RUN


LEVEL_WITH_NER = whole(CC, "ner", 88.0, 68.0, 48.0)
CC_AT_90 = whole(CC, "xnli", 82.0, 64.0, 46.0) | whole(CC, "ner", 74.0, 58.0, 42.0)
NA_15_BELOW = whole(NA, "xnli", 78.0, 61.0, 44.0) | whole(DA, "xnli", 90.0, 70.0, 50.0)
NA_15_ABOVE = whole(NA, "xnli", 90.0, 70.0, 50.0) | whole(DA, "xnli", 78.0, 61.0, 44.0)
THREE_TIMES = whole(L6, "ner", 75.0, 55.0, 35.0)
THREE_COST_NOTHING = whole(L3, "ner", 90.0, 70.0, 50.0)

BORDERS: list[tuple[str, dict[Key, float], bool]] = [
    ("1a", {(NA, "xnli", "fr"): 70.0}, True),
    ("1a", {(NA, "xnli", "fr"): 69.9}, False),
    ("1a", {(NA, "parsing", "zh"): 40.0}, True),
    ("1a", {(NA, "parsing", "zh"): 39.9}, False),
    ("1a", {(NA, "ner", "fr"): 10.0}, True),  # NER is not asked
    ("1b", NA_15_BELOW, True),
    ("1b", NA_15_BELOW | {(NA, "xnli", "fr"): 77.9}, False),
    ("1b", NA_15_ABOVE, True),
    ("1b", NA_15_ABOVE | {(DA, "xnli", "fr"): 77.9}, False),
    ("2a", {(EA, "parsing", "ru"): 66.1}, True),
    ("2a", {(EA, "parsing", "ru"): 66.0}, False),
    ("2a", {(EA, "ner", "ru"): 60.0}, True),  # NER is not asked
    ("2b", {(EA, "ner", "zh"): 52.1}, True),
    ("2b", {(EA, "ner", "zh"): 52.0}, False),
    ("2b", {(EA, "xnli", "fr"): 94.0}, False),
    ("2b", whole(EA, "ner", 80.0, 60.0, 49.0), True),  # it may even cost: zh loses least
    ("3", CC_AT_90, True),
    ("3", CC_AT_90 | {(CC, "xnli", "fr"): 81.9}, False),
    ("3", LEVEL_WITH_NER, False),
    ("3", LEVEL_WITH_NER | {(CC, "ner", "fr"): 87.9}, True),
    ("4a", {(L3, "ner", "ru"): 69.9}, True),
    ("4a", {(L3, "ner", "ru"): 70.0}, False),
    ("4a", {(L6, "xnli", "zh"): 45.0}, False),
    ("4a", {(SE3, "parsing", "fr"): 83.9}, True),
    ("4a", {(SE3, "parsing", "fr"): 84.0}, False),
    ("4a", {(SE6, "parsing", "fr"): 80.0}, False),
    ("4b", whole(SE, "ner", 86.0, 66.0, 45.9), True),
    ("4b", whole(SE, "ner", 86.0, 66.0, 46.0), False),
    ("4b", whole(SE, "ner", 95.0, 66.0, 36.9), True),  # the mean counts, not each cell
    ("4c", THREE_TIMES, True),
    ("4c", THREE_TIMES | {(L6, "ner", "fr"): 75.1}, False),
    ("4c", THREE_COST_NOTHING, True),
    ("4c", THREE_COST_NOTHING | whole(L6, "ner", 90.0, 70.0, 49.9), True),
    ("4c", THREE_COST_NOTHING | whole(L6, "ner", 90.0, 70.0, 50.0), False),
    ("4d", {(SE6, "xnli", "fr"): 64.9}, True),
    ("4d", {(SE6, "xnli", "fr"): 65.0}, False),
    ("4d", {(SE6, "ner", "zh"): 16.0}, True),
    ("4d", {(SE6, "ner", "zh"): 16.1}, False),
    ("5", {(SE6, "ner", "fr"): 13.1}, True),
    ("5", {(SE6, "ner", "fr"): 13.0}, False),
    ("5", {(NA, "xnli", "zh"): 86.0}, False),
    ("5", {(D, "parsing", "ru"): 50.1}, True),
    ("5", {(D, "parsing", "ru"): 50.0}, False),
    ("5", {(D, "ner", "ru"): 49.0}, True),  # NER has another dataset for zh
]


@pytest.mark.parametrize(("number", "changes", "supported"), BORDERS)
def test_both_sides_of_every_border(number: str, changes: dict[Key, float], supported: bool) -> None:
    expected = Verdict.SUPPORTED if supported else Verdict.NOT_SUPPORTED
    assert outcome(number, study(changes)).verdict is expected


@pytest.mark.parametrize(("lowest", "expected"), [(87.0 - 6, Verdict.SUPPORTED), (80.9, Verdict.NOT_SUPPORTED)])
def test_at_paper_scale_no_anchors_may_lose_two_points_on_average(lowest: float, expected: Verdict) -> None:
    changes = whole(DA, "xnli", 87.0, 67.0, 47.0) | whole(NA, "xnli", lowest, 67.0, 47.0)
    assert outcome("1b", study(changes, paper_scale=True)).verdict is expected


@pytest.mark.parametrize("number", TRANSFER)
def test_no_verdict_where_default_is_less_than_five_points_above_its_floor(number: str) -> None:
    weak = {(D, task, language): 14.99 for task in TASKS for language in LANGUAGES}
    found = outcome(number, study(weak))
    assert found.verdict is Verdict.NO_SIGNAL
    assert all(not part.checks and part.left_out for part in found.parts)


@pytest.mark.parametrize(("default", "expected"), [(15.0, Verdict.NOT_SUPPORTED), (14.99, Verdict.SUPPORTED)])
def test_a_cell_without_signal_is_left_out(default: float, expected: Verdict) -> None:
    found = outcome("1a", study({(D, "xnli", "zh"): default, (NA, "xnli", "zh"): 10.0}))
    assert found.verdict is expected
    assert found.parts[0].left_out == (("XNLI zh",) if default < 15 else ())


NEEDED = [("1a", NA), ("1b", DA), ("2a", EA), ("2b", EA), ("2b", "zh"), ("3", CC), ("3", "ner")]
NEEDED += [("4b", SE), ("4c", L3), ("4d", SE6), ("5", "fr"), *((number, D) for number in TRANSFER)]


@pytest.mark.parametrize(("number", "missing"), NEEDED)
def test_what_a_claim_needs_must_have_been_run(number: str, missing: str) -> None:
    assert outcome(number, study(drop=(missing,))).verdict is Verdict.NOT_RUN


def test_a_part_that_failed_outweighs_a_part_that_was_not_run() -> None:
    found = outcome("3", study({(CC, "xnli", "fr"): 10.0}, drop=("ner",)))
    assert found.verdict is Verdict.NOT_SUPPORTED


@pytest.mark.parametrize("number", TRANSFER)
def test_one_pair_missing_is_named_and_the_rest_is_judged(number: str) -> None:
    found = outcome(number, study(drop=("ru",)))
    expected = Verdict.NOT_RUN if number == "5" else Verdict.SUPPORTED
    assert found.verdict is expected
    assert any("ru" in place or number == "5" for part in found.parts for place in part.not_run)


def test_a_missing_step_of_the_chain_is_bridged_and_can_only_refute() -> None:
    assert outcome("4a", study(drop=(L3, SE3))).verdict is Verdict.NOT_RUN
    refuted = outcome("4a", study({(L6, "ner", "fr"): 90.0}, drop=(L3, SE3)))
    assert refuted.verdict is Verdict.NOT_SUPPORTED
    assert (refuted.coverage.judged, refuted.coverage.wanted) == (0, 9)


def test_each_score_is_read_above_its_own_floor() -> None:
    cells = [
        replace(cell, floor=50.0 if cell.setting == NA else FLOOR) for cell in study().figure3 if cell.language == "fr"
    ]
    found = outcome("1a", Means(figure3=tuple(cells)))
    assert found.parts[0].checks[0].effect.value == pytest.approx((86 - 50) / (90 - 10))


def test_intervals_are_carried_to_the_effect() -> None:
    cells = tuple(replace(cell, low=cell.score - 3, high=cell.score + 4) for cell in study().figure3)
    check = outcome("2a", Means(figure3=cells)).parts[0].checks[0]
    assert (check.effect.low, check.effect.high) == (0.0, 10.0)  # 91 - 86, and sides of 3 and 4 make 5


@pytest.mark.parametrize("number", TRANSFER)
def test_the_published_numbers_support_every_claim(number: str) -> None:
    found = outcome(number, means(published.results()))
    assert found.verdict is Verdict.SUPPORTED
    assert not any(part.left_out or part.not_run for part in found.parts)


@pytest.mark.parametrize(
    ("number", "part", "count", "low", "high"),
    [
        ("1a", 0, 6, 0.95, 0.99),
        ("1b", 0, 2, -1.2, -0.8),
        ("2a", 0, 6, 0.7, 4.4),
        ("2b", 0, 3, 0.1, 4.4),
        ("3", 0, 2, 0.94, 0.96),
        ("4a", 0, 18, 1.2, 57.7),
        ("4a", 1, 18, 0.4, 52.5),
        ("4b", 0, 3, 0.9, 3.4),
        ("4c", 0, 3, 6.3, 7.2),
        ("4d", 0, 9, 2.1, 25.2),
        ("4d", 1, 6, 0.02, 0.11),
        ("5", 0, 30, 4.2, 51.1),
        ("5", 1, 30, 1.9, 58.1),
        ("5", 2, 10, 4.9, 29.7),
    ],
)
def test_the_published_effects(number: str, part: int, count: int, low: float, high: float) -> None:
    checks = outcome(number, means(published.results())).parts[part].checks
    values = [check.effect.value for check in checks]
    digits = 2 if high < 1 and number in {"1a", "3", "4d"} else 1
    assert (len(values), round(min(values), digits), round(max(values), digits)) == (count, low, high)


SCORES = st.lists(st.integers(20, 60), min_size=90, max_size=90)


@settings(max_examples=25)
@given(scores=SCORES, shift=st.integers(-10, 30), order=st.randoms(use_true_random=False))
def test_verdicts_do_not_hang_on_order_or_on_where_zero_is(scores: list[int], shift: int, order: object) -> None:
    keys = [(s, t, x) for s in SETTINGS for t in TASKS for x in LANGUAGES]
    cells = [CellMean(*key, float(score), FLOOR) for key, score in zip(keys, scores, strict=True)]
    moved = [replace(cell, score=cell.score + shift, floor=cell.floor + shift) for cell in cells]
    order.shuffle(moved)  # type: ignore[attr-defined]
    first, second = Means(figure3=tuple(cells)), Means(figure3=tuple(moved))
    assert [outcome(n, first).verdict for n in TRANSFER] == [outcome(n, second).verdict for n in TRANSFER]


def test_3_compares_tasks_over_the_same_languages() -> None:
    shares = {"fr": 0.99, "ru": 0.9, "zh": 0.8}
    same = {(CC, t, x): FLOOR + shares[x] * (DEFAULT[x] - FLOOR) for t in TASKS for x in LANGUAGES}
    weak = {(D, "xnli", x): FLOOR + 1.0 for x in ("ru", "zh")}  # without signal, so only fr is compared
    lead = outcome("3", study(same | weak)).parts[1]
    effects = {check.where: check.effect.value for check in lead.checks}
    assert effects["XNLI against NER"] == pytest.approx(0.0, abs=1e-9)


def test_4a_names_the_cells_and_the_settings_that_were_not_run() -> None:
    part = outcome("4a", study(drop=(SE3,))).parts[1]
    assert "NER ru" in part.not_run
    assert part.lacking == (SE3,)
    assert part.checks
