"""Reading metrics.jsonl: what a model's training wrote as it went, one JSON object per line.

A line is of the kind `train` (update, losses by language, lr) or `validation` (update, loss and unigram entropy by
language; of a bilingual model also retrieval by direction and CKA, each a list over layers).
"""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from xling.core.errors import InputError
from xling.core.io import numbered_lines
from xling.report.records import validated

Number = Annotated[float, BeforeValidator(lambda value: math.nan if value is None else value)]  # null is a gap
Series = dict[str, Number]


@dataclass(frozen=True)
class Step:
    """The mean training losses since the last such line, and the learning rate."""

    update: int
    losses: Series
    lr: float


@dataclass(frozen=True)
class Validation:
    """Losses on held-out text, and what the two languages have in common by then."""

    update: int
    losses: Annotated[Series, Field(validation_alias="loss")]
    entropy: Annotated[Series, Field(validation_alias="unigram_entropy")]
    retrieval: dict[str, list[Number]] = field(default_factory=dict)
    cka: list[Number] = field(default_factory=list)
    sentences: int = 0

    @property
    def retrieved(self) -> list[float]:
        """The mean of both directions at each layer, in per cent."""
        return [100 * math.fsum(found) / len(found) for found in zip(*self.retrieval.values(), strict=True)]


@dataclass(frozen=True)
class Metrics:
    """A model's training from beginning to end."""

    steps: tuple[Step, ...]
    validations: tuple[Validation, ...]


def read_metrics(path: Path) -> Metrics:
    """Read a metrics.jsonl, naming the line that is wrong."""
    found: dict[str, list[Any]] = {"train": [], "validation": []}
    for number, line in numbered_lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(path, f"not JSON: {error.msg}", line=number) from None
        if not isinstance(value, dict) or value.get("kind") not in found:
            raise InputError(path, "expected an object whose 'kind' is train or validation", line=number)
        kind: type[Any] = Step if value["kind"] == "train" else Validation
        found[value["kind"]].append(validated(kind, value, path, number))
    if not found["validation"]:
        raise InputError(path, "no validation in it: nothing to draw", fix="has the model been trained?")
    return Metrics(tuple(found["train"]), tuple(found["validation"]))
