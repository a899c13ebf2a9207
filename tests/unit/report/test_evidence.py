"""The statistics behind the verdicts, on simulated studies whose truth is known."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import t as student

from xling.report.evidence import REDRAWS, Measured, Source, Value, from_z, mean, redraw, share, to_z
from xling.report.rule import MOST_SEEDS, Check, Part, Relation, Verdict, decide, seeds_to_decide, standing

GROUPS = {"shared": 0.03, "separate": 0.02, "none": 0.04}  # the true s.d. of a seed on z
LANGUAGES, SETTINGS = ("fr", "ru", "zh"), [f"{group} {n}" for group in GROUPS for n in range(3)]


def measured(key: str, score: float, error: float | None = None, group: str = "all", **more: object) -> Measured:
    return Measured(key, score, error, "task", group, key, "test", **more)  # type: ignore[arg-type]


def simulated(rng: np.random.Generator, truth: float, seeds: int = 2, items: int = 2000) -> list[Measured]:
    """Return one task's scores of a study in which every setting has the same truth."""
    rows = []
    for setting, language in product(SETTINGS, LANGUAGES):
        group = setting.split()[0]
        middle = to_z(truth) + rng.normal(0, 1 / (2 * math.sqrt(items)))  # the test items err once for all seeds
        for score in from_z(middle + rng.normal(0, GROUPS[group], seeds)):
            error = math.sqrt(score * (1 - score) / items)
            rows.append(measured(f"{setting}|{language}", float(score), error, group=group))
    return rows


def normal(centre: float, spread: float, items: float = 0.0, freedom: float = 1e6, seeds: float = 2) -> Value:
    """Return a value with the redraws of a normal distribution, to the quantile."""
    shape = ndtri((np.arange(2000) + 0.5) / 2000)
    draws = np.concatenate([[centre], centre + spread * shape, centre + items * shape])
    return Value(draws, frozenset([Source(freedom, seeds)]))


def test_intervals_of_single_scores_means_and_differences_cover_the_truth() -> None:
    rng, truth, covered = np.random.default_rng(1), 0.6, []
    studies = (redraw(simulated(rng, truth), {}, count=600)[0] for _ in range(150))
    for values, number in product(studies, range(3)):
        leads = [values[f"shared {number}|{x}"] - values[f"separate {number}|{x}"] for x in LANGUAGES]
        found = [standing(v, Relation.ABOVE, 0.0) for v in (values[f"none {number}|fr"], leads[0], mean(leads))]
        covered.append([place.low <= true <= place.high for place, true in zip(found, (truth, 0, 0), strict=True)])
    shares = np.mean(covered, axis=0)  # of a score, a difference, a mean of differences
    assert 0.93 <= shares.mean() <= 0.97
    assert shares.min() > 0.91


def verdicts(rng: np.random.Generator, seeds: int, studies: int) -> list[Verdict]:
    """Return the verdicts of studies on ten claims about leads of -4.5 to 4.5 points in three languages."""
    rows = [
        Measured(key, float(from_z(to_z(centre) + rng.normal(0, 0.04))), 0.005, f"task {study}", "all", key, "test")
        for study, lead, language in product(range(studies), range(10), LANGUAGES)
        for setting, centre in (("upper", 0.5 + (lead - 4.5) / 100), ("lower", 0.5))
        for key in [f"{setting}|{language}|{lead}|{study}"] * seeds
    ]
    values, _ = redraw(rows, {}, count=400)
    claims = [
        [Check(x, values[f"upper|{x}|{lead}|{study}"] - values[f"lower|{x}|{lead}|{study}"]) for x in LANGUAGES]
        for study, lead in product(range(studies), range(10))
    ]
    return [decide(checks, Relation.ABOVE, 0.0) for checks in claims]


def test_replications_hardly_ever_swap_supported_and_contradicted() -> None:
    rng, studies, opposite = np.random.default_rng(2), 40, {Verdict.SUPPORTED, Verdict.CONTRADICTED}
    pairs = [{*pair} for pair in zip(verdicts(rng, 2, studies), verdicts(rng, 2, studies), strict=True)]
    assert pairs.count(opposite) / studies < 0.1
    assert sum(bool(pair & opposite) for pair in pairs) > studies  # not by saying nothing


def test_one_seed_never_says_contradicted() -> None:
    assert {*verdicts(np.random.default_rng(3), 1, 20)} == {Verdict.SUPPORTED, Verdict.UNDECIDED, Verdict.MIXED}


def test_seed_variance_is_pooled_over_languages_and_drawn_towards_the_tasks() -> None:
    rows = [
        measured(f"{group} {language}", float(from_z(to_z(0.5) + step)), group=group)
        for group, size in (("steady", 0.01), ("shaky", 0.05))
        for language in LANGUAGES
        for step in (-size, size)
    ]
    found = redraw(rows, {})[1].droplevel("pool")
    own = {"steady": 2 * 0.01**2, "shaky": 2 * 0.05**2}
    for group, variance in own.items():
        shrunk = (3 * np.mean(list(own.values())) + 3 * variance) / 6
        assert found.loc[group].tolist() == [pytest.approx(variance), 3, pytest.approx(shrunk), 6, "own"]


def test_groups_without_a_second_seed_take_their_tasks_variance_and_layers_count_once() -> None:
    rows = [measured("a", x, group="two") for x in (0.4, 0.5)]
    rows += [measured("b", 0.5, group="one"), measured("c", 0.1, group="floor", untrained=True)]
    rows += [Measured(f"x{layer}", 0.5 + s, None, "curve", "g", "x", "t") for layer in range(9) for s in (0, 0.1)]
    rows += [Measured("y", 0.5, None, "other", "g", "y", "t", lender="task")]
    rows += [Measured("z", 0.5, None, "alone", "g", "z", "t"), Measured("f", 0.5, None, "t2", "g", "f", "t", seeds=0)]
    found = redraw(rows, {})[1]
    task = ["two", "one", "floor"]
    assert found["variance"].loc[[("task", name) for name in task] + [("other", "g")]].nunique() == 1
    assert [found["freedom"]["task", name] for name in task] == [4, 3, 3]
    assert found["second_seeds"]["curve", "g"] == 1
    assert [found["origin"][pool, "g"] for pool in ("other", "alone", "t2")] == ["lent", "unknown", "none"]
    assert found["variance"]["t2", "g"] == 0


def test_what_two_cells_share_cancels_out() -> None:
    rows = [measured(name, x, 0.01) for name in ("default", "left", "right") for x in (0.4, 0.5)]
    values, _ = redraw(rows, {})
    left, right = values["left"] - values["default"], values["right"] - values["default"]
    assert (left - right).spread == pytest.approx((values["left"] - values["right"]).spread)
    pairs = [measured(f"en-{x}", s, english="en") for x in ("fr", "de") for s in (0.4, 0.5)]
    alone = [measured(f"en-{x}", s) for x in ("fr", "de") for s in (0.4, 0.5)]
    spreads = [(found["en-fr"] - found["en-de"]).spread for found in (redraw(rows, {})[0] for rows in (pairs, alone))]
    assert spreads[0] == pytest.approx(spreads[1] / math.sqrt(2), rel=0.1)


def test_paired_items_cancel_out_where_their_covariance_is_known() -> None:
    rows = [measured(name, 0.5, 0.02, paired=f"{name}|{seed}") for name in ("a", "b") for seed in (1, 2)]
    names = [row.paired for row in rows]
    covariances = {"test": (names, np.full((4, 4), 0.02**2))}
    paired, alone = redraw(rows, covariances)[0], redraw(rows, {})[0]
    assert paired["a"].item_spread == pytest.approx(0.02, rel=0.1)
    assert (paired["a"] - paired["b"]).item_spread == pytest.approx(0, abs=1e-9)
    assert (alone["a"] - alone["b"]).item_spread == pytest.approx(0.02 * math.sqrt(2), rel=0.1)


def test_the_layers_of_a_model_err_together_in_part() -> None:
    rows = [
        Measured(f"{model}|{layer}", 0.5 + step, None, "curve", "g", model, "test")
        for model in ("x", "y")
        for layer in range(9)
        for step in (-0.05, 0.05)
    ]
    values, _ = redraw(rows, {})
    found = np.corrcoef([values[key].draws[1 : 1 + REDRAWS] for key in ("x|0", "x|1", "y|0")])
    assert found[0, 1:] == pytest.approx([0.5, 0.0], abs=0.05)


def test_what_was_not_run_in_full_can_contradict_a_part_but_not_support_it() -> None:
    def verdict(whole: float, partial: float) -> Verdict:
        part = Part("effect")
        part.add("a", normal(whole, 1.0))
        for place in "bcdef":
            part.add(place, normal(partial, 1.0), partial=True)
        return part.verdict

    assert verdict(-0.1, 7.0) is Verdict.UNDECIDED
    assert verdict(-0.1, -7.0) is Verdict.CONTRADICTED
    assert verdict(7.0, 0.1) is Verdict.SUPPORTED


@pytest.mark.parametrize("covariances", [{}, {"test": (["zero", "some", "all"], np.diag([0.0, 0.04**2, 0.0]))}])
def test_a_score_of_nothing_or_all_errs_as_its_test_set_does_paired_or_not(covariances: dict[str, Any]) -> None:
    found = {"zero": (0.0, 0.0), "some": (0.2, 0.04), "all": (1.0, 0.0)}
    values, _ = redraw([measured(name, *score, paired=name) for name, score in found.items()], covariances)
    z_error = 0.04 / (2 * math.sqrt(0.2 * 0.8))  # of 100 items
    half_item = to_z(2 * z_error**2)
    expected = float(from_z(half_item + z_error) - from_z(half_item - z_error)) / 2
    assert values["zero"].observed == 0
    assert [values[name].item_spread for name in ("zero", "all")] == pytest.approx([expected] * 2, rel=0.1)


@pytest.mark.parametrize(
    ("centres", "spread", "expected"),
    [
        ([2, 2], 0.5, Verdict.SUPPORTED),
        ([6, 6, -2], 0.5, Verdict.MIXED),
        ([1, -1], 1.0, Verdict.UNDECIDED),
        ([3, -3], 1.0, Verdict.CONTRADICTED),
        ([-2, -2], 0.5, Verdict.CONTRADICTED),
    ],
)
@pytest.mark.parametrize("relation", [Relation.ABOVE, Relation.AT_LEAST, Relation.AT_MOST])
def test_the_table_of_verdicts(centres: list[int], spread: float, expected: Verdict, relation: Relation) -> None:
    border = 7.0
    checks = [Check(str(c), normal(border + relation.sign * c, spread)) for c in centres]
    assert decide(checks, relation, border) is expected


def test_many_cells_need_more_to_be_against() -> None:
    place = standing(normal(-2.2, 1.0), Relation.ABOVE, 0.0)
    assert (place.state(1), place.state(3)) == ("against", "open")
    assert standing(normal(2.0, 1.0), Relation.ABOVE, 0.0).state(50) == "clear"


def test_confidence_and_interval_are_students() -> None:
    place = standing(normal(3.0, 1.5, freedom=6), Relation.AT_LEAST, 1.0)
    spread = normal(3.0, 1.5).spread
    assert place.confidence == pytest.approx(student.cdf(2 / spread, 6))
    assert place.high - place.value == pytest.approx(student.ppf(0.975, 6) * spread)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (normal(1.0, 1.0), 8),  # 2 (1.96 / 1)^2, rounded up
        (normal(1.0, 1.0, items=0.6), None),  # the test items alone leave it open
        (normal(0.1, 1.0), None),  # more than MOST_SEEDS
    ],
)
def test_seeds_to_decide(value: Value, expected: int | None) -> None:
    assert MOST_SEEDS == 20
    assert seeds_to_decide(value, 0.0) == expected


def test_a_share_is_decided_on_its_linear_contrast() -> None:
    top, bottom = normal(8.0, 0.0), normal(10.0, 2.0)
    kept = share(top, bottom, 0.75)
    assert kept.observed == pytest.approx(0.8)
    assert kept.spread == pytest.approx(0.75 * bottom.spread / 10)


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = simulated(np.random.default_rng(5), 0.5)
    there, back = redraw(rows, {}, 50)[0], redraw(rows[::-1], {}, 50)[0]
    assert all(there[key].draws == pytest.approx(back[key].draws) for key in there)
