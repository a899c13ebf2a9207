"""Cross-lingual structure as it emerges during training: retrieval and CKA of parallel sentences at each validation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from matplotlib.figure import Figure

from xling.report.by_setting import Line, Measure, draw_settings
from xling.report.metrics_file import Metrics
from xling.report.study_file import ModelName, StudyFile

NOTE = "Means over all layers. Pale: Default, same pair."
Trained = Mapping[ModelName, Metrics]


@dataclass(frozen=True)
class Structure:
    """What a model's two languages have in common at one layer and update; retrieval in per cent, both directions."""

    KEY: ClassVar = ("model", "update", "layer")
    model: str
    update: int
    layer: int
    retrieval: float
    chance: float
    cka: float


def structures(trained: Trained) -> list[Structure]:
    """Return the measurements of all bilingual models."""
    return [
        Structure(
            str(name),
            point.update,
            layer,
            100 * math.fsum(scores[layer] for scores in point.retrieval.values()) / len(point.retrieval),
            100 / point.sentences,
            cka,
        )
        for name, metrics in trained.items()
        for point in metrics.validations
        for layer, cka in enumerate(point.cka)
    ]


def emergence(records: Sequence[Structure], study: StudyFile) -> Figure:
    """Return two blocks of panels, retrieval and CKA, a panel a setting."""
    chance = max(record.chance for record in records)
    measures = [
        Measure(
            f"Sentence retrieval, P@1 (%), no mapping; chance is {chance:.2g}", _lines(records, "retrieval"), chance
        ),
        Measure("Linear CKA", _lines(records, "cka")),
    ]
    return draw_settings(measures, study, NOTE)


def _lines(records: Sequence[Structure], field: str) -> tuple[Line, ...]:
    """Return for every model the mean over layers at each update."""
    values: dict[str, dict[int, list[float]]] = {}
    for record in records:
        values.setdefault(record.model, {}).setdefault(record.update, []).append(getattr(record, field))
    return tuple(
        Line(ModelName.of(model), tuple((update, math.fsum(found) / len(found)) for update, found in points.items()))
        for model, points in values.items()
    )
