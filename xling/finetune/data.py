"""Reads task data (JSON lines), turns words into token ids and labels into numbers, and forms batches.

Text longer than the sequences of pretraining is cut into overlapping windows, so no word is dropped. The hidden state
of a word is taken from the window in which its first subword has the most context. Windows are cut between subwords, so
a word longer than a window needs no special case.

Batches hold examples of similar length. Their order depends only on (seed, epoch), so a resumed run replays nothing.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import numbered_lines
from xling.core.seeds import numpy_rng
from xling.model.layers import rounded

SHORTEST = 5  # length of the shortest pair: </s> a </s> b </s>
POOL = 50  # number of batches whose examples are sorted by length together
Ids = NDArray[np.int32]
Labels = NDArray[np.int64]
Order = NDArray[np.int64]
Record = dict[str, Any]


class BadRecordError(ValueError):
    """A line of a task file is invalid; the message describes the problem."""


@dataclass(frozen=True, slots=True)
class Example:
    """An item of a task: its windows, the window and position of each hidden state that the task reads, its labels."""

    windows: tuple[Ids, ...]
    rows: Ids
    places: Ids
    labels: Labels

    @property
    def length(self) -> int:
        """Return the length of the longest window."""
        return max(map(len, self.windows))


@dataclass(frozen=True, slots=True)
class Speller:
    """Converts words of one language to windows of at most `limit` ids, with `</s>` at both ends."""

    vocabulary: Vocabulary
    language: str
    limit: int

    def __post_init__(self) -> None:
        """Raise an error if a pair of single subwords is too long."""
        if self.limit < SHORTEST:
            raise XlingError(f"sequences have {self.limit} tokens (pretrain.length), at least {SHORTEST} are needed")

    def sentence(self, words: Sequence[str]) -> tuple[tuple[Ids, ...], Ids, Ids]:
        """Return the windows of a sentence, and for the first subword of each word its window and position in it."""
        ids, firsts = self.vocabulary.word_pieces(self.language, words)
        pieces, places = np.array(ids, dtype=np.int32), np.array(firsts, dtype=np.int32)
        room = self.limit - 2
        starts = window_starts(len(pieces), room)
        windows = tuple(framed(pieces[start : start + room]) for start in starts)
        chosen = widest_context(places, starts, room)
        return windows, chosen, (places - starts[chosen] + 1).astype(np.int32)

    def pair(self, first: Sequence[str], second: Sequence[str]) -> tuple[Ids, ...]:
        """Return `</s> first </s> second </s>`; if that is too long, each window of `first` with each of `second`."""
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
    """Return the start positions of windows of `room` subwords, half a window apart; the last window ends the text."""
    last = max(0, pieces - room)
    if last == 0:
        return np.zeros(1, dtype=np.int32)
    return np.append(np.arange(0, last, max(1, room // 2)), last).astype(np.int32)


def widest_context(places: Ids, starts: Ids, room: int) -> Ids:
    """Return for each position the window in which its distance to the nearer end is largest."""
    inside = places[None, :] - starts[:, None]  # (windows, places)
    best: Ids = np.minimum(inside, room - 1 - inside).argmax(axis=0).astype(np.int32)
    return best


def framed(*parts: Ids) -> Ids:
    """Return the parts joined, with `</s>` before, between and after them."""
    end = np.array([END], dtype=np.int32)
    return np.concatenate([end, *(piece for part in parts for piece in (part, end))])


def read_examples(path: Path, encode: Callable[[Record], Example]) -> list[Example]:
    """Read a file of JSON lines; `encode` raises BadRecordError for an invalid record."""
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
    """Return the list of words under a key of a record."""
    words = aligned(record, key)
    for place, word in enumerate(words, start=1):
        if not isinstance(word, str) or not word.strip():
            raise BadRecordError(f"{key}: word {place} is {word!r}, expected text that is not blank")
    if not words:
        raise BadRecordError(f"{key}: no words")
    return words


def aligned(record: Record, key: str, words: int | None = None) -> list[Any]:
    """Return the list under a key of a record; if `words` is given, the list must have that length."""
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
    """Return the number of a label, or raise BadRecordError if the task has no such label."""
    if not isinstance(label, str) or label not in numbers:
        raise BadRecordError(f"{key}: {label!r} is none of {', '.join(numbers)}")
    return numbers[label]


class Layout:
    """A batch of examples as one matrix of token ids with one window per row.

    The row length is rounded up, so few different shapes occur. `starts` holds the first row of each example, `counts`
    the number of hidden states that the task reads per example, and `places` their indices in the flattened matrix.
    """

    def __init__(self, examples: Sequence[Example], rounding: int, longest: int) -> None:
        self.examples, self.rounding = examples, rounding
        windows = [window for example in examples for window in example.windows]
        sizes = np.array([len(window) for window in windows])
        self.length = min(rounded(int(sizes.max()), rounding), longest)
        self.tokens = np.zeros((len(windows), self.length), dtype=np.int64)  # 0 is <pad>
        self.tokens[np.arange(self.length) < sizes[:, None]] = np.concatenate(windows)
        self.starts = np.cumsum([0] + [len(example.windows) for example in examples])
        self.counts = np.array([len(example.rows) for example in examples])
        rows = np.repeat(self.starts[:-1], self.counts) + np.concatenate([example.rows for example in examples])
        self.places: Order = rows * self.length + np.concatenate([example.places for example in examples])


def epoch_order(count: int, per_epoch: int, seed: int, epoch: int) -> Order:
    """Return the numbers of the examples of an epoch.

    Passes over all examples, each shuffled anew, form one long list. An epoch takes the next `per_epoch` of it (0: one
    pass).
    """
    size = per_epoch or count
    first, last = epoch * size // count, ((epoch + 1) * size - 1) // count
    passes = np.concatenate([numpy_rng("order", seed, i).permutation(count) for i in range(first, last + 1)])
    start = epoch * size - first * count
    return passes[start : start + size]


def training_batches(lengths: Order, order: Order, size: int, seed: int, epoch: int) -> list[Order]:
    """Return the batches of an epoch in random order; examples are sorted by length within pools before batching."""
    pools = [order[start : start + size * POOL] for start in range(0, len(order), size * POOL)]
    ready = [pool[np.argsort(lengths[pool], kind="stable")] for pool in pools]
    batches = [pool[start : start + size] for pool in ready for start in range(0, len(pool), size)]
    return [batches[i] for i in numpy_rng("batches", seed, epoch).permutation(len(batches))]


def evaluation_batches(examples: Sequence[Example], budget: int) -> list[list[int]]:
    """Return the numbers of all examples, sorted by length, in batches of at most `budget` tokens including padding.

    An example that is larger has a batch of its own. On a GPU, `Layout` adds a little more padding.
    """
    return by_length([example.length for example in examples], [len(example.windows) for example in examples], budget)


def by_length(lengths: Sequence[int], rows: Sequence[int], budget: int) -> list[list[int]]:
    """Return item numbers sorted by length, in batches whose rows times longest length are within `budget`."""
    batches: list[list[int]] = []
    total = 0
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not batches or (total + rows[number]) * lengths[number] > budget:
            batches.append([])
            total = 0
        batches[-1].append(number)
        total += rows[number]
    return batches


def tensor(values: NDArray[np.int64], device: torch.device) -> Tensor:
    """Return an array as a tensor on a device; a copy to a GPU is asynchronous."""
    made = torch.from_numpy(values)
    return made if device.type == "cpu" else made.pin_memory().to(device, non_blocking=True)
