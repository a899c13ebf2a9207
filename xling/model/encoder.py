"""The encoder of the study: one Transformer of which any prefix may exist once per language.

Names of parameters say whose they are: `embeddings.shared.token`, `language.en`, `layers.0.fr.qkv_weight`,
`softmax.en.bias`. A language's embedding vector is always its own: a batch of the other language must not decay it.
Token vectors may be a language's own where positions are shared: `embeddings.en.token`, `embeddings.shared.position`.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.core.seeds import numpy_rng
from xling.model.config import SHARED, ModelConfig
from xling.model.device import autocast
from xling.model.layers import EmbeddingWeights, LayerWeights, Path, embed_rows, layer, logits, padded


class Encoder(nn.Module):
    """Embeddings, layers and softmax of every owner, and the way of each language through them."""

    def __init__(self, config: ModelConfig, seed: int | None = None) -> None:
        """Build the encoder; with a seed, draw its weights from it."""
        super().__init__()
        self.config = config
        for name, size in parameter_shapes(config).items():
            module: nn.Module = self
            *parents, last = name.split(".")
            for parent in parents:
                if parent not in module._modules:
                    module.add_module(parent, nn.Module())
                module = module.get_submodule(parent)
            module.register_parameter(last, nn.Parameter(torch.empty(size)))
        if seed is not None:
            initialise(self, seed)

    def path(self, language: int) -> Path:
        """Return the weights that a language (its index) passes through."""
        config, code = self.config, self.config.languages[language]
        owner = config.embedding_owner(code)
        token, added = self._of(f"embeddings.{owner}")["token"], self._of(f"embeddings.{config.position_owner(code)}")
        vector = self._of("language")[code] if config.has_language_embeddings else None
        norm = added["norm_weight"], added["norm_bias"]
        embeddings = EmbeddingWeights(token, added["position"], vector, *norm, added.get("sentence"))
        groups = [self._of(f"layers.{i}.{config.layer_owner(i, code)}") for i in range(config.shape.layers)]
        layers = tuple(LayerWeights(*map(group.__getitem__, LayerWeights._fields)) for group in groups)
        return Path(embeddings, layers, token, self._of(f"softmax.{owner}")["bias"], config.sizes[language])

    def _of(self, module: str) -> Mapping[str, Tensor]:
        return self.get_submodule(module)._parameters  # type: ignore[return-value]

    def forward(
        self, tokens: Tensor, language: int, keep: Tensor | None = None, layers: int | None = None
    ) -> list[Tensor]:
        """Return the states of layers 0 to L of tokens (b, s); layer 0 is the embeddings' output.

        `keep` (b, s) is false where a token is padding; padding is never looked at. With `layers`, only so many are
        computed.
        """
        path, shape = self.path(language), self.config.shape
        mask = None if keep is None else keep[:, None, None, :]
        rows = functional.embedding(tokens, path.embeddings.token)
        states = [embed_rows(path.embeddings, rows, shape, self.training, tokens=tokens)]
        for weights in path.layers[:layers]:
            states.append(layer(weights, states[-1], shape, self.training, mask))
        return states

    @torch.no_grad()
    def layer_states(self, tokens: Tensor, language: int, keep: Tensor | None = None) -> Iterator[Tensor]:
        """Yield the states (b, s, d) at layers 0 to L in the form that all analyses of section 5 use."""
        with autocast(tokens.device):
            states = self(tokens, language, keep)
        for number, state in enumerate(states):
            yield self.at_one_scale(state, number)

    @torch.no_grad()
    def states_at(self, tokens: Tensor, language: int, number: int, keep: Tensor | None = None) -> Tensor:
        """Return what `layer_states` yields at one layer; the layers above it are not computed."""
        with autocast(tokens.device):
            states = self(tokens, language, keep, number)[-1]
        return self.at_one_scale(states, number)

    def at_one_scale(self, states: Tensor, number: int) -> Tensor:
        """Return the states of a layer in float32, normalised where the encoder's layers leave them to grow.

        Layers that normalise before each part (pre-LN) add to a sum that grows from layer to layer, and whatever reads
        it normalises it first. So do we, without weights: a layer's states then have one scale, as they have in a
        post-LN encoder. Layer 0, the output of the embeddings, has a norm of its own either way.
        """
        exact = states.float()
        grows = self.config.shape.norm == "pre" and number > 0
        return functional.layer_norm(exact, exact.shape[-1:]) if grows else exact

    def logits(self, states: Tensor, language: int) -> Tensor:
        """Return the scores of every word of a language's vocabulary for top-layer states (…, d)."""
        return logits(self.path(language), states)

    def vocabulary(self, name: str) -> int | None:
        """Return how many rows of a parameter are words, or None where it is no vocabulary table."""
        part, owner, *_ = name.split(".")
        if not (part == "softmax" or name.endswith(".token")):
            return None
        sizes = zip(self.config.languages, self.config.sizes, strict=True)
        return next(size for code, size in sizes if self.config.embedding_owner(code) == owner)


def owner_of(name: str) -> str:
    """Return the owner of a parameter, `shared` or a language, from its name."""
    parts = name.split(".")
    return parts[2] if parts[0] == "layers" else parts[1]


def parameter_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter by its name; their order decides the bits of training."""
    d, inner = config.shape.width, config.shape.feedforward
    sentences = {"sentence": (config.shape.sentences, d)} if config.shape.sentences else {}
    added = {"position": (config.shape.positions, d), **sentences, "norm_weight": (d,), "norm_bias": (d,)}
    of_layer = {
        "qkv_weight": (3 * d, d), "qkv_bias": (3 * d,), "out_weight": (d, d), "out_bias": (d,),
        "up_weight": (inner, d), "up_bias": (inner,), "down_weight": (d, inner), "down_bias": (d,),
        "norm1_weight": (d,), "norm1_bias": (d,), "norm2_weight": (d,), "norm2_bias": (d,),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {}
    sizes = {code: padded(size) for code, size in zip(config.languages, config.sizes, strict=True)}
    for code, size in sizes.items():
        shapes[f"embeddings.{config.embedding_owner(code)}.token"] = (size, d)
        shapes |= {f"embeddings.{config.position_owner(code)}.{name}": found for name, found in added.items()}
    if config.has_language_embeddings:
        shapes |= {f"language.{code}": (d,) for code in sorted(sizes)}
    for number in range(config.shape.layers):
        for code in sizes:
            owner = config.layer_owner(number, code)
            shapes |= {f"layers.{number}.{owner}.{name}": found for name, found in of_layer.items()}
    return shapes | {f"softmax.{config.embedding_owner(code)}.bias": (size,) for code, size in sizes.items()}


def initialise(encoder: Encoder, seed: int) -> None:
    """Draw every parameter from a generator of its own name, so that no setting shifts another's numbers.

    Embeddings are normal with standard deviation d^-1/2, linear layers PyTorch's default, which is uniform within
    1/sqrt(inputs) for weights and biases (as in XLM's code, which the paper uses). Parameters that begin as copies use
    the name of the shared parameter they replace, so all languages begin with the values that Default begins with; but
    words never begin equal, because vocabularies differ.
    """
    width, copies = encoder.config.shape.width, encoder.config.separate.start == "copies"
    for name, parameter in encoder.named_parameters():
        part, *middle, last = name.split(".")
        copied = copies and part not in ("language", "softmax") and last != "token"
        rng = numpy_rng("weights", seed, ".".join([part, *middle[:-1], SHARED, last]) if copied else name)
        size = (encoder.vocabulary(name) or parameter.shape[0], *parameter.shape[1:])
        if "norm" in last:
            drawn = np.full(size, float(last.endswith("weight")))
        elif last in ("token", "position", "sentence") or part == "language":
            drawn = rng.normal(0.0, width**-0.5, size)
        else:
            bound = 1 / math.sqrt(encoder.config.shape.feedforward if last.startswith("down_") else width)
            drawn = rng.uniform(-bound, bound, size)
        with torch.no_grad():
            parameter.zero_()[: size[0]].copy_(torch.from_numpy(drawn))
