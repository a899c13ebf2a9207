"""Each claim's predicate on made-up results: both sides of every threshold, too little signal, what was not run."""

from dataclasses import replace
from itertools import product
from typing import Any

import made_up_study as made
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_study import CELL_LANGUAGES, LANGUAGES, TASKS, Key, cell, changed, curves, holds, parts_of, table, whole

from xling.report.measured import Study
from xling.report.models import MLM_ALIGN, UNTRAINED
from xling.report.names import SETTINGS
from xling.report.records import CkaScore, Results, SentenceScore
from xling.report.rule import Verdict, gravest

D, CC, NA, DA, EA, SE, L3, L6, SE3, SE6 = SETTINGS
TRANSFER = [number for number, claim in made.BY_NUMBER.items() if claim.source == "Table 1"]


@pytest.mark.parametrize("number", made.BY_NUMBER)
def test_the_made_up_study_shows_everything_and_no_study_nothing(number):
    for results in (table(), table(paper_scale=True)) if number in TRANSFER else (curves(),):
        parts = parts_of(number, results)
        assert gravest(parts) is Verdict.SUPPORTED
        assert holds(parts)
        assert number == "5" or not any(part.left_out or part.not_run for part in parts)  # 5 leaves rows out
    assert gravest(parts_of(number, Results())) is Verdict.NOT_RUN


CC_AT_90 = whole(CC, "xnli", 82.0, 64.0, 46.0) | whole(CC, "ner", 74.0, 58.0, 42.0)
NA_15_BELOW = whole(NA, "xnli", 78.0, 61.0, 44.0) | whole(DA, "xnli", 90.0, 70.0, 50.0)
NA_ABOVE = whole(NA, "xnli", 90.0, 70.0, 50.0) | whole(DA, "xnli", 58.0, 41.0, 24.0)
THREE_GAIN_2 = whole(L3, "ner", 92.0, 72.0, 52.0) | whole(L6, "ner", 96.0, 76.0, 56.0)
# Claim, scores that differ from the made-up study, a cell, its score with which the claim holds, and one with which not.
BORDERS: list[tuple[str, dict[Key, float], Key, float | None, float | None]] = [
    ("1a", {}, (NA, "xnli", "fr"), 70.0, 69.9),
    ("1b", NA_15_BELOW, (NA, "xnli", "fr"), 78.0, 77.9),
    ("1b", NA_ABOVE, (NA, "xnli", "fr"), 90.0, None),  # better is no violation
    ("2a", {}, (EA, "parsing", "ru"), 66.1, 66.0),
    ("2b", {}, (EA, "ner", "zh"), 51.1, 51.0),
    ("2b", {(EA, "ner", "fr"): 80.0}, (EA, "ner", "zh"), 49.0, None),  # it may even cost: zh loses less
    ("3", CC_AT_90, (CC, "xnli", "fr"), 82.0, 81.9),
    ("3", whole(CC, "ner", 88.0, 68.0, 48.0), (CC, "ner", "fr"), 87.9, 88.0),
    ("4a", {}, (L3, "ner", "ru"), 69.9, 70.0),
    ("4a", {}, (SE3, "parsing", "fr"), 83.9, 84.0),
    ("4b", whole(SE, "ner", 86.0, 66.0, 46.0), (SE, "ner", "zh"), 45.9, 46.0),
    ("4b", whole(SE, "ner", 95.0, 66.0, 46.0), (SE, "ner", "zh"), 36.9, 37.1),  # the mean counts, not each cell
    ("4c", whole(L6, "ner", 75.0, 55.0, 35.0), (L6, "ner", "fr"), 75.0, 75.1),
    ("4c", THREE_GAIN_2, (L6, "ner", "fr"), 96.0, 96.1),  # no ratio: six may gain three times as much
    ("4d", {}, (SE6, "xnli", "fr"), 64.9, 65.0),
    ("4d", {}, (SE6, "ner", "zh"), 16.0, 16.1),
    ("4d", {}, (L6, "ner", "zh"), 11.0, None),  # both at their floor: neither is lower
    ("4d", {}, (L6, "ner", "fr"), None, 11.0),
    ("4e", {}, (L3, "ner", "zh"), 40.0, 39.9),
    ("4e", {}, (SE3, "xnli", "zh"), 30.0, 29.9),
    ("5", {(SE6, "ner", "ru"): 15.1}, (SE6, "ner", "fr"), 14.9, 15.0),  # below 15 the row has too little signal
    ("5", {}, (D, "parsing", "ru"), 50.1, 50.0),
]

# Claim, figure, field, of which records, what it becomes (a number, or a text with what is added to it) so that the
# claim holds, and so that it does not.
CURVES: list[tuple[str, str, str, dict[str, Any], float | str | None, float | str | None]] = [
    # 6a: embeddings level with fastText; contextual averages below it; upper layers above lower ones
    ("6a", "figure4a", "p1", {"language": "ru", "vectors": "BERT"}, 40.0, 39.9),
    ("6a", "figure4b", "p1", {"language": "fr", "vectors": "fastText"}, 36.1, 36.0),
    ("6a", "figure4b", "p1", {"language": "zh", "vectors": "BERT"}, None, 20.0),
    # five points above the untrained encoder, and above chance
    ("6a", "figure4a", "p1", {"language": "de", "vectors": UNTRAINED}, 36.0, 36.01),
    ("6a", "figure4b", "chance", {"language": "de"}, 31.0, 31.01),
    # 6b: aligned below bilingual (parsing: by 10), but for the paper's exception, parsing fr
    ("6b", "figure5", "score", {"task": "parsing", "language": "ru", "series": MLM_ALIGN}, "9.9", "10.0"),
    ("6b", "figure5", "score", {"task": "parsing", "language": "fr", "series": MLM_ALIGN}, "20.0", None),
    # the best layer is a middle one, 2 to 6
    ("6b", "figure5", "score", {"task": "ner", "language": "zh", "series": MLM_ALIGN, "layer": 8}, 45.0, 45.1),
    ("6b", "figure5", "score", {"task": "ner", "language": "zh", "series": MLM_ALIGN, "layer": 2}, 45.1, None),
    # the gap is larger in NER; alignment helps the bilingual model in parsing only
    ("6b", "figure5", "score", {"task": "ner", "series": MLM_ALIGN}, "19.9", "20.0"),
    ("6b", "figure8", "score", {"task": "parsing", "series": "biMLM align"}, "-1.9", "-2.0"),
    ("6b", "figure8", "score", {"task": "ner", "series": "biMLM align"}, "1.0", "1.1"),
    # 6c: five points above the untrained encoder, and best at a lower layer, 0 to 3
    ("6c", "figure6", "p1", {"language": "ru", "model": UNTRAINED, "layer": 8}, 75.0, 75.01),
    ("6c", "figure6", "p1", {"language": "fr", "model": "monolingual", "layer": 8}, 80.0, 80.1),
    ("6c", "figure6", "p1", {"language": "fr", "model": "monolingual", "layer": 4}, None, 80.1),
    ("6c", "figure6", "p1", {"language": "fr", "model": "monolingual", "layer": 3}, 80.1, None),
    # 7a: bilingual over monolingual over random
    ("7a", "figure7", "cka", {"pair": "en-zh", "model": "monolingual"}, "0.009", "0.0101"),
    ("7a", "figure7", "cka", {"pair": "en-en'", "model": "random"}, "0.199", "0.2001"),
    # 7b: the best layer is one of the first three
    ("7b", "figure7", "cka", {"pair": "en-en'", "model": "bilingual", "layer": "L5"}, 0.79, 0.81),
    ("7b", "figure7", "cka", {"pair": "en-en'", "model": "monolingual", "layer": "L2"}, 0.9, None),
    ("7b", "figure7", "cka", {"pair": "en-en'", "model": "monolingual", "layer": "L3"}, None, 0.9),
    # what sharing adds shrinks with distance; fr and de are not ranked
    ("7b", "figure7", "cka", {"pair": "en-fr", "model": "bilingual"}, "-0.029", "-0.0301"),
    ("7b", "figure7", "cka", {"pair": "en-ru", "model": "bilingual"}, "0.029", "0.0301"),
]


def two_points_below(lowest):
    return table(whole(DA, "xnli", 87.0, 67.0, 47.0) | whole(NA, "xnli", lowest, 67.0, 47.0), paper_scale=True)


def three_layers(last):
    """Return curves whose r is y / sqrt(4 (y^2 - 2y + 4) / 3), y the last value; it is .9 at y = 2.1752."""
    alike, found = [], []
    for x, (n, p1) in product(LANGUAGES, enumerate((0.0, 2.0, last))):
        alike.append(CkaScore(layer=f"L{n}", pair=f"en-{x}", model="monolingual", cka=n / 10))
        found.append(SentenceScore(language=x, model="monolingual", direction="en-x", layer=n, p1=p1, chance=0.1))
    return Results(figure6=tuple(found), figure7=tuple(alike))


# Claim, results with which it holds, and results with which it does not.
CASES: list[tuple[str, Results | None, Results | None]] = [
    ("1b", two_points_below(81.0), two_points_below(80.9)),  # by 2 points on average
    ("4a", table(drop=(L3, SE3)), table({(L6, "ner", "fr"): 90.0}, drop=(L3, SE3))),  # a missing step is bridged
    ("7c", three_layers(2.18), three_layers(2.17)),
]
for claim, changes, key, *scores in BORDERS:
    CASES.append((claim, *(None if x is None else table({**changes, key: x}) for x in scores)))
for claim, figure, field, where, *values in CURVES:
    CASES.append((claim, *(None if x is None else changed(figure, field, x, **where) for x in values)))


@pytest.mark.parametrize(("number", "right", "wrong"), CASES)
def test_both_sides_of_every_border(number, right, wrong):
    for results, expected in ((right, True), (wrong, False)):
        assert results is None or holds(parts_of(number, results)) is expected


# --- signal, and what was not run ------------------------------------------------------------------------------------

WEAK_FR = {(D, task, "fr"): 14.99 for task in TASKS}
WEAK = {(D, task, x): 14.99 for task in TASKS for x in CELL_LANGUAGES}
SEP_6_BEST = {(L6, task, x): 95.0 for task in TASKS for x in CELL_LANGUAGES}
NEEDED = {"1a": [NA], "1b": [DA], "2a": [EA], "2b": [EA, "zh"], "3": [CC, "ner"], "4b": [SE], "4c": [L3]}
NEEDED |= {"4a": [L3], "4d": [SE6, L6], "4e": [SE3], "5": ["fr"]}
FIGURES = {"6a": ["figure4a", "figure4b"], "6b": ["figure5", "figure8"], "7c": ["figure6", "figure7"]}


def with_seeds(results, step):
    """Return Table 1 with two seeds, each a step from the mean."""
    seeds = [replace(c, seed=s, score=c.score + sign * step) for c in results.figure3 for s, sign in ((1, -1), (2, 1))]
    return Results(figure3=tuple(seeds))


@pytest.mark.parametrize(
    ("numbers", "results", "expected"),
    [
        (TRANSFER[:-1], table(WEAK), Verdict.NO_SIGNAL),
        (TRANSFER[:-1], table(drop=(D,)), Verdict.NOT_RUN),
        (["4a"], table(WEAK, drop=(SE3,)), Verdict.NO_SIGNAL),  # of its parts one lacks signal, the other was not run
        (["1a", "2a", "4b", "4c"], table(WEAK, drop=("zh",)), Verdict.NOT_RUN),  # some were not run
        (["1a", "2a", "4b", "4c"], table(WEAK_FR, drop=("ru", "zh")), Verdict.NOT_RUN),
        (["1a", "2a", "4b", "4c"], table(WEAK_FR, drop=("ru",)), Verdict.SUPPORTED),  # zh can be judged
        *(([number], table(drop=(name,)), Verdict.NOT_RUN) for number in NEEDED for name in NEEDED[number]),
        *(([number], replace(curves(), **{name: ()}), Verdict.NOT_RUN) for number in FIGURES for name in FIGURES[number]),
        (["4a"], with_seeds(table(SEP_6_BEST, drop=(L3,)), 0.005), Verdict.CONTRADICTED),  # by a part of the chain
        (["7c"], changed("figure6", "p1", 50.0, model="monolingual"), Verdict.NO_SIGNAL),  # it does not vary
        (["7c"], changed("figure6", "low", 0.0, model="monolingual"), Verdict.NO_SIGNAL),  # less than its noise
        (["7c"], replace(curves(), figure6=tuple(r for r in curves().figure6 if r.layer < 2)), Verdict.NOT_RUN),
    ],
)  # fmt: skip
def test_what_was_not_run_or_has_no_signal_is_not_judged(numbers, results, expected):
    for number in numbers:
        parts = parts_of(number, results, redraws=200)
        assert gravest(parts) is expected
        assert expected is not Verdict.NO_SIGNAL or not any(part.checks for part in parts)


def floor_of_ner(score):
    return changed("figure5", "score", score, task="ner", language="zh", series="biMLM", encoder=UNTRAINED, layer=4)


@pytest.mark.parametrize(
    ("number", "results", "left_out"),
    [
        ("1a", table({(D, "xnli", "zh"): 15.0, (NA, "xnli", "zh"): 10.0}), []),
        ("1a", table({(D, "xnli", "zh"): 14.99, (NA, "xnli", "zh"): 10.0}), ["XNLI zh"]),
        ("6b", floor_of_ner(70.0), []),  # the best layer, 4, has 75
        ("6b", floor_of_ner(70.01), ["NER zh"]),
    ],
)
def test_a_cell_without_signal_is_left_out(number, results, left_out):
    part = parts_of(number, results)[0]
    assert (part.left_out, len(part.cells) - len(part.judged)) == (left_out, len(left_out))


# --- what a value is made of -----------------------------------------------------------------------------------------


def test_3_compares_tasks_over_the_same_languages():
    shares = {"fr": 0.99, "ru": 0.9, "zh": 0.8}
    same = {(CC, t, x): 10 + shares[x] * (made.DEFAULT[x] - 10) for t in TASKS for x in CELL_LANGUAGES}
    weak = {(D, "xnli", x): 11.0 for x in ("ru", "zh")}  # without signal, so only fr is compared
    checks = parts_of("3", table(same | weak))[1].checks
    assert {check.where: check.value.observed for check in checks}["XNLI against NER"] == pytest.approx(0, abs=1e-9)


def test_4a_a_chain_that_was_run_in_part_supports_nothing():
    part = parts_of("4a", table(drop=(SE3,)))[1]
    assert (part.judged, part.lacking, bool(part.checks), "NER ru" in part.not_run) == (set(), [SE3], True, True)


def test_7a_a_printed_average_counts_in_place_of_a_computed_one():
    printed = CkaScore(layer="AVER", pair="en-zh", model="bilingual", cka=0.1)
    found = {check.where: check for check in parts_of("7a", Results(figure7=(*curves().figure7, printed)))[0].checks}
    assert found["en-zh"].value.observed == pytest.approx(0.1 - 0.62)  # monolingual: .7 to .54


def test_a_share_of_a_noisy_default_is_judged_and_not_shown():
    low = table({(D, task, "zh"): 20.0 for task in TASKS})  # 10 above its floor
    (part,) = parts_of("1a", with_seeds(low, 9.0), redraws=500)
    assert [check.shown for check in part.checks] == [x != "zh" for _ in TASKS for x in CELL_LANGUAGES]


@settings(max_examples=8)
@given(
    scores=st.lists(st.integers(20, 60), min_size=90, max_size=90),
    shift=st.integers(-10, 30),
    order=st.randoms(use_true_random=False),
)
def test_predicates_do_not_hang_on_order_or_on_where_zero_is(scores, shift, order):
    keys = product(SETTINGS, TASKS, CELL_LANGUAGES)
    cells = [cell(*key, float(score)) for key, score in zip(keys, scores, strict=True)]
    moved = [replace(c, score=c.score + shift, chance=c.chance + shift) for c in cells]
    order.shuffle(moved)
    studies = [Study(Results(figure3=tuple(rows)), redraws=0) for rows in (cells, moved)]
    first, second = ([holds(parts_of(number, study)) for number in TRANSFER] for study in studies)
    assert first == second
