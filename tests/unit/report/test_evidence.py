"""The statistics behind the verdicts, on simulated studies whose truth is known."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import t as student

from xling.report.evidence import REDRAWS, Measured, from_z, redraw, to_z
from xling.report.rule import Check, Part, Relation, Verdict, decide, seeds_to_decide, standing
from xling.report.value import Source, Value, mean, share, steady

GROUPS = {"shared": 0.03, "separate": 0.02, "none": 0.04}  # the true s.d. of a seed on z
LANGUAGES, SETTINGS = ("fr", "ru", "zh"), [f"{group} {n}" for group in GROUPS for n in range(3)]


def measured(key, score, error=None, **more):
    names = {"pool": "task", "group": "all", "cluster": key, "test": "test"}
    return Measured(key, score, error, **names | more)


def simulated(rng, truth, seeds=2, items=2000):
    """Return one task's scores of a study in which every setting has the same truth."""
    rows = []
    for setting, language in product(SETTINGS, LANGUAGES):
        group = setting.split()[0]
        middle = to_z(truth) + rng.normal(0, 1 / (2 * math.sqrt(items)))  # the test items err once for all seeds
        for score in map(float, from_z(middle + rng.normal(0, GROUPS[group], seeds))):
            error = math.sqrt(score * (1 - score) / items)
            rows.append(measured(f"{setting}|{language}", score, error, group=group))
    return rows


def normal(centre, spread, items=0.0, freedom=1e6, seeds=2):
    """Return a value with the redraws of a normal distribution, to the quantile."""
    shape = ndtri((np.arange(2000) + 0.5) / 2000)
    draws = np.concatenate([[centre], centre + spread * shape, centre + items * shape])
    return Value(draws, frozenset([Source(freedom, seeds)]))


def test_intervals_of_single_scores_means_and_differences_cover_the_truth():
    rng, truth, covered = np.random.default_rng(1), 0.6, []
    studies = (redraw(simulated(rng, truth), {}, count=600)[0] for _ in range(150))
    for values, number in product(studies, range(3)):
        leads = [values[f"shared {number}|{x}"] - values[f"separate {number}|{x}"] for x in LANGUAGES]
        found = [standing(v, Relation.ABOVE, 0.0) for v in (values[f"none {number}|fr"], leads[0], mean(leads))]
        covered.append([place.low <= true <= place.high for place, true in zip(found, (truth, 0, 0), strict=True)])
    shares = np.mean(covered, axis=0)  # of a score, a difference, a mean of differences
    assert 0.93 <= shares.mean() <= 0.97
    assert shares.min() > 0.91


def verdicts(rng, seeds, studies):
    """Return the verdicts of studies on ten claims about leads of -4.5 to 4.5 points in three languages."""
    claims = list(product(range(studies), range(10)))
    rows = [
        measured(key, float(from_z(to_z(centre) + rng.normal(0, 0.04))), 0.005, pool=f"task {study}")
        for (study, lead), language in product(claims, LANGUAGES)
        for setting, centre in (("upper", 0.5 + (lead - 4.5) / 100), ("lower", 0.5))
        for key in [f"{setting}|{language}|{lead}|{study}"] * seeds
    ]
    values, _ = redraw(rows, {}, count=400)
    return [
        decide([Check(x, values[f"upper|{x}|{n}|{s}"] - values[f"lower|{x}|{n}|{s}"]) for x in LANGUAGES], Relation.ABOVE, 0)
        for s, n in claims
    ]  # fmt: skip


def test_replications_hardly_ever_swap_supported_and_contradicted_and_one_seed_never_contradicts():
    rng, studies, opposite = np.random.default_rng(2), 40, {Verdict.SUPPORTED, Verdict.CONTRADICTED}
    pairs = [{*pair} for pair in zip(verdicts(rng, 2, studies), verdicts(rng, 2, studies), strict=True)]
    assert pairs.count(opposite) / studies < 0.1
    assert sum(bool(pair & opposite) for pair in pairs) > studies  # not by saying nothing
    assert {*verdicts(rng, 1, 20)} == {Verdict.SUPPORTED, Verdict.UNDECIDED, Verdict.MIXED}


def test_seed_variance_is_pooled_over_languages_and_drawn_towards_the_tasks():
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


def test_groups_without_a_second_seed_take_their_tasks_variance_and_layers_count_once():
    rows = [measured("a", x, group="two") for x in (0.4, 0.5)]
    rows += [measured("b", 0.5, group="one"), measured("c", 0.1, group="floor", untrained=True)]
    rows += [measured(f"x{n}", 0.5 + s, pool="curve", cluster="x") for n in range(9) for s in (0, 0.1)]
    rows += [measured("y", 0.5, pool="other", lender="task")]
    rows += [measured("z", 0.5, pool="alone"), measured("f", 0.5, pool="paper", seeds=0)]
    found = redraw(rows, {})[1]
    task = [("task", name) for name in ("two", "one", "floor")]
    assert found["variance"].loc[[*task, ("other", "all")]].nunique() == 1
    assert found["freedom"].loc[task].tolist() == [4, 3, 3]
    assert found["second_seeds"]["curve", "all"] == 1
    assert [found["origin"][pool, "all"] for pool in ("other", "alone", "paper")] == ["lent", "unknown", "none"]
    assert found["variance"]["paper", "all"] == 0


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        ({}, 0.0),
        ({"english": "en"}, 0.5),  # of two pairs
        ({"cluster": "model"}, 0.5),  # of two layers
        ({"paired": True}, 1.0),  # of two models on the same test items, which err by the same here
    ],
)
def test_two_scores_share_the_noise_of_their_model_and_of_their_paired_items(shared, expected):
    paired, step = shared.get("paired"), 0.0 if shared.get("paired") else 0.05  # noise of seeds, or of items alone
    rows = [
        measured(key, 0.5 + s, 0.02 if paired else None, **shared | ({"paired": f"{key}{s}"} if paired else {}))
        for key, s in product(("a", "b"), (-step, step))
    ]
    names = [row.paired for row in rows]
    values, _ = redraw(rows, {"test": (names, np.full((4, 4), 0.02**2))} if paired else {})
    draws = [values[key].draws[1 : 1 + REDRAWS] for key in "ab"]
    assert np.corrcoef(draws)[0, 1] == pytest.approx(expected, abs=0.05)
    assert values["a"].spread_at(values["a"].observed, items=True) == pytest.approx(0.02 if paired else 0.0, rel=0.1)


@pytest.mark.parametrize("covariances", [{}, {"test": (["zero", "some", "all"], np.diag([0.0, 0.04**2, 0.0]))}])
def test_a_score_of_nothing_or_all_errs_as_its_test_set_does_paired_or_not(covariances):
    found = {"zero": (0.0, 0.0), "some": (0.2, 0.04), "all": (1.0, 0.0)}
    values, _ = redraw([measured(name, *score, paired=name) for name, score in found.items()], covariances)
    z_error = 0.04 / (2 * math.sqrt(0.2 * 0.8))  # of 100 items
    half_item = to_z(2 * z_error**2)
    expected = float(from_z(half_item + z_error) - from_z(half_item - z_error)) / 2
    assert values["zero"].observed == 0
    assert [values[name].spread_at(values[name].observed, items=True) for name in ("zero", "all")] == pytest.approx(
        [expected] * 2, rel=0.1
    )


def test_the_order_of_the_rows_does_not_matter():
    rows = simulated(np.random.default_rng(5), 0.5)
    there, back = redraw(rows, {}, 50)[0], redraw(rows[::-1], {}, 50)[0]
    assert all(there[key].draws == pytest.approx(back[key].draws) for key in there)


# --- the rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("centres", "spread", "expected"),
    [
        ([2, 2], 0.5, Verdict.SUPPORTED),
        ([6, 6, -2], 0.5, Verdict.MIXED),
        ([6, 6, -2.2], 1.0, Verdict.SUPPORTED),  # one of three cells needs more than that to be against
        ([1, -1], 1.0, Verdict.UNDECIDED),
        ([3, -3], 1.0, Verdict.CONTRADICTED),
        ([-2, -2], 0.5, Verdict.CONTRADICTED),
    ],
)
@pytest.mark.parametrize("relation", Relation)
def test_the_table_of_verdicts(centres, spread, expected, relation):
    checks = [Check(str(c), normal(7 + relation.sign * c, spread)) for c in centres]
    assert decide(checks, relation, 7.0) is expected


@pytest.mark.parametrize(
    ("whole", "partial", "expected"),
    [(-0.1, 7.0, Verdict.UNDECIDED), (-0.1, -7.0, Verdict.CONTRADICTED), (7.0, 0.1, Verdict.SUPPORTED)],
)
def test_what_was_not_run_in_full_can_contradict_a_part_but_not_support_it(whole, partial, expected):
    part = Part("effect")
    part.add("a", normal(whole, 1.0))
    for place in "bcdef":
        part.add(place, normal(partial, 1.0), partial=True)
    assert (part.verdict, part.mean.observed) == (expected, whole)


def test_confidence_and_interval_are_students_and_a_share_is_decided_on_its_linear_contrast():
    place = standing(normal(3.0, 1.5, freedom=6), Relation.AT_LEAST, 1.0)
    spread = normal(3.0, 1.5).spread
    assert place.confidence == pytest.approx(student.cdf(2 / spread, 6))
    assert place.high - place.value == pytest.approx(student.ppf(0.975, 6) * spread)
    assert (place.state(1), standing(normal(2.0, 1.0), Relation.ABOVE, 0.0).state(50)) == ("open", "clear")
    kept, noise = share(normal(8.0, 0.0), normal(10.0, 2.0)), normal(10.0, 2.0).spread / 10
    assert (kept.observed, kept.spread, kept.spread_at(0.75)) == pytest.approx((0.8, 0.8 * noise, 0.75 * noise))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (normal(1.0, 1.0), 8),  # 2 (1.96 / 1)^2, rounded up
        (normal(1.0, 1.0, items=0.6), None),  # the test items alone leave it open
        (normal(0.62, 1.0), 20),
        (normal(0.6, 1.0), None),  # more than 20
    ],
)
def test_seeds_to_decide(value, expected):
    assert seeds_to_decide(value, 0.0) == expected


def fieller(top, bottom, top_spread, bottom_spread, reach):
    """Return the ends of Fieller's interval of top / bottom for independent errors: the roots of a quadratic."""
    square, last = bottom**2 - (reach * bottom_spread) ** 2, top**2 - (reach * top_spread) ** 2
    return sorted(np.roots([square, -2 * top * bottom, last]))


def noisy(centre, spread, shape):
    """Return a value with redraws of a given shape."""
    return Value(np.append(centre, centre + spread * shape), frozenset([Source(1e6, 2)]))


def noisy_pair(top, bottom, spread):
    """Return two independent values with the same spread."""
    rng = np.random.default_rng(3)
    return (noisy(centre, spread, rng.standard_normal(100_000)) for centre in (top, bottom))


@pytest.mark.parametrize(("top", "bottom", "spread"), [(8.0, 10.0, 1.0), (12.0, 6.0, 1.0), (-1.0, 10.0, 2.0)])
def test_the_interval_of_a_ratio_is_that_of_fieller_and_agrees_with_the_confidence(top, bottom, spread):
    ratio = share(*noisy_pair(top, bottom, spread))
    expected = fieller(top, bottom, spread, spread, student.ppf(0.975, 1e6))
    for value, threshold in product((ratio, mean([ratio, ratio])), (0.15, 0.75, 3.0)):
        place = standing(value, Relation.ABOVE, threshold)
        assert [place.low, place.high] == pytest.approx(expected, abs=0.02)
        assert (place.low <= threshold <= place.high) == (0.025 < place.confidence < 0.975)


def test_intervals_of_a_mean_of_unequal_ratios_cover_the_truth():
    rng, truth, covered = np.random.default_rng(5), [0.1, 0.5, 1.5], []
    shape = rng.standard_normal((2, len(truth), 2000))
    for _ in range(400):
        tops, bottoms = np.array(truth) * 10 + rng.normal(0, 0.7, 3), 10 + rng.normal(0, 2, 3)
        cells = zip(tops, bottoms, *shape, strict=True)
        shares = [share(noisy(x, 0.7, over), noisy(y, 2.0, under)) for x, y, over, under in cells]
        place = standing(mean(shares), Relation.ABOVE, 0.0)
        covered.append(place.low <= np.mean(truth) <= place.high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_an_interval_without_an_end_is_wide_and_its_ratio_is_not_shown():
    place = standing(share(*noisy_pair(8.0, 10.0, 6.0)), Relation.ABOVE, 0.75)
    assert place.high - place.low > 20
    assert [steady(normal(10.0, spread)) for spread in (6.0, 4.0)] == [False, True]
    assert not steady(normal(10.0, 4.0, freedom=3))  # 3.18 standard errors from 0 there would be too near


def test_more_seeds_do_not_reduce_the_noise_of_what_is_trained_once():
    rows = [measured("BERT", 0.3 + 0.02 * seed, 0.01, group="BERT") for seed in range(3)]
    rows.append(measured("own", 0.4, 0.01, group="own", once=True))
    rows.append(measured("published", 0.4, 0.01, group="published", seeds=0))
    values, variances = redraw(rows, {})
    own, published, bert = (values[name] for name in ("own", "published", "BERT"))
    assert own.spread_at(0.4, items=True) == own.spread > 1.5 * published.spread  # noise of seeds that stays
    assert bert.spread_at(bert.observed, items=True) < bert.spread
    assert (own - bert).seeds == 3  # the one training does not count as a number of seeds that can grow
    assert variances.loc[("task", "published"), "origin"] == "none"
