"""Pairs of words in context: the states of linked words of parallel sentences, and the map that they give.

A word is its first subword (docs/choices.md). Each side is normalised over all words of its sentences, as the word
vectors of Figure 4 are over their vocabulary; the map is fitted on the linked ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from xling.align.frozen import Reader
from xling.align.mapping import apply_map, procrustes
from xling.align.normalise import Matrix, Normaliser, fit_normaliser
from xling.align.symmetrise import read_links
from xling.core.errors import InputError
from xling.data.parallel import read_aligned
from xling.finetune.batches import Layout, evaluation_batches, tensor
from xling.finetune.data import Example, Speller
from xling.finetune.tuner import EVALUATED_TOKENS, ROUNDING

Rows = NDArray[np.int64]
NO_LABELS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Linked:
    """Which words, counted through all sentences of a side, are linked with which of the other side."""

    source: Rows
    target: Rows


@dataclass(frozen=True)
class Fitted:
    """A side's normaliser, the map from it (none for the side that others are mapped to), and how well it fits."""

    normaliser: Normaliser
    matrix: NDArray[np.float64] | None = None
    cosine: float | None = None  # mean over linked words, after mapping


def read_sentences(path: Path, speller: Speller) -> list[Example]:
    """Read tokenised sentences, one per line."""
    return [Example(*speller.sentence(text.split()), NO_LABELS) for (text,) in read_aligned([path])]


def read_linked(path: Path, source: Sequence[Example], target: Sequence[Example]) -> Linked:
    """Read the links of parallel sentences; both sides and the links must have equally many lines."""
    if len(source) != len(target):
        raise InputError(path, f"links {len(source)} sentences with {len(target)}", fix="they must be aligned")
    lengths = [(len(left.rows), len(right.rows)) for left, right in zip(source, target, strict=True)]
    firsts = zip(first_words(source).tolist(), first_words(target).tolist(), strict=True)
    pairs = [
        (left + i, right + j)
        for (left, right), links in zip(firsts, read_links(path, lengths), strict=False)  # the last is the end
        for i, j in sorted(links)
    ]
    if not pairs:
        raise InputError(path, "no links at all, so no map can be fitted", fix="align the words again")
    rows = np.array(pairs, dtype=np.int64)
    return Linked(rows[:, 0], rows[:, 1])


def first_words(sentences: Sequence[Example]) -> Rows:
    """Return the number of each sentence's first word, counted through all sentences."""
    return np.cumsum([0] + [len(example.rows) for example in sentences])


def word_states(reader: Reader, sentences: Sequence[Example], number: int, longest: int) -> Matrix:
    """Return the states of a layer at the first subword of every word (words, d)."""
    device, starts = next(reader.encoder.parameters()).device, first_words(sentences)
    found = np.empty((starts[-1], reader.encoder.config.shape.width), dtype=np.float32)
    for numbers in evaluation_batches(sentences, EVALUATED_TOKENS[device.type]):
        layout = Layout([sentences[i] for i in numbers], ROUNDING[device.type], longest)
        tokens = tensor(layout.tokens, device)
        states = reader.states(tokens, number, tokens != 0).flatten(0, 1)
        places = torch.from_numpy(np.concatenate([layout.flat(i) for i in range(len(numbers))])).to(device)
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in numbers])
        found[rows] = states[places].cpu().numpy()
    return found


def fit_map(source: Matrix, target: Matrix, linked: Linked) -> Fitted:
    """Return how target states are normalised and mapped onto the source's, which are normalised already."""
    normaliser, states = fit_normaliser(target)
    x, y = states[linked.target], source[linked.source]
    matrix = procrustes(x, y)
    cosines = np.einsum("nd,nd->n", apply_map(matrix, x), y)
    return Fitted(normaliser, matrix, float(cosines.mean()))
