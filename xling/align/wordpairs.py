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
from xling.align.symmetrise import parse_links
from xling.core.errors import InputError
from xling.core.io import numbered_lines
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
    """Read tokenised sentences, one a line."""
    examples = []
    for number, line in numbered_lines(path):
        if not (words := line.split()):
            raise InputError(path, "a blank line where a sentence was expected", line=number)
        examples.append(Example(*speller.sentence(words), NO_LABELS))
    if not examples:
        raise InputError(path, "empty where sentences were expected", fix="fetch or make the file again")
    return examples


def read_links(path: Path, source: Sequence[Example], target: Sequence[Example]) -> Linked:
    """Read the links of parallel sentences; both sides and the links must be equally many lines."""
    if len(source) != len(target):
        raise InputError(path, f"links {len(source)} sentences with {len(target)}", fix="they must be aligned")
    starts = [first_words(side) for side in (source, target)]
    pairs: list[tuple[int, int]] = []
    number = 0
    for number, line in numbered_lines(path):
        if number > len(source):
            break
        lengths = len(source[number - 1].rows), len(target[number - 1].rows)
        offsets = int(starts[0][number - 1]), int(starts[1][number - 1])
        pairs += [(offsets[0] + i, offsets[1] + j) for i, j in _links(path, number, line, lengths)]
    if number != len(source):
        count = f"more than {len(source)}" if number > len(source) else number
        raise InputError(path, f"{count} lines of links for {len(source)} sentences", fix="align the words again")
    if not pairs:
        raise InputError(path, "no links at all, so no map can be fitted", fix="align the words again")
    rows = np.array(pairs, dtype=np.int64)
    return Linked(rows[:, 0], rows[:, 1])


def _links(path: Path, number: int, line: str, lengths: tuple[int, int]) -> list[tuple[int, int]]:
    try:
        links = sorted(parse_links(line))
    except ValueError as error:
        raise InputError(path, str(error), line=number) from None
    for i, j in links:
        if i >= lengths[0] or j >= lengths[1]:
            raise InputError(path, f"link {i}-{j}, but the sentences have {lengths[0]} and {lengths[1]} words", number)
    return links


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
