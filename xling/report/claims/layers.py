"""Curves over the layers of a model: what is lower, middle and upper, and which layer is best.

With layers 0 to 8: lower are 0 to 3, upper 5 to 8, and the middle goes from 2 to 6 (a quarter to three quarters).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from xling.report.estimate import Estimate, mean_together
from xling.report.means import SentenceMean, WordMean

Curve = Mapping[int, Estimate]


def best(curve: Mapping[int, Estimate] | Mapping[str, Estimate]) -> Estimate:
    """Return the highest point of a curve."""
    return max(curve.values(), key=lambda point: point.value)


def lower(curve: Curve) -> dict[int, Estimate]:
    """Return the part of a curve below half its height."""
    return {layer: point for layer, point in curve.items() if 2 * layer < max(curve)}


def upper(curve: Curve) -> dict[int, Estimate]:
    """Return the part of a curve above half its height."""
    return {layer: point for layer, point in curve.items() if 2 * layer > max(curve)}


def middle(curve: Curve) -> dict[int, Estimate]:
    """Return the part of a curve from a quarter to three quarters of its height."""
    return {layer: point for layer, point in curve.items() if max(curve) <= 4 * layer <= 3 * max(curve)}


def rest(curve: Curve, part: Curve) -> dict[int, Estimate]:
    """Return what a part leaves of a curve."""
    return {layer: point for layer, point in curve.items() if layer not in part}


def layer_curves(scores: Sequence[SentenceMean], model: str) -> dict[str, dict[int, Estimate]]:
    """Return sentence retrieval by language and layer, the mean of the directions that were run."""
    found: dict[tuple[str, int], list[Estimate]] = defaultdict(list)
    for score in scores:
        if score.model == model:
            found[score.language, score.layer].append(Estimate(score.p1, score.low, score.high))
    curves: dict[str, dict[int, Estimate]] = defaultdict(dict)
    for (language, layer), points in found.items():
        curves[language][layer] = mean_together(points)  # both directions ask for the same sentences
    return dict(curves)


def word_curve(scores: Sequence[WordMean], language: str, vectors: str) -> dict[int, Estimate]:
    """Return word translation by layer; vectors that have no layers stand at layer 0."""
    return {
        score.layer or 0: Estimate(score.p1, score.low, score.high)
        for score in scores
        if score.language == language and score.vectors == vectors
    }
