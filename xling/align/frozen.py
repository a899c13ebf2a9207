"""Task layers on one layer of a frozen encoder (section 5.1.2): Transformer layers and a task's own on top of them.

The encoder below is never trained and never drops out. Text of another language may come from another frozen encoder;
how its states are shown to the task layers (as they are, or normalised and mapped) is its view. The map
comes from the states of linked words of parallel sentences. A word is its first subword (docs/choices.md); each side is
normalised over all words of its sentences, as the word vectors of Figure 4 are over their vocabulary.
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
from xling.align.mapping import Matrix, Normaliser, apply_map, fit_normaliser, procrustes
from xling.align.plan import Options
from xling.core.errors import InputError
from xling.data.parallel import read_aligned
from xling.finetune.batches import Layout, evaluation_batches, tensor
from xling.finetune.data import Example, Speller
from xling.finetune.settings import Point
from xling.finetune.tasks import Material
from xling.finetune.tuner import EVALUATED_TOKENS, ROUNDING, Tuner
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.device import autocast
from xling.model.encoder import Encoder
from xling.model.layers import layer

Rows = NDArray[np.int64]
View = Callable[[Tensor], Tensor]  # of states, as the task layers see them


@dataclass(frozen=True)
class Side:
    """A language that a frozen encoder reads: its number there, its parallel sentences, and how they are linked.

    `links` are two rows: the numbers of words of the source, and those of this language's words that they belong to,
    both counted through all sentences; None for the source itself.
    """

    encoder: Encoder
    language: int
    sentences: Sequence[Example]
    links: Rows | None = None

    @property
    def device(self) -> torch.device:
        """Return where the encoder is."""
        return next(self.encoder.parameters()).device

    def states(self, tokens: Tensor, number: int, keep: Tensor | None = None) -> Tensor:
        """Return the states of one layer (0: the embeddings' output); the layers above are not computed."""
        return self.encoder.eval().states_at(tokens, self.language, number, keep)

    def word_states(self, number: int, longest: int) -> Matrix:
        """Return the states of a layer at the first subword of every word of the sentences (words, d)."""
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
    """A side's normaliser, the map from it (none for the side that others are mapped to), and how well it fits."""

    normaliser: Normaliser
    matrix: NDArray[np.float64] | None = None
    cosine: float | None = None  # mean over linked words, after mapping

    def view(self, device: torch.device) -> View:
        """Return a view that takes states (…, d) through the normaliser's rounds and the map, on their device.

        The result is scaled from unit length to what LayerNorm would leave, which an orthogonal map does not mind.
        """
        means = torch.tensor(self.normaliser.means, dtype=torch.float32, device=device)
        turn = None if self.matrix is None else torch.tensor(self.matrix, dtype=torch.float32, device=device)

        def view(states: Tensor) -> Tensor:
            result = functional.normalize(states, dim=-1)
            for mean in means:
                result = functional.normalize(result - mean, dim=-1)
            return (result if turn is None else result @ turn.T) * math.sqrt(states.shape[-1])

        return view


def task_layers(options: Options, below: Shape) -> ModelConfig:
    """Return what is trained as an encoder of one language that reads states; its embeddings never train."""
    shape = Shape(
        layers=options.task_layers, width=below.width, heads=options.heads, feedforward=options.feedforward,
        activation=below.activation, dropout=options.dropout, attention_dropout=options.dropout,
        norm=below.norm, norm_eps=below.norm_eps, positions=1, language_embeddings=False,
    )  # fmt: skip
    return ModelConfig(("states",), (1,), shape, Separate(embeddings=True, layers=0), "per-language")


class FrozenTuner(Tuner):
    """Trains task layers on layer `number` of the first side; a language's number is that of its side and its view."""

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
        mask = None if seen is None else seen[:, None, None, :]
        with autocast(tokens.device, training):
            for weights in self.encoder.path(0).layers:
                states = layer(weights, states, shape, training, mask)
        return self.encoder.at_one_scale(states, shape.layers)


def read_sentences(path: Path, speller: Speller) -> list[Example]:
    """Read tokenised sentences, one per line."""
    return [Example(*speller.sentence(text.split()), np.zeros(0, dtype=np.int64)) for (text,) in read_aligned([path])]


def read_linked(path: Path, source: Sequence[Example], target: Sequence[Example]) -> Rows:
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
    return np.array(pairs, dtype=np.int64).T


def first_words(sentences: Sequence[Example]) -> Rows:
    """Return the number of each sentence's first word, counted through all sentences."""
    return np.cumsum([0] + [len(example.rows) for example in sentences])


def fit_map(source: Matrix, target: Matrix, links: Rows) -> Fitted:
    """Return how target states are normalised and mapped onto the source's, which are normalised already."""
    normaliser, states = fit_normaliser(target)
    x, y = states[links[1]], source[links[0]]
    matrix = procrustes(x, y)
    cosines = np.einsum("nd,nd->n", apply_map(matrix, x), y)
    return Fitted(normaliser, matrix, float(cosines.mean()))
