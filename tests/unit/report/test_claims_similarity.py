"""Claim 7 on made-up curves and on the published ones: both sides of every border."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_up_curves import LANGUAGES, changed, cka, outcome, sentences, study, verdict_of

from xling.report import published
from xling.report.claims.similarity import pearson
from xling.report.claims.verdict import Verdict
from xling.report.means import CkaMean, Means, SentenceMean, means

BORDERS: list[tuple[str, int, Callable[[Any], float], dict[str, str], bool]] = [
    # 7a: bilingual over monolingual over random
    ("7a", 0, lambda r: r.cka + 0.009, {"pair": "en-zh", "model": "monolingual"}, True),
    ("7a", 0, lambda r: r.cka + 0.01, {"pair": "en-zh", "model": "monolingual"}, False),
    ("7a", 1, lambda r: r.cka + 0.199, {"pair": "en-en'", "model": "random"}, True),
    ("7a", 1, lambda r: r.cka + 0.2, {"pair": "en-en'", "model": "random"}, False),
    # 7b: the best layer is one of the first two
    ("7b", 0, lambda _: 0.81, {"pair": "en-fr", "model": "bilingual", "layer": "L5"}, True),
    ("7b", 0, lambda _: 0.811, {"pair": "en-fr", "model": "bilingual", "layer": "L5"}, False),
    ("7b", 0, lambda _: 0.701, {"pair": "en-fr", "model": "monolingual", "layer": "L2"}, False),
    ("7b", 0, lambda _: 0.9, {"pair": "en-fr", "model": "monolingual", "layer": "L1"}, True),
    ("7b", 0, lambda _: 0.9, {"pair": "en-fr", "model": "random", "layer": "L8"}, True),
    # 7b: what sharing adds shrinks with distance
    ("7b", 1, lambda r: r.cka - 0.029, {"pair": "en-fr", "model": "bilingual"}, True),
    ("7b", 1, lambda r: r.cka - 0.03, {"pair": "en-fr", "model": "bilingual"}, False),
    ("7b", 1, lambda r: r.cka - 0.04, {"pair": "en-de", "model": "bilingual"}, False),
    ("7b", 1, lambda r: r.cka + 0.029, {"pair": "en-ru", "model": "bilingual"}, True),
    ("7b", 1, lambda r: r.cka + 0.03, {"pair": "en-ru", "model": "bilingual"}, False),
    ("7b", 1, lambda r: r.cka + 0.07, {"pair": "en-zh", "model": "bilingual"}, False),
    ("7b", 1, lambda r: r.cka + 0.1, {"pair": "en-fr", "model": "bilingual"}, True),  # fr and de are not ranked
]


@pytest.mark.parametrize(("number", "part", "value", "where", "supported"), BORDERS)
def test_both_sides_of_every_border(
    number: str, part: int, value: Callable[[Any], float], where: dict[str, str], supported: bool
) -> None:
    found = outcome(number, changed("figure7", "cka", value, **where))
    assert found.parts[part].verdict is verdict_of(supported)


def test_7a_a_printed_average_counts_before_a_computed_one() -> None:
    printed = CkaMean("AVER", "en-zh", "bilingual", 0.1)
    assert outcome("7a", replace(study(), figure7=(*cka(), printed))).verdict is Verdict.NOT_SUPPORTED


def test_7a_the_interval_of_an_average_reaches_the_effect() -> None:
    printed = (
        CkaMean("AVER", "en-zh", "bilingual", 0.6, 0.57, 0.63),
        CkaMean("AVER", "en-zh", "monolingual", 0.5, 0.46, 0.54),
    )
    checks = outcome("7a", replace(study(), figure7=(*cka(), *printed))).parts[0].checks
    effect = next(check.effect for check in checks if check.where == "en-zh")
    assert (effect.low, effect.high) == pytest.approx((0.05, 0.15))


def test_7c_needs_more_than_nine_tenths_for_each_language() -> None:
    found = outcome("7c", study())
    assert [check.effect.value for check in found.parts[0].checks] == pytest.approx([1.0] * 4)
    bent = changed("figure6", "p1", lambda r: 80.0 if r.layer < 6 else 20.0, language="zh", model="monolingual")
    assert [check.passed for check in outcome("7c", bent).parts[0].checks] == [True, True, True, False]
    assert outcome("7c", bent).verdict is Verdict.NOT_SUPPORTED


def test_7c_a_curve_that_does_not_vary_has_too_little_signal() -> None:
    flat = changed("figure6", "p1", lambda _: 50.0, model="monolingual")
    assert outcome("7c", flat).verdict is Verdict.NO_SIGNAL


def test_7c_two_layers_are_always_on_a_line() -> None:
    two = tuple(score for score in sentences() if score.layer < 2)
    assert outcome("7c", replace(study(), figure6=two)).verdict is Verdict.NOT_RUN


@pytest.mark.parametrize(("last", "supported"), [(2.18, True), (2.17, False)])
def test_7c_the_border_is_at_nine_tenths(last: float, supported: bool) -> None:
    # r of (0, 0), (1, 2), (2, y) is y over sqrt(4 (y^2 - 2y + 4) / 3), which is .9 at y = 2.1752
    points = [(0.0, 0.0), (1.0, 2.0), (2.0, last)]
    assert pearson(points) == pytest.approx(np.corrcoef(np.array(points).T)[0, 1])
    layers = tuple(
        CkaMean(f"L{n}", f"en-{x}", "monolingual", c / 10) for x in LANGUAGES for n, (c, _) in enumerate(points)
    )
    found = tuple(
        SentenceMean(x, "monolingual", "en-x", n, p, 0.1) for x in LANGUAGES for n, (_, p) in enumerate(points)
    )
    assert outcome("7c", Means(figure6=found, figure7=layers)).verdict is verdict_of(supported)


@pytest.mark.parametrize("number", ["7a", "7b"])
def test_the_published_numbers_support_the_claims_on_figure_7(number: str) -> None:
    found = outcome(number, means(published.results()))
    assert found.verdict is Verdict.SUPPORTED
    assert not any(part.left_out or part.not_run for part in found.parts)


def test_the_published_effects_of_figure_7() -> None:
    gaps = {
        check.where: round(check.effect.value, 2) for check in outcome("7a", means(published.results())).parts[0].checks
    }
    assert gaps == {"en-en'": 0.09, "en-fr": 0.11, "en-de": 0.11, "en-ru": 0.08, "en-zh": 0.01}
    best_layers = outcome("7b", means(published.results())).parts[0].checks
    assert (len(best_layers), all(check.passed for check in best_layers)) == (10, True)


def test_7b_the_interval_of_a_layer_reaches_the_effect() -> None:
    results = study()
    scores = tuple(replace(r, low=r.cka - 0.03, high=r.cka + 0.04) for r in results.figure7)
    effect = outcome("7b", replace(results, figure7=scores)).parts[0].checks[0].effect
    assert (effect.value, effect.low, effect.high) == pytest.approx((0.04, -0.01, 0.09))
