"""Task layers on one layer of a frozen encoder (section 5.1.2): Transformer layers with a task's output layer on top.

The encoder is never trained and uses no dropout. Each language may have its own frozen encoder. A view is the function
through which the task layers see the hidden states: unchanged, or normalised and mapped. The map is fitted on the
hidden states of linked (aligned) words of parallel sentences; a word is represented by its first subword
(docs/choices.md). Each side is normalised over all its words, as the vectors of Figure 4 are over their vocabulary.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from xling.align.align_words import read_links
from xling.align.mapping import Matrix, Means, apply_map, normalise, procrustes
from xling.align.plan import Options
from xling.core.errors import InputError
from xling.data.parallel import read_aligned
from xling.finetune.data import Example, Layout, Speller, evaluation_batches, tensor
from xling.finetune.settings import Point
from xling.finetune.tasks import Material
from xling.finetune.tuner import EVALUATED_TOKENS, ROUNDING, Tuner
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.device import autocast
from xling.model.encoder import Encoder
from xling.model.layers import layer

Rows = NDArray[np.int64]
View = Callable[[Tensor], Tensor]  # maps hidden states to the input of the task layers


@dataclass(frozen=True)
class Side:
    """A language with its frozen encoder: its index in the encoder, its parallel sentences, and its word links.

    `links` has two rows: indices of source words and the indices of the words in this language linked to them, both
    counted over all sentences. It is None for the source language.
    """

    encoder: Encoder
    language: int
    sentences: Sequence[Example]
    links: Rows | None = None

    @property
    def device(self) -> torch.device:
        """Return the device of the encoder."""
        return next(self.encoder.parameters()).device

    def states(self, tokens: Tensor, number: int, keep: Tensor | None = None) -> Tensor:
        """Return the hidden states of layer `number` (0: the embeddings' output), without computing higher layers."""
        return self.encoder.eval().states_at(tokens, self.language, number, keep)

    def word_states(self, number: int, longest: int) -> Matrix:
        """Return a layer's hidden states at the first subword of each word of the sentences, shape (words, d)."""
        starts, device = first_words(self.sentences), self.device
        found = np.empty((starts[-1], self.encoder.config.shape.width), dtype=np.float32)
        for numbers in evaluation_batches(self.sentences, EVALUATED_TOKENS[device.type]):
            layout = Layout([self.sentences[i] for i in numbers], ROUNDING[device.type], longest)
            tokens = tensor(layout.tokens, device)
            states = self.states(tokens, number, tokens != 0).flatten(0, 1)
            places = torch.from_numpy(layout.places).to(device)
            rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in numbers])
            found[rows] = states[places].cpu().numpy()
        return found


class Fitted(NamedTuple):
    """The means that normalise a side, its map onto the source (None for the source itself), and how well that fits."""

    means: Means
    matrix: NDArray[np.float64] | None = None
    cosine: float | None = None  # mean over linked words, after mapping

    def view(self, device: torch.device) -> View:
        """Return a view that normalises and maps hidden states (…, d) on the given device.

        The result is scaled from unit length to sqrt(d), the length of a LayerNorm output without weights.
        """
        means = torch.tensor(self.means, dtype=torch.float32, device=device)
        turn = None if self.matrix is None else torch.tensor(self.matrix, dtype=torch.float32, device=device)

        def view(states: Tensor) -> Tensor:
            result = functional.normalize(states, dim=-1)
            for mean in means:
                result = functional.normalize(result - mean, dim=-1)
            return (result if turn is None else result @ turn.T) * math.sqrt(states.shape[-1])

        return view


def task_layers(options: Options, below: Shape) -> ModelConfig:
    """Return the task layers as the configuration of a one-language encoder, whose embeddings are never trained."""
    shape = Shape(
        layers=options.task_layers, width=below.width, heads=options.heads, feedforward=options.feedforward,
        activation=below.activation, dropout=options.dropout, attention_dropout=options.dropout,
        norm=below.norm, norm_eps=below.norm_eps, positions=1, language_embeddings=False,
    )  # fmt: skip
    return ModelConfig(("states",), (1,), shape, Separate(embeddings=True, layers=0), "per-language")


class FrozenTuner(Tuner):
    """Trains task layers on layer `number` of the first side; language i is read with side i and view i."""

    def __init__(
        self, sides: Sequence[Side], views: Sequence[View], number: int, options: Options, material: Material
    ) -> None:
        stack = Encoder(task_layers(options, sides[0].encoder.config.shape), material.seed).to(sides[0].device)
        super().__init__(stack, material, Point(number, options.batch, options.lr, options.lr))
        self.sides, self.views, self.number = sides, views, number

    def _states(self, tokens: Tensor, language: int) -> Tensor:
        keep, shape, training = tokens != 0, self.encoder.config.shape, self.encoder.training
        seen = None if not tokens.is_cuda and bool(keep.all()) else keep
        states = self.views[language](self.sides[language].states(tokens, self.number, seen))
        with autocast(tokens.device, training):
            for weights in self.encoder.path(0).layers:
                states = layer(weights, states, shape, training, seen)
        return self.encoder.at_one_scale(states, shape.layers)


def read_sentences(path: Path, speller: Speller) -> list[Example]:
    """Read tokenised sentences, one per line."""
    return [Example(*speller.sentence(text.split()), np.zeros(0, dtype=np.int64)) for (text,) in read_aligned([path])]


def read_linked(path: Path, source: Sequence[Example], target: Sequence[Example]) -> Rows:
    """Read the word links of parallel sentences; both sides and the link file must have the same number of lines."""
    if len(source) != len(target):
        raise InputError(path, f"links {len(source)} sentences with {len(target)}", fix="they must be aligned")
    lengths = [(len(left.rows), len(right.rows)) for left, right in zip(source, target, strict=True)]
    firsts = zip(first_words(source).tolist(), first_words(target).tolist(), strict=True)
    pairs = [
        (left + i, right + j)
        for (left, right), links in zip(firsts, read_links(path, lengths), strict=False)  # firsts ends with a total
        for i, j in sorted(links)
    ]
    if not pairs:
        raise InputError(path, "no links at all, so no map can be fitted", fix="align the words again")
    return np.array(pairs, dtype=np.int64).T


def first_words(sentences: Sequence[Example]) -> Rows:
    """Return the index of the first word of each sentence, counted over all sentences, then the total of words."""
    return np.cumsum([0] + [len(example.rows) for example in sentences])


def fit_map(source: Matrix, target: Matrix, links: Rows) -> Fitted:
    """Normalise the target states and fit their map onto the source states, which are already normalised."""
    states, means = normalise(target)
    x, y = states[links[1]], source[links[0]]
    matrix = procrustes(x, y)
    cosines = np.einsum("nd,nd->n", apply_map(matrix, x), y)
    return Fitted(means, matrix, float(cosines.mean()))
