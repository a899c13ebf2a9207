"""The settings of a task, as in its section of the study's configuration, and the points of its grid."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field

from xling.core.records import Count, Different, Positive, Share, key, optional, read_record, record

Counts = Annotated[tuple[Count, ...], Field(min_length=1), Different]
Rates = Annotated[tuple[Positive, ...], Field(min_length=1), Different]


Loss = Literal["per-batch", "per-word"]
LOSS = (
    "What counts equally in the loss: every batch, or every word. A batch holds sentences of about one "
    "length, so with per-batch a word of a short sentence counts more than in a random batch."
)


@record
class BiaffineSizes:
    """Sizes of the biaffine parser (docs/choices.md: 512, 128, .33, .2)."""

    arc: Count = key("Width of the arc scorer.")
    label: Count = key("Width of the label scorer.")
    dropout: Share = key("Dropout inside the parser.")
    input_dropout: Share = key("Dropout on the parser's input.")


@record
class Grid:
    """Values whose every combination is a grid point."""

    batch: Counts = key("Examples per step.")
    encoder_lr: Rates = key("Learning rates of the encoder.")
    head_lr: Rates | None = key("Learning rates of the task layer, or null for the encoder's.")


@record
class Settings:
    """How a task is fine-tuned."""

    epochs: Count = key("Epochs; an evaluation follows each.")
    examples_per_epoch: Count | None = key("Examples per epoch, or null for all.")
    schedule: Literal["fixed", "linear"] = key("Learning rate: fixed, or linear warm-up and linear decay to 0.")
    warmup_share: Share = key("Share of the steps that warm up, for linear.")
    grid: Grid = key("Every combination is a grid point.")
    best: Count = key("The score is the mean of this many points, the best by English dev (two in the paper).")
    biaffine: BiaffineSizes | None = optional("Sizes of the biaffine parser; parsing needs them.")
    loss: Loss = key(LOSS, default="per-batch")


@dataclass(frozen=True)
class Point:
    """One combination of the grid."""

    number: int
    batch: int
    encoder_lr: float
    head_lr: float


def read_settings(section: Mapping[str, Any]) -> Settings:
    """Read the section of a task."""
    return read_record(Settings, section, "--settings")


def grid_points(settings: Settings) -> list[Point]:
    """Return every combination of the grid, numbered from 0; the batch size varies slowest."""
    grid = settings.grid
    rates = [(rate, head) for rate in grid.encoder_lr for head in grid.head_lr or (rate,)]
    return [Point(i, batch, *rate) for i, (batch, rate) in enumerate(product(grid.batch, rates))]
