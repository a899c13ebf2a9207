"""A task's settings, as its section of the study's configuration has them, and the points of its grid."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from xling.core.errors import XlingError
from xling.model.fields import from_dict

WHERE = "--settings"


@dataclass(frozen=True)
class BiaffineSizes:
    """Widths and dropout of the parser (docs/choices.md: 512, 128, .33, .2)."""

    arc: int
    label: int
    dropout: float
    input_dropout: float


@dataclass(frozen=True)
class Grid:
    """Values whose every combination is a point; no head_lr means the encoder's."""

    batch: tuple[int, ...]
    encoder_lr: tuple[float, ...]
    head_lr: tuple[float, ...]


@dataclass(frozen=True)
class Settings:
    """How a task is fine-tuned; 0 examples an epoch, or points a job, mean all of them."""

    epochs: int
    examples_per_epoch: int
    schedule: Literal["fixed", "linear"]
    warmup_share: float
    grid: Grid
    best: int
    points_per_job: int


@dataclass(frozen=True)
class Point:
    """One combination of the grid."""

    number: int
    batch: int
    encoder_lr: float
    head_lr: float


def parse_settings(text: str) -> tuple[Settings, BiaffineSizes | None]:
    """Read the JSON of a task's section."""
    return read_settings(_object(text))


def read_settings(section: Mapping[str, Any]) -> tuple[Settings, BiaffineSizes | None]:
    """Read a task's section; nulls in it mean all examples, the encoder's learning rate, all points a job.

    How points are shared out over jobs changes no result, so that it may be left out.
    """
    values = dict(section)
    biaffine = values.pop("biaffine", None)
    if isinstance(values.get("grid"), Mapping):
        values["grid"] = {**values["grid"], "head_lr": values["grid"].get("head_lr") or []}
    if values.get("examples_per_epoch", 0) is None:
        values["examples_per_epoch"] = 0
    values["points_per_job"] = values.get("points_per_job") or 0
    settings = from_dict(Settings, values, WHERE)
    if not grid_points(settings) or min(settings.epochs, settings.best, *settings.grid.batch) < 1:
        raise XlingError(f"{WHERE}: epochs, best and the grid's values must be positive")
    return settings, None if biaffine is None else from_dict(BiaffineSizes, biaffine, WHERE, "biaffine")


def grid_points(settings: Settings) -> list[Point]:
    """Return every combination, batches outermost, numbered from 0."""
    grid = settings.grid
    rates = [(rate, head) for rate in grid.encoder_lr for head in grid.head_lr or (rate,)]
    return [Point(i, batch, *rate) for i, (batch, rate) in enumerate(product(grid.batch, rates))]


def _object(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise XlingError(f"{WHERE} is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(values, dict):
        raise XlingError(f"{WHERE} is not a JSON object")
    return values
