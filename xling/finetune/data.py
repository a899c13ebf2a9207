"""Task data: JSON lines made into ids, labels made into numbers, every fault named by file and line."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError
from xling.core.io import numbered_lines
from xling.finetune.windows import Ids

Record = dict[str, Any]
Labels = NDArray[np.int64]


class BadRecordError(ValueError):
    """What is wrong with one line."""


@dataclass(frozen=True, slots=True)
class Example:
    """An item of a task: its windows, where in them the states are that it is judged by, and its labels (k, items)."""

    windows: tuple[Ids, ...]
    rows: Ids
    places: Ids
    labels: Labels

    @property
    def length(self) -> int:
        """Return the length of its longest window."""
        return max(map(len, self.windows))


def read_examples(path: Path, encode: Callable[[Record], Example]) -> list[Example]:
    """Read a file of JSON lines; `encode` says what is wrong with a record by raising BadRecordError."""
    examples = []
    for number, line in numbered_lines(path):
        try:
            examples.append(encode(_record(line)))
        except BadRecordError as error:
            raise InputError(path, str(error), line=number) from None
    if not examples:
        raise InputError(path, "empty where JSON lines were expected", fix="prepare the task's data again")
    return examples


def words_of(record: Record, key: str) -> list[str]:
    """Return a list of words of a record."""
    words = _list_of(record, key)
    for place, word in enumerate(words, start=1):
        if not isinstance(word, str) or not word.strip():
            raise BadRecordError(f"{key}: word {place} is {word!r}, expected text that is not blank")
    if not words:
        raise BadRecordError(f"{key}: no words")
    return words


def labels_of(record: Record, key: str, numbers: dict[str, int], words: int) -> list[int]:
    """Return the numbers of a record's labels, one a word."""
    return [number_of(label, key, numbers) for label in aligned(record, key, words)]


def number_of(label: object, key: str, numbers: dict[str, int]) -> int:
    """Return the number of a label of the task's set."""
    if not isinstance(label, str) or label not in numbers:
        raise BadRecordError(f"{key}: {label!r} is none of {', '.join(numbers)}")
    return numbers[label]


def aligned(record: Record, key: str, words: int) -> list[Any]:
    """Return a list of a record that has one value a word."""
    values = _list_of(record, key)
    if len(values) != words:
        raise BadRecordError(f"{key}: {len(values)} values for {words} words")
    return values


def most_common(labels: Sequence[Labels], classes: int) -> int:
    """Return the label seen most often, the first of those if several are."""
    return int(np.bincount(np.concatenate(labels), minlength=classes).argmax())


def _list_of(record: Record, key: str) -> list[Any]:
    values = record.get(key)
    if not isinstance(values, list):
        raise BadRecordError(f"no list {key!r} (has: {', '.join(record) or 'nothing'})")
    return values


def _record(line: str) -> Record:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadRecordError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(value, dict):
        raise BadRecordError("expected a JSON object")
    return value
