"""Task data: JSON lines made into ids that the encoder reads, labels made into numbers, every fault named by its line.

Text that is longer than the encoder reads is cut into overlapping windows, so that no word is ever left out. The state
of a word comes from the window in which its first subword has most context. Windows are cut between subwords, so a word
longer than a window is no special case.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import numbered_lines

SHORTEST = 5  # </s> a </s> b </s>
Ids = NDArray[np.int32]
Labels = NDArray[np.int64]
Record = dict[str, Any]


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


@dataclass(frozen=True, slots=True)
class Speller:
    """Words of one language as the encoder reads them: at most `limit` ids, `</s>` at both ends."""

    vocabulary: Vocabulary
    language: str
    limit: int

    def __post_init__(self) -> None:
        """Refuse an encoder that cannot read a pair of two subwords."""
        if self.limit < SHORTEST:
            raise XlingError(f"the encoder reads {self.limit} tokens, at least {SHORTEST} are needed")

    def sentence(self, words: Sequence[str]) -> tuple[tuple[Ids, ...], Ids, Ids]:
        """Return the windows of a sentence, and the window and the place in it of each word's first subword."""
        ids, firsts = self.vocabulary.word_pieces(self.language, words)
        pieces, places = np.array(ids, dtype=np.int32), np.array(firsts, dtype=np.int32)
        room = self.limit - 2
        starts = window_starts(len(pieces), room)
        windows = tuple(framed(pieces[start : start + room]) for start in starts)
        chosen = widest_context(places, starts, room)
        return windows, chosen, (places - starts[chosen] + 1).astype(np.int32)

    def pair(self, first: Sequence[str], second: Sequence[str]) -> tuple[Ids, ...]:
        """Return `</s> first </s> second </s>`; where that is too long, every window of one with each of the other."""
        left, right = (
            np.array(self.vocabulary.encode_words(self.language, words), dtype=np.int32) for words in (first, second)
        )
        room = self.limit - 3
        right_room = min(len(right), max(room // 2, room - len(left)))
        lefts, rights = (
            [part[start : start + size] for start in window_starts(len(part), size)]
            for part, size in ((left, room - right_room), (right, right_room))
        )
        return tuple(framed(one, other) for one in lefts for other in rights)


def window_starts(pieces: int, room: int) -> Ids:
    """Return where windows of `room` pieces start: half a window apart, the last one at the end of the text."""
    last = max(0, pieces - room)
    if last == 0:
        return np.zeros(1, dtype=np.int32)
    return np.append(np.arange(0, last, max(1, room // 2)), last).astype(np.int32)


def widest_context(places: Ids, starts: Ids, room: int) -> Ids:
    """Return for each place the window in which it is furthest from both ends."""
    inside = places[None, :] - starts[:, None]  # (windows, places)
    best: Ids = np.minimum(inside, room - 1 - inside).argmax(axis=0).astype(np.int32)
    return best


def framed(*parts: Ids) -> Ids:
    """Return parts with `</s>` before, between and after them."""
    end = np.array([END], dtype=np.int32)
    return np.concatenate([end, *(piece for part in parts for piece in (part, end))])


def read_examples(path: Path, encode: Callable[[Record], Example]) -> list[Example]:
    """Read a file of JSON lines; `encode` says what is wrong with a record by raising BadRecordError."""
    examples = []
    for number, line in numbered_lines(path):
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise BadRecordError("expected a JSON object")
            examples.append(encode(record))
        except json.JSONDecodeError as error:
            problem = f"not JSON: {error.msg} at character {error.pos + 1}"
            raise InputError(path, problem, line=number) from None
        except BadRecordError as error:
            raise InputError(path, str(error), line=number) from None
    if not examples:
        raise InputError(path, "empty where JSON lines were expected", fix="prepare the task's data again")
    return examples


def words_of(record: Record, key: str) -> list[str]:
    """Return a list of words of a record."""
    words = aligned(record, key)
    for place, word in enumerate(words, start=1):
        if not isinstance(word, str) or not word.strip():
            raise BadRecordError(f"{key}: word {place} is {word!r}, expected text that is not blank")
    if not words:
        raise BadRecordError(f"{key}: no words")
    return words


def aligned(record: Record, key: str, words: int | None = None) -> list[Any]:
    """Return a list of a record; where a number of words is given, it must have one value per word."""
    values = record.get(key)
    if not isinstance(values, list):
        raise BadRecordError(f"no list {key!r} (has: {', '.join(record) or 'nothing'})")
    if words is not None and len(values) != words:
        raise BadRecordError(f"{key}: {len(values)} values for {words} words")
    return values


def labels_of(record: Record, key: str, numbers: dict[str, int], words: int) -> list[int]:
    """Return the numbers of a record's labels, one per word."""
    return [number_of(label, key, numbers) for label in aligned(record, key, words)]


def number_of(label: object, key: str, numbers: dict[str, int]) -> int:
    """Return the number of a label of the task's set."""
    if not isinstance(label, str) or label not in numbers:
        raise BadRecordError(f"{key}: {label!r} is none of {', '.join(numbers)}")
    return numbers[label]
