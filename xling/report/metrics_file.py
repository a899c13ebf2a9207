"""Reading metrics.jsonl: what a model's training wrote as it went, one JSON object a line.

A line is of the kind `train` (update, losses by language, lr) or `validation` (update, loss and unigram entropy by
language; of a bilingual model also retrieval by direction and CKA, each a list over layers).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import numbered_lines

Series = dict[str, float]


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
    losses: Series
    entropy: Series
    retrieval: dict[str, list[float]]
    cka: list[float]
    sentences: int


@dataclass(frozen=True)
class Metrics:
    """A model's training from beginning to end."""

    steps: tuple[Step, ...]
    validations: tuple[Validation, ...]


def read_metrics(path: Path) -> Metrics:
    """Read a metrics.jsonl, naming the line that is wrong."""
    steps: list[Step] = []
    validations: list[Validation] = []
    for number, line in numbered_lines(path):
        value = _object(path, number, line)
        try:
            if value["kind"] == "train":
                steps.append(Step(int(value["update"]), _series(value["losses"]), float(value["lr"])))
            else:
                validations.append(_validation(value))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else f"not as expected: {error}"
            raise InputError(path, problem, line=number, fix="lines as the pretraining writes them") from None
    if not validations:
        raise InputError(path, "no validation in it: nothing to draw", fix="has the model been trained?")
    return Metrics(tuple(steps), tuple(validations))


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(path, f"not JSON: {error.msg}", line=number) from None
    if not isinstance(value, dict) or value.get("kind") not in {"train", "validation"}:
        raise InputError(path, "expected an object whose 'kind' is train or validation", line=number)
    return value


def _validation(value: Mapping[str, Any]) -> Validation:
    return Validation(
        int(value["update"]),
        _series(value["loss"]),
        _series(value["unigram_entropy"]),
        {direction: _numbers(scores) for direction, scores in value.get("retrieval", {}).items()},
        _numbers(value.get("cka", [])),
        int(value.get("sentences", 0)),
    )


def _series(values: Mapping[str, Any]) -> Series:
    return {language: _number(value) for language, value in values.items()}


def _numbers(values: list[Any]) -> list[float]:
    return [_number(value) for value in values]


def _number(value: Any) -> float:
    """Return a number; a gap in a curve (null) is drawn as one."""
    return math.nan if value is None else float(value)
