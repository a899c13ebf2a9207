"""Train a model that begins with other values, for the runs of docs/recipe.md that no config key describes.

python -m bench.initial_values sinusoids=2,equal-languages --run-json run.json … (the flags of xling.pretrain.run)

sinusoids=N: position vectors begin as sinusoids of norm N. longer=N: random position vectors are N times as long.
equal-languages: all language vectors begin with the same values. small: weights and embeddings have a standard
deviation of .02, biases are 0. zero: the last matrix of each half of a layer begins at 0. extra-norm: the softmax reads
its input through one more LayerNorm without parameters.
"""

import math
import sys
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from xling.core.errors import run
from xling.core.seeds import numpy_rng
from xling.model import encoder as encoder_module
from xling.model import layers
from xling.model.encoder import Encoder
from xling.pretrain import run as training

USUAL, LOGITS = encoder_module.initialise, layers.logits
KINDS = ("sinusoids", "longer", "equal-languages", "small", "zero", "extra-norm")
LAST = ("out_weight", "down_weight", "out_bias", "down_bias")
DEVIATION = 0.02


def sinusoids(rows: int, width: int) -> Tensor:
    """Return vectors of norm 1: column 2i of row t is the sine of t / 10000^(2i / width), column 2i + 1 its cosine."""
    angles = torch.arange(rows)[:, None] * torch.exp(-math.log(10000.0) * torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1) * math.sqrt(2 / width)


@torch.no_grad()
def initialise(encoder: Encoder, seed: int, changes: Mapping[str, float]) -> None:
    """Draw the usual values, then replace some of them."""
    USUAL(encoder, seed)
    width, generator = encoder.config.shape.width, torch.Generator().manual_seed(seed)
    for name, parameter in encoder.named_parameters():
        last = name.split(".")[-1]
        if "sinusoids" in changes and last == "position":
            parameter.copy_(changes["sinusoids"] * sinusoids(len(parameter), width))
        if "longer" in changes and last == "position":
            parameter.mul_(changes["longer"])
        if "equal-languages" in changes and name.startswith("language."):
            drawn = numpy_rng("weights", seed, "language.shared").normal(0.0, width**-0.5, width)
            parameter.copy_(torch.from_numpy(drawn))
        if "zero" in changes and last in LAST:
            parameter.zero_()
        if "small" not in changes or "norm" in last:
            continue
        if last in ("token", "position"):
            parameter.mul_(DEVIATION * math.sqrt(width))
        elif parameter.dim() == 2:
            parameter.copy_(DEVIATION * torch.randn(parameter.shape, generator=generator))
        elif last.endswith("bias"):
            parameter.zero_()


def with_extra_norm(path: layers.Path, states: Tensor) -> Tensor:
    """Return the logits of normalised states."""
    return LOGITS(path, functional.layer_norm(states, states.shape[-1:]))


def main() -> None:
    """Make the changes, then train as usual."""
    changes = {kind: float(size or 1) for kind, _, size in (item.partition("=") for item in sys.argv.pop(1).split(","))}
    if not changes.keys() <= set(KINDS):
        sys.exit(__doc__)
    if "extra-norm" in changes:
        layers.logits = with_extra_norm
    encoder_module.initialise = lambda encoder, seed: initialise(encoder, seed, changes)
    training.main()


if __name__ == "__main__":
    run(main)
