"""The encoder of the study: a Transformer whose lowest parts, up to any layer, can be separate for each language.

The name of a parameter contains its owner, `shared` or a language: `embeddings.shared.token`, `layers.0.fr.qkv_weight`,
`softmax.en.bias`. Language embeddings (`language.en`) are always separate: a batch of one language must not decay the
vector of another. Token vectors can be separate (`embeddings.en.token`) with shared `embeddings.shared.position`.
"""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xling.bpe.streams import SPECIAL
from xling.core.seeds import numpy_rng
from xling.model.config import SHARED, ModelConfig
from xling.model.device import autocast
from xling.model.layers import ROWS, EmbeddingWeights, LayerWeights, Path, embed_rows, layer, logits, rounded

# Parts whose separate parameters start as copies; with `equal`, the vectors of special tokens do so as well.
COPIED = {"apart": (), "copies": ("embeddings", "layers"), "equal": ("embeddings", "layers", "language")}


class Encoder(nn.Module):
    """The embeddings, layers and softmax of every owner, and the path of each language through them."""

    def __init__(self, config: ModelConfig, seed: int | None = None) -> None:
        """Build the encoder; if a seed is given, initialise its weights from it."""
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
        """Return the weights used by the language with this index."""
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
        self,
        tokens: Tensor,
        language: int,
        keep: Tensor | None = None,
        layers: int | None = None,
        pick: Callable[[Tensor], Tensor] | None = None,
    ) -> list[Tensor]:
        """Return the hidden states of tokens (b, s) at layers 0 to L; layer 0 is the embeddings' output.

        `keep` (b, s) is false at padding, which is never attended to. If `layers` is given, only that many layers are
        computed. `pick` selects the positions whose output of the top layer is returned; what follows its attention
        is computed only for them.
        """
        path, shape = self.path(language), self.config.shape
        rows = functional.embedding(tokens, path.embeddings.token)
        states = [embed_rows(path.embeddings, rows, shape, self.training, tokens=tokens)]
        for weights in path.layers[:layers]:
            at_top = pick if weights is path.layers[-1] else None
            states.append(layer(weights, states[-1], shape, self.training, keep, pick=at_top))
        return states

    @torch.no_grad()
    def layer_states(self, tokens: Tensor, language: int, keep: Tensor | None = None) -> Iterator[Tensor]:
        """Yield the hidden states (b, s, d) at layers 0 to L as all analyses of section 5 use them."""
        with autocast(tokens.device):
            states = self(tokens, language, keep)
        for number, state in enumerate(states):
            yield self.at_one_scale(state, number)

    @torch.no_grad()
    def states_at(self, tokens: Tensor, language: int, number: int, keep: Tensor | None = None) -> Tensor:
        """Return the hidden states that `layer_states` yields at one layer, without computing higher layers."""
        with autocast(tokens.device):
            states = self(tokens, language, keep, number)[-1]
        return self.at_one_scale(states, number)

    def at_one_scale(self, states: Tensor, number: int) -> Tensor:
        """Return the hidden states of a layer in float32; those of a pre-LN encoder are normalised.

        In an encoder with LayerNorm before each sublayer (pre-LN), the states are a sum that grows from layer to layer,
        and every sublayer normalises its input. This method applies LayerNorm without weights, which gives the states
        the same scale as in a post-LN encoder. Layer 0, the embeddings' output, is normalised in both kinds.
        """
        exact = states.float()
        grows = self.config.shape.norm == "pre" and number > 0
        return functional.layer_norm(exact, exact.shape[-1:]) if grows else exact

    def logits(self, states: Tensor, language: int) -> Tensor:
        """Return the logits over a language's vocabulary for top-layer states (…, d)."""
        return logits(self.path(language), states)

    def vocabulary(self, name: str) -> int | None:
        """Return the number of rows of a vocabulary table without padding, or None for any other parameter."""
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
    """Return the shape of every parameter by name; training results depend bit for bit on the order of parameters."""
    d, inner = config.shape.width, config.shape.feedforward
    sentences = {"sentence": (config.shape.sentences, d)} if config.shape.sentences else {}
    added = {"position": (config.shape.positions, d), **sentences, "norm_weight": (d,), "norm_bias": (d,)}
    of_layer = {
        "qkv_weight": (3 * d, d), "qkv_bias": (3 * d,), "out_weight": (d, d), "out_bias": (d,),
        "up_weight": (inner, d), "up_bias": (inner,), "down_weight": (d, inner), "down_bias": (d,),
        "norm1_weight": (d,), "norm1_bias": (d,), "norm2_weight": (d,), "norm2_bias": (d,),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {}
    sizes = {code: rounded(size, ROWS) for code, size in zip(config.languages, config.sizes, strict=True)}
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
    """Draw each parameter from a generator seeded by its name, so no setting changes the values of other parameters.

    Embeddings are normal with standard deviation d^-1/2. Linear layers use PyTorch's default: weights and biases are
    uniform within 1/sqrt(inputs), as in XLM's code, which the paper uses. Parameters that start as copies are seeded by
    the name of the shared parameter they replace, so all languages start with the values of the Default model. The
    vectors of words and the softmax are never copies, because vocabularies differ.
    """
    width, start = encoder.config.shape.width, encoder.config.separate.start
    for name, parameter in encoder.named_parameters():
        part, *_, last = name.split(".")
        of_all = name.replace(f".{owner_of(name)}", f".{SHARED}", 1)
        rng = numpy_rng("weights", seed, of_all if part in COPIED[start] and last != "token" else name)
        size = (encoder.vocabulary(name) or parameter.shape[0], *parameter.shape[1:])
        if "norm" in last:
            drawn = np.full(size, float(last.endswith("weight")))
        elif last in ("token", "position", "sentence") or part == "language":
            drawn = rng.normal(0.0, width**-0.5, size)
        else:
            bound = 1 / math.sqrt(encoder.config.shape.feedforward if last.startswith("down_") else width)
            drawn = rng.uniform(-bound, bound, size)
        if last == "token" and start == "equal":
            drawn[:SPECIAL] = numpy_rng("weights", seed, of_all).normal(0.0, width**-0.5, (SPECIAL, width))
        with torch.no_grad():
            parameter.zero_()[: size[0]].copy_(torch.from_numpy(drawn))
