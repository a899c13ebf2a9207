"""What an encoder looks like, and which of its parts each language has for itself (sections 3.1 and 4.3)."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from xling.core.errors import InputError
from xling.model.fields import from_dict

SHARED = "shared"  # the owner of what all languages use


@dataclass(frozen=True)
class Shape:
    """Sizes and switches of the Transformer; the paper: 8 layers, 12 heads, 768 wide, GELU, post-LayerNorm."""

    layers: int
    width: int
    heads: int
    feedforward: int
    activation: Literal["gelu", "relu"]
    dropout: float
    attention_dropout: float
    norm: Literal["post", "pre"]
    norm_eps: float
    positions: int
    language_embeddings: bool
    sentences: int = 0  # sentence vectors; with any, positions start anew after each `</s>`


@dataclass(frozen=True)
class Separate:
    """What is per language: everything up to the first layer, or its token vectors alone, and a prefix of layers.

    `start` says how the languages' own positions and layers begin: as equal copies, or each with its own random values.
    """

    embeddings: bool | Literal["tokens"]
    layers: int
    start: Literal["copies", "apart"] = "apart"


@dataclass(frozen=True)
class ModelConfig:
    """All that is needed to build an encoder; `sizes` is the vocabulary size of each language."""

    languages: tuple[str, ...]
    sizes: tuple[int, ...]
    shape: Shape
    separate: Separate
    softmax: Literal["shared", "per-language"]

    def as_dict(self) -> dict[str, Any]:
        """Return the values as JSON types."""
        return asdict(self)

    @property
    def speaks(self) -> bool:
        """Say whether language embeddings exist: a model of one language has none, as in XLM."""
        return self.shape.language_embeddings and len(self.languages) > 1

    def embedding_owner(self, language: str) -> str:
        """Return whose token vectors and softmax a language uses."""
        return language if self.separate.embeddings else SHARED

    def position_owner(self, language: str) -> str:
        """Return whose position and sentence vectors, and whose LayerNorm after the embeddings, a language uses."""
        return language if self.separate.embeddings is True else SHARED

    def layer_owner(self, layer: int, language: str) -> str:
        """Return whose layer (counted from 0) a language uses."""
        return language if layer < self.separate.layers else SHARED


def model_config(values: object, path: Path | str) -> ModelConfig:
    """Read and check a model's configuration as it stands in model.json."""
    return check(from_dict(ModelConfig, values, path), path)


def check(config: ModelConfig, path: Path | str) -> ModelConfig:
    """Return the configuration if its parts go together."""
    for problem in _problems(config):
        raise InputError(path, problem)
    return config


def _problems(config: ModelConfig) -> list[str]:
    shape, separate, names = config.shape, config.separate, config.languages
    per_language = config.softmax == "per-language"
    found = {
        "languages: expected at least one, all different": not names or len(set(names)) != len(names),
        f"languages: {SHARED!r} and names with a dot cannot be used": any(n == SHARED or "." in n for n in names),
        f"shape.width: {shape.width} is not a multiple of {shape.heads} heads": shape.width % max(shape.heads, 1) != 0,
        "shape: layers, width, heads, feedforward and positions must be positive": min(
            shape.layers, shape.width, shape.heads, shape.feedforward, shape.positions
        )
        < 1,
        f"shape.sentences: {shape.sentences} is negative": shape.sentences < 0,
        f"separate.layers: {separate.layers} of {shape.layers} layers": not 0 <= separate.layers <= shape.layers,
        "softmax: it is tied to the embeddings, so per-language goes with separate.embeddings and shared without": (
            per_language != bool(separate.embeddings)
        ),
        "languages with shared embeddings must share one vocabulary size": (
            not separate.embeddings and len(set(config.sizes)) > 1
        ),
        f"shape: dropout {shape.dropout}, {shape.attention_dropout} not in [0, 1)": not (
            0 <= shape.dropout < 1 and 0 <= shape.attention_dropout < 1
        ),
    }
    return [problem for problem, wrong in found.items() if wrong]
