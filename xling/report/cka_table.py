"""Similarities by layer, pair and model, with their average (Figure 7)."""

import math
from collections.abc import Sequence

from xling.report.estimate import seed_reach
from xling.report.records import AVERAGE, CkaScore

Interval = tuple[float | None, float | None]


def similarity(scores: Sequence[CkaScore]) -> dict[tuple[str, str, str], float]:
    """Return CKA by layer, pair and model, with the average row: printed where it was given, else computed."""
    table = {(score.layer, score.pair, score.model): score.cka for score in scores}
    layers = layers_of(scores)
    for pair, model in {(pair, model) for _, pair, model in table}:
        values = [table[layer, pair, model] for layer in layers if (layer, pair, model) in table]
        if len(values) == len(layers):
            table.setdefault((AVERAGE, pair, model), math.fsum(values) / len(values))
    return table


def layers_of(scores: Sequence[CkaScore]) -> list[str]:
    """Return the layers that were compared, from the embeddings up, without the average."""
    return sorted({score.layer for score in scores} - {AVERAGE}, key=lambda layer: int(layer.removeprefix("L")))


def average_intervals(found: Sequence[tuple[str, Sequence[float]]]) -> list[Interval]:
    """Return the interval of each average over the layers, given its kind of model and its seeds.

    How much seeds differ is taken to be alike for all pairs of a kind, as in Table 1 for the settings of a task in a
    language. Where none has a second seed there are no intervals.
    """
    kinds: dict[str, list[Sequence[float]]] = {}
    for kind, seeds in found:
        kinds.setdefault(kind, []).append(seeds)
    known = {kind: seed_reach(groups) for kind, groups in kinds.items() if max(map(len, groups)) > 1}
    return [_interval(seeds, known[kind]) if kind in known else (None, None) for kind, seeds in found]


def _interval(seeds: Sequence[float], reach: float) -> Interval:
    middle, own = math.fsum(seeds) / len(seeds), reach / math.sqrt(len(seeds))
    return max(middle - own, 0.0), min(middle + own, 1.0)
