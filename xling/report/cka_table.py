"""Similarities by layer, pair and model, with their average (Figure 7)."""

import math
from collections.abc import Sequence

from xling.report.means import CkaMean
from xling.report.records import AVERAGE


def similarity(scores: Sequence[CkaMean]) -> dict[tuple[str, str, str], float]:
    """Return CKA by layer, pair and model, with the average row: printed where it was given, else computed."""
    table = {(score.layer, score.pair, score.model): score.cka for score in scores}
    layers = layers_of(scores)
    for pair, model in {(pair, model) for _, pair, model in table}:
        values = [table[layer, pair, model] for layer in layers if (layer, pair, model) in table]
        if len(values) == len(layers):
            table.setdefault((AVERAGE, pair, model), math.fsum(values) / len(values))
    return table


def layers_of(scores: Sequence[CkaMean]) -> list[str]:
    """Return the layers that were compared, from the embeddings up, without the average."""
    return sorted({score.layer for score in scores} - {AVERAGE}, key=lambda layer: int(layer.removeprefix("L")))
