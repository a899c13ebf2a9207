"""Task layers on one layer of a frozen encoder (section 5.1.2): Transformer layers and a task's own on top of them.

The encoder below is never trained and never drops out. Text of another language may come from another frozen encoder;
how its states are shown to the task layers (as they are, or normalised and mapped) is its side's `view`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from xling.align.normalise import Normaliser
from xling.finetune.settings import Point
from xling.finetune.task import Task
from xling.finetune.tuner import Tuner
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.device import autocast
from xling.model.encoder import Encoder
from xling.model.layer_states import at_one_scale, states_at
from xling.model.layers import layer


@dataclass(frozen=True)
class Reader:
    """A frozen encoder that reads one language; `language` is the language's number in it."""

    encoder: Encoder
    language: int

    def states(self, tokens: Tensor, number: int, keep: Tensor | None = None) -> Tensor:
        """Return the states of one layer (0: the embeddings' output); the layers above are not computed."""
        return states_at(self.encoder.eval(), tokens, self.language, number, keep)


@dataclass(frozen=True)
class Side:
    """What task layers see of a language: its reader's states, through a view where there is one."""

    reader: Reader
    view: Callable[[Tensor], Tensor] | None = None


class AlignedView:
    """The rounds of a normaliser, then an orthogonal map, on the states' device.

    The result is scaled from unit length to what LayerNorm would leave, which an orthogonal map does not mind.
    """

    def __init__(self, normaliser: Normaliser, matrix: NDArray[np.float64] | None, device: torch.device) -> None:
        self.means = torch.tensor(normaliser.means, dtype=torch.float32, device=device)
        self.matrix = None if matrix is None else torch.tensor(matrix, dtype=torch.float32, device=device)

    def __call__(self, states: Tensor) -> Tensor:
        """Return states (…, d) normalised and mapped."""
        result = functional.normalize(states, dim=-1)
        for mean in self.means:
            result = functional.normalize(result - mean, dim=-1)
        if self.matrix is not None:
            result = result @ self.matrix.T
        return result * math.sqrt(states.shape[-1])


@dataclass(frozen=True)
class TaskLayers:
    """Sizes of the Transformer layers that are trained (the paper, section 5.1.2, has four; docs/choices.md)."""

    layers: int
    heads: int
    feedforward: int
    dropout: float

    def above(self, below: Shape) -> ModelConfig:
        """Return them as an encoder of one language that reads states: its embeddings are its own, so never trained."""
        shape = Shape(
            layers=self.layers, width=below.width, heads=self.heads, feedforward=self.feedforward,
            activation=below.activation, dropout=self.dropout, attention_dropout=self.dropout,
            norm=below.norm, norm_eps=below.norm_eps, positions=1, language_embeddings=False,
        )  # fmt: skip
        return ModelConfig(("states",), (1,), shape, Separate(embeddings=True, layers=0), "per-language")


class FrozenTuner(Tuner):
    """Trains task layers on layer `number` of the first side; a language's number is that of its side."""

    def __init__(
        self, sides: Sequence[Side], number: int, sizes: TaskLayers, task: Task, point: Point, seed: int, longest: int
    ) -> None:
        frozen = sides[0].reader.encoder
        stack = Encoder(sizes.above(frozen.config.shape), seed).to(next(frozen.parameters()).device)
        super().__init__(stack, task, point, 0, seed, longest)
        self.sides, self.number = sides, number

    def _states(self, tokens: Tensor, language: int) -> Tensor:
        keep, shape, side = tokens != 0, self.encoder.config.shape, self.sides[language]
        whole = not tokens.is_cuda and bool(keep.all())
        seen = None if whole else keep
        states = side.reader.states(tokens, self.number, seen)
        states = states if side.view is None else side.view(states)
        mask = None if seen is None else seen[:, None, None, :]
        with autocast(tokens.device, self.encoder.training):
            for weights in self.encoder.path(0).layers:
                states = layer(weights, states, shape, self.encoder.training, mask)
        return at_one_scale(states, self.encoder, shape.layers)
