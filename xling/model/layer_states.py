"""What an encoder says of tokens at every layer, in the form that all analyses of section 5 take it."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from xling.model.encoder import Encoder
from xling.model.precision import autocast


@torch.no_grad()
def layer_states(encoder: Encoder, tokens: Tensor, language: int, keep: Tensor | None = None) -> Iterator[Tensor]:
    """Yield the states (b, s, d) of tokens (b, s) at layers 0 to L in float32; `keep` is false where one is padding.

    Layers that normalise before each part leave a sum that grows from layer to layer, and whatever reads it normalises
    it first. So do we, without weights, as fine-tuning does at the top: a layer's states are of one size, as they are
    where the norm comes last. Layer 0 has a norm of its own either way.
    """
    with autocast(tokens.device):
        states = encoder(tokens, language, keep)
    grows = encoder.config.shape.norm == "pre"
    for number, state in enumerate(states):
        exact = state.float()
        yield functional.layer_norm(exact, exact.shape[-1:]) if grows and number else exact
