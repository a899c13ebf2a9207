"""Train a model that begins with other values, for the runs of docs/recipe.md that no config key describes.

python -m bench.initial_values sinusoids=2 --run-json run.json --streams en=DIR … (the flags of xling.pretrain.run)

sinusoids=N: position vectors begin as sinusoids of norm N. longer=N: random position vectors are N times as long.
small: weights and embeddings have a standard deviation of .02, biases are 0. zero: the last matrix of each half of a
layer begins at 0. extra-norm: the softmax reads its input through one more LayerNorm without parameters.
"""

import math
import sys

import torch
from torch import Tensor
from torch.nn import functional

from xling.core.errors import run
from xling.model import encoder as encoder_module
from xling.model import layers
from xling.model.encoder import Encoder
from xling.pretrain import run as training

USUAL, LOGITS = encoder_module.initialise, layers.logits
LAST = ("out_weight", "down_weight", "out_bias", "down_bias")
DEVIATION = 0.02


def sinusoids(rows: int, width: int) -> Tensor:
    """Return vectors of norm 1: column 2i of row t is the sine of t / 10000^(2i / width), column 2i + 1 its cosine."""
    angles = torch.arange(rows)[:, None] * torch.exp(-math.log(10000.0) * torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1) * math.sqrt(2 / width)


@torch.no_grad()
def initialise(encoder: Encoder, seed: int, kind: str, size: float) -> None:
    """Draw the usual values, then replace some of them."""
    USUAL(encoder, seed)
    width, generator = encoder.config.shape.width, torch.Generator().manual_seed(seed)
    for name, parameter in encoder.named_parameters():
        last = name.split(".")[-1]
        if kind == "sinusoids" and last == "position":
            parameter.copy_(size * sinusoids(len(parameter), width))
        elif kind == "longer" and last == "position":
            parameter.mul_(size)
        elif kind == "zero" and last in LAST:
            parameter.zero_()
        elif kind == "small" and last in ("token", "position"):
            parameter.mul_(DEVIATION * math.sqrt(width))
        elif kind == "small" and "norm" not in last and parameter.dim() == 2:
            parameter.copy_(DEVIATION * torch.randn(parameter.shape, generator=generator))
        elif kind == "small" and last.endswith("bias") and "norm" not in last:
            parameter.zero_()


def with_extra_norm(path: layers.Path, states: Tensor) -> Tensor:
    """Return the logits of normalised states."""
    return LOGITS(path, functional.layer_norm(states, states.shape[-1:]))


def main() -> None:
    """Replace the initial values, then train as usual."""
    kind, _, size = sys.argv.pop(1).partition("=")
    if kind not in ("sinusoids", "longer", "small", "zero", "extra-norm"):
        sys.exit(__doc__)
    if kind == "extra-norm":
        layers.logits = with_extra_norm
    else:
        encoder_module.initialise = lambda encoder, seed: initialise(encoder, seed, kind, float(size or 1))
    training.main()


if __name__ == "__main__":
    run(main)
