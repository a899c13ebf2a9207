"""Claim 7: similarity of encoders (section 5.2 of the paper), judged on Figure 7 and, for 7c, Figure 6."""

import math
from collections.abc import Iterator, Mapping, Sequence

from xling.report.cka_table import layers_of, similarity
from xling.report.claims.layers import best, layer_curves
from xling.report.claims.over import Tally
from xling.report.claims.verdict import Check, Over, Part, Relation, Unit
from xling.report.estimate import Estimate, difference, pearson_interval
from xling.report.means import CkaMean, Means, SentenceMean
from xling.report.names import OTHERS, PAIRS, other_language
from xling.report.records import AVERAGE, BILINGUAL, MONOLINGUAL, RANDOM

FIRST_LAYERS = ("L0", "L1")
NEARER = (("en-fr", "en-ru"), ("en-de", "en-ru"), ("en-ru", "en-zh"))
FEWEST_LAYERS = 3  # two points are always on a line


def bilingual_over_monolingual_over_random(results: Means) -> list[Part]:
    """7a: on average over the layers bilingual models are most alike, then monolingual ones, then random encoders."""
    averages = _averages(results.figure7)
    return [_above(averages, BILINGUAL, MONOLINGUAL), _above(averages, MONOLINGUAL, RANDOM)]


def first_layers_most_alike(results: Means) -> list[Part]:
    """7b: the best layer is L0 or L1, and what a shared model adds shrinks with distance (fr, de > ru > zh)."""
    return [_best_layer(results.figure7), _shrinking(_averages(results.figure7))]


def similarity_tracks_retrieval(results: Means) -> list[Part]:
    """7c: over the layers, monolingual CKA correlates with sentence retrieval by more than .9 for each language."""
    tally = Tally()
    found = _layer_by_layer(results.figure6, results.figure7, "en")
    for pair in (f"en-{language}" for language in OTHERS):
        _correlate(tally, pair, found.get(pair, []))
    return [tally.part("Pearson correlation of monolingual CKA with sentence retrieval", Unit.PEARSON, Over.PAIRS)]


def pearson(pairs: Sequence[tuple[float, float]]) -> float:
    """Return Pearson's correlation; not a number where one side does not vary."""
    means = [math.fsum(side) / len(pairs) for side in zip(*pairs, strict=True)]
    moved = [(x - means[0], y - means[1]) for x, y in pairs]
    spread = math.sqrt(math.fsum(x * x for x, _ in moved) * math.fsum(y * y for _, y in moved))
    return math.fsum(x * y for x, y in moved) / spread if spread > 0 else math.nan


def _layer_by_layer(
    sentences: Sequence[SentenceMean], scores: Sequence[CkaMean], source: str
) -> dict[str, list[tuple[float, float]]]:
    """Return for each pair with retrieval its monolingual CKA and retrieval, at the layers that have both."""
    table = similarity(scores)
    curves = {f"{source}-{language}": curve for language, curve in layer_curves(sentences, MONOLINGUAL).items()}
    return {
        pair: [
            (table[f"L{layer}", pair, MONOLINGUAL], point.value)
            for layer, point in sorted(curve.items())
            if (f"L{layer}", pair, MONOLINGUAL) in table
        ]
        for pair, curve in curves.items()
    }


def _correlate(tally: Tally, place: str, pairs: Sequence[tuple[float, float]]) -> None:
    if len(pairs) < FEWEST_LAYERS:
        tally.not_run.append(place)
        return
    r = pearson(pairs)
    if math.isnan(r):
        tally.left_out.append(place)
    else:
        effect = pearson_interval(r, len(pairs))
        tally.checks.append(Check(place, effect, Relation.ABOVE, 0.9, language=other_language(place)))


def _averages(scores: Sequence[CkaMean]) -> dict[tuple[str, str], Estimate]:
    given = {(x.pair, x.model): Estimate(x.cka, x.low, x.high) for x in scores if x.layer == AVERAGE}
    computed = {
        (pair, model): Estimate(value) for (layer, pair, model), value in similarity(scores).items() if layer == AVERAGE
    }
    return computed | given


def _above(averages: Mapping[tuple[str, str], Estimate], upper: str, lower: str) -> Part:
    tally = Tally()
    for pair in PAIRS:
        if (pair, upper) in averages and (pair, lower) in averages:
            effect = difference(averages[pair, upper], averages[pair, lower])
            tally.checks.append(Check(pair, effect, Relation.ABOVE, language=other_language(pair)))
        else:
            tally.not_run.append(pair)
    return tally.part(f"average CKA, {upper} minus {lower}", Unit.CKA, Over.PAIRS)


def _best_layer(scores: Sequence[CkaMean]) -> Part:
    tally = Tally()
    layers = layers_of(scores)
    table = {(x.layer, x.pair, x.model): Estimate(x.cka, x.low, x.high) for x in scores}
    for pair, model in ((pair, model) for pair in PAIRS for model in (BILINGUAL, MONOLINGUAL)):
        curve = {layer: table[layer, pair, model] for layer in layers if (layer, pair, model) in table}
        first = {layer: point for layer, point in curve.items() if layer in FIRST_LAYERS}
        upper = {layer: point for layer, point in curve.items() if layer not in FIRST_LAYERS}
        if first and upper:
            effect, language = difference(best(first), best(upper)), other_language(pair)
            tally.checks.append(Check(f"{pair} {model}", effect, Relation.AT_LEAST, language=language))
        else:
            tally.not_run.append(f"{pair} {model}")
    return tally.part("best of L0 and L1 minus best of the layers above", Unit.CKA, Over.CURVES)


def _shrinking(averages: Mapping[tuple[str, str], Estimate]) -> Part:
    tally = Tally()
    gaps = dict(_gaps(averages))
    for near, far in NEARER:
        if near in gaps and far in gaps:
            tally.checks.append(Check(f"{near} over {far}", difference(gaps[near], gaps[far]), Relation.ABOVE))
        else:
            tally.not_run.append(f"{near} over {far}")
    return tally.part("lead of the nearer pair in bilingual minus monolingual", Unit.CKA, Over.COMPARISONS)


def _gaps(averages: Mapping[tuple[str, str], Estimate]) -> Iterator[tuple[str, Estimate]]:
    for pair in PAIRS:
        if (pair, BILINGUAL) in averages and (pair, MONOLINGUAL) in averages:
            yield pair, difference(averages[pair, BILINGUAL], averages[pair, MONOLINGUAL])
