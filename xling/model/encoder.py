"""The encoder of the study: one Transformer of which any prefix may exist once per language.

Names of parameters say whose they are: `embeddings.shared.token`, `language.en`, `layers.0.fr.qkv_weight`,
`softmax.en.bias`. A language's embedding vector is always its own: a batch of the other language must not decay it.
Token vectors may be a language's own where positions are shared: `embeddings.en.token`, `embeddings.shared.position`.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.core.seeds import numpy_rng
from xling.model.config import SHARED, ModelConfig
from xling.model.layers import EmbeddingWeights, LayerWeights, Path, embed_rows, layer, logits, padded


class Encoder(nn.Module):
    """Embeddings, layers and softmax of every owner, and the way of each language through them."""

    def __init__(self, config: ModelConfig, seed: int | None = None) -> None:
        """Build the encoder; with a seed, draw its weights from it."""
        super().__init__()
        self.config = config
        shape, languages = config.shape, config.languages
        sizes = {config.embedding_owner(code): size for code, size in zip(languages, config.sizes, strict=True)}
        self.embeddings = nn.ModuleDict({owner: _weights(s) for owner, s in _embedding_shapes(config).items()})
        spoken = languages if config.has_language_embeddings else ()
        vectors = {code: nn.Parameter(torch.empty(shape.width)) for code in spoken}
        self.language = nn.ParameterDict(vectors)
        self.layers = nn.ModuleList(
            nn.ModuleDict({owner: _weights(_layer_shapes(config)) for owner in _owners(config, i)})
            for i in range(shape.layers)
        )
        self.softmax = nn.ModuleDict({owner: _weights({"bias": (padded(v),)}) for owner, v in sizes.items()})
        if seed is not None:
            initialise(self, seed)

    def path(self, language: int) -> Path:
        """Return the weights that a language (its index) passes through."""
        config, code = self.config, self.config.languages[language]
        owner, position_owner = config.embedding_owner(code), config.position_owner(code)
        vector = self.language[code] if config.has_language_embeddings else None
        own, added = _part(self.embeddings, owner), _part(self.embeddings, position_owner)
        layers = tuple(
            LayerWeights(*map(_part(group, config.layer_owner(i, code)).__getitem__, LayerWeights._fields))
            for i, group in enumerate(self.layers)
        )
        sentence = added["sentence"] if config.shape.sentences else None
        norm = added["norm_weight"], added["norm_bias"]
        embeddings = EmbeddingWeights(own["token"], added["position"], vector, *norm, sentence)
        bias = _part(self.softmax, owner)["bias"]
        return Path(embeddings, layers, own["token"], bias, config.sizes[language])

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

    def logits(self, states: Tensor, language: int) -> Tensor:
        """Return the scores of every word of a language's vocabulary for top-layer states (…, d)."""
        return logits(self.path(language), states)

    def vocabulary(self, name: str) -> int | None:
        """Return how many rows of a parameter are words, or None where it is no vocabulary table."""
        part, owner, *_ = name.split(".")
        if not (part == "softmax" or name.endswith(".token")):
            return None
        return next(
            size
            for code, size in zip(self.config.languages, self.config.sizes, strict=True)
            if self.config.embedding_owner(code) == owner
        )


def owner_of(name: str) -> str:
    """Return the owner of a parameter, `shared` or a language, from its name."""
    parts = name.split(".")
    return parts[2] if parts[0] == "layers" else parts[1]


def initialise(encoder: Encoder, seed: int) -> None:
    """Draw every parameter from a generator of its own name, so that no setting shifts another's numbers.

    Embeddings are normal with standard deviation d^-1/2, linear layers PyTorch's default, which is uniform within
    1/sqrt(inputs) for weights and biases (as in XLM's code, which the paper uses). Parameters that begin as copies use
    the name of the shared parameter they replace, so all languages begin with the values that Default begins with.
    """
    width = encoder.config.shape.width
    inner = {"down_weight": encoder.config.shape.feedforward, "down_bias": encoder.config.shape.feedforward}
    for name, parameter in encoder.named_parameters():
        last = name.split(".")[-1]
        rng, size = (
            numpy_rng("weights", seed, _name_of_start(encoder.config, name)),
            (encoder.vocabulary(name) or parameter.shape[0], *parameter.shape[1:]),
        )
        if "norm" in last:
            drawn = np.full(size, float(last.endswith("weight")))
        elif last in ("token", "position", "sentence") or name.startswith("language."):
            drawn = rng.normal(0.0, width**-0.5, size)
        else:
            bound = 1 / math.sqrt(inner.get(last, width))
            drawn = rng.uniform(-bound, bound, size)
        with torch.no_grad():
            parameter.zero_()[: size[0]].copy_(torch.from_numpy(drawn))


def _name_of_start(config: ModelConfig, name: str) -> str:
    """Return the name that a parameter's initial values are drawn by; words never begin equal: vocabularies differ."""
    part, *rest = name.split(".")
    if config.separate.start == "apart" or part in ("language", "softmax") or rest[-1] == "token":
        return name
    owner = len(rest) - 2
    return ".".join([part, *rest[:owner], SHARED, rest[-1]])


def _embedding_shapes(config: ModelConfig) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return what each owner has of the embeddings; the order within an owner is that of checkpoints."""
    width = config.shape.width
    sentences = {"sentence": (config.shape.sentences, width)} if config.shape.sentences else {}
    added = {"position": (config.shape.positions, width), **sentences, "norm_weight": (width,), "norm_bias": (width,)}
    shapes: dict[str, dict[str, tuple[int, ...]]] = {}
    for code, size in zip(config.languages, config.sizes, strict=True):
        shapes.setdefault(config.embedding_owner(code), {})["token"] = (padded(size), width)
        shapes.setdefault(config.position_owner(code), {}).update(added)
    return shapes


def _layer_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    d, inner = config.shape.width, config.shape.feedforward
    attention = {"qkv_weight": (3 * d, d), "qkv_bias": (3 * d,), "out_weight": (d, d), "out_bias": (d,)}
    norms = {f"norm{i}_{part}": (d,) for i in (1, 2) for part in ("weight", "bias")}
    return {
        **attention,
        "up_weight": (inner, d),
        "up_bias": (inner,),
        "down_weight": (d, inner),
        "down_bias": (d,),
        **norms,
    }


def _owners(config: ModelConfig, index: int) -> list[str]:
    return list(dict.fromkeys(config.layer_owner(index, code) for code in config.languages))


def _weights(shapes: Mapping[str, tuple[int, ...]]) -> nn.ParameterDict:
    """Return named parameters in this order, which is that of checkpoints; torch would sort a plain dict."""
    return nn.ParameterDict(OrderedDict((name, nn.Parameter(torch.empty(size))) for name, size in shapes.items()))


def _part(group: nn.Module, owner: str) -> Mapping[str, Tensor]:
    return group[owner]  # type: ignore[index,no-any-return]
