"""Effects in words: rounded to the digits of their unit, but never across the border that decides."""

import pytest
from xling.report.claims.verdict import Check, Part, Relation, Unit
from xling.report.claims.words import number, range_text

from xling.report.estimate import Estimate


@pytest.mark.parametrize(
    ("value", "unit", "border", "text"),
    [
        (-0.04, Unit.POINTS, 0.0, "-0.04"),
        (0.04, Unit.POINTS, 0.0, "0.04"),
        (0.7496, Unit.SHARE, 0.75, "0.7496"),
        (0.754, Unit.SHARE, 0.75, "0.754"),
        (0.74, Unit.SHARE, 0.75, "0.74"),
        (4.97, Unit.POINTS, 5.0, "4.97"),
        (0.0, Unit.POINTS, 0.0, "0.0"),
        (-0.04, Unit.POINTS, 5.0, "0.0"),
        (-0.04, Unit.POINTS, None, "0.0"),
    ],
)
def test_a_value_is_not_rounded_onto_its_border(value: float, unit: Unit, border: float | None, text: str) -> None:
    assert number(Estimate(value, None, None), unit, border) == text


def test_an_end_of_an_interval_is_seen_on_its_side_of_the_border() -> None:
    assert number(Estimate(-0.021, -0.038, -0.0049), Unit.CKA, 0.0) == "-0.02 [-0.04, -0.005]"
    assert number(Estimate(-0.021, -0.038, 0.0), Unit.CKA, 0.0) == "-0.02 [-0.04, 0.00]"


def test_the_ends_of_a_range_have_their_own_borders() -> None:
    effects = (Estimate(-0.04, -2.64, 2.61), Estimate(5.63, 2.9, 8.3))
    checks = tuple(Check(f"en-{n}", effect, Relation.AT_LEAST) for n, effect in enumerate(effects))
    part = Part("best lower layer minus best layer above", Unit.POINTS, checks)
    assert range_text(part) == "-0.04 [-2.6, 2.6] to 5.6 [2.9, 8.3] points"
