"""The states of tokens at every layer of an encoder, in the form that all analyses of section 5 use."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from xling.model.device import autocast
from xling.model.encoder import Encoder


@torch.no_grad()
def layer_states(encoder: Encoder, tokens: Tensor, language: int, keep: Tensor | None = None) -> Iterator[Tensor]:
    """Yield the states (b, s, d) of tokens (b, s) at layers 0 to L in float32; `keep` is false where one is padding."""
    with autocast(tokens.device):
        states = encoder(tokens, language, keep)
    for number, state in enumerate(states):
        yield at_one_scale(state, encoder, number)


@torch.no_grad()
def states_at(encoder: Encoder, tokens: Tensor, language: int, number: int, keep: Tensor | None = None) -> Tensor:
    """Return what `layer_states` yields at one layer; the layers above it are not computed."""
    with autocast(tokens.device):
        states = encoder(tokens, language, keep, number)[-1]
    return at_one_scale(states, encoder, number)


def at_one_scale(states: Tensor, encoder: Encoder, number: int) -> Tensor:
    """Return the states of a layer in float32, normalised where the encoder's layers leave them to grow.

    Layers that normalise before each part (pre-LN) add to a sum that grows from layer to layer, and whatever reads it
    normalises it first. So do we, without weights: a layer's states then have one scale, as they have in a post-LN
    encoder. Layer 0, the output of the embeddings, has a norm of its own either way.
    """
    exact = states.float()
    grows = encoder.config.shape.norm == "pre" and number > 0
    return functional.layer_norm(exact, exact.shape[-1:]) if grows else exact
