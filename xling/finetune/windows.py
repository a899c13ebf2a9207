"""Text that is longer than the encoder reads is cut into overlapping windows; no word is ever left out.

Each word's state comes from the window in which its first subword has most context. A word that is longer than a window
needs no care: windows are cut between subwords.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError

Ids = NDArray[np.int32]
SHORTEST = 5  # </s> a </s> b </s>


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
        left, right = (self.vocabulary.encode_words(self.language, words) for words in (first, second))
        room = self.limit - 3
        right_room = min(len(right), max(room // 2, room - len(left)))
        rights = chunks(np.array(right, dtype=np.int32), right_room)
        lefts = chunks(np.array(left, dtype=np.int32), room - right_room)
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


def chunks(pieces: Ids, room: int) -> list[Ids]:
    """Return the windows of pieces."""
    return [pieces[start : start + room] for start in window_starts(len(pieces), room)]


def framed(*parts: Ids) -> Ids:
    """Return parts with `</s>` before, between and after them."""
    end = np.array([END], dtype=np.int32)
    return np.concatenate([end, *(piece for part in parts for piece in (part, end))])
