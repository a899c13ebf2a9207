"""The configuration of an encoder: its shape, and the parts that each language has separately (sections 3.1, 4.3)."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator

from xling.core.records import Count, Dropout, Flag, Positive, Size, key, record, refuse

SHARED = "shared"  # the owner of parameters that all languages use
Softmax = Literal["shared", "per-language"]
# Python treats 1 as equal to True; as a value of this setting, 1 is an error.
Embeddings = Annotated[
    Literal[False, True, "tokens"], BeforeValidator(lambda value: f"{value}" if type(value) is int else value)
]


@record
class Shape:
    """Shape of the encoder (section 3.1); the paper: 8 layers, 12 heads, width 768, GELU, LayerNorm after sublayers."""

    layers: Count = key("Transformer layers.")
    width: Count = key("Size of embeddings and states.")
    heads: Count = key("Attention heads; they divide the width.")
    feedforward: Count = key("Hidden size of the feed-forward blocks.")
    activation: Literal["gelu", "relu"] = key("gelu is the paper's; relu is faster on a CPU.")
    dropout: Dropout = key("Dropout on embeddings and sublayers.")
    attention_dropout: Dropout = key("Dropout on attention weights.")
    norm: Literal["post", "pre"] = key("LayerNorm after sublayers (post, the paper) or before, for small budgets.")
    norm_eps: Positive = key("Epsilon of LayerNorm.")
    positions: Count = key("Longest sequence, in subwords.")
    language_embeddings: Flag = key("Add an embedding of the language to the input, as XLM does.")
    sentences: Size = key("Sentence vectors (the paper: 0); with any, positions restart after </s>.", default=0)

    def __post_init__(self) -> None:
        if self.width % self.heads:
            refuse([f"heads: {self.heads} does not divide the width {self.width}"])


@record
class Separate:
    """Parts that each language has for itself."""

    embeddings: Embeddings = key("Everything below the first layer (true), or only token embeddings (tokens).")
    layers: Size = key("How many of the lowest layers.")
    start: Literal["equal", "copies", "apart"] = key(
        "Initial values of separate positions and layers: the same copies for all languages, or drawn apart. With "
        "`equal`, language vectors and the vectors of special tokens begin as copies as well.",
        default="apart",
    )


@record
class ModelConfig:
    """Everything needed to build an encoder; `sizes` holds the vocabulary size of each language."""

    languages: tuple[str, ...]
    sizes: tuple[Count, ...]
    shape: Shape
    separate: Separate
    softmax: Softmax

    def __post_init__(self) -> None:
        problems, names = [], self.languages
        if not names or len(set(names)) < len(names):
            problems.append("languages: expected at least one, all different")
        if any(name == SHARED or "." in name for name in names):
            problems.append(f"languages: {SHARED!r} and names with a dot cannot be used")
        if not self.separate.embeddings and len(set(self.sizes)) > 1:
            problems.append("sizes: languages with shared embeddings must share one vocabulary size")
        refuse([*problems, *sharing_problems(self.shape, self.separate, self.softmax)])

    @property
    def has_language_embeddings(self) -> bool:
        """Return whether the model has language embeddings: a model of one language has none, as in XLM."""
        return self.shape.language_embeddings and len(self.languages) > 1

    def embedding_owner(self, language: str) -> str:
        """Return the owner of the token vectors and softmax that a language uses."""
        return language if self.separate.embeddings else SHARED

    def position_owner(self, language: str) -> str:
        """Return the owner of the position and sentence vectors and the embeddings' LayerNorm that a language uses."""
        return language if self.separate.embeddings is True else SHARED

    def layer_owner(self, layer: int, language: str) -> str:
        """Return the owner of the layer (counted from 0) that a language uses."""
        return language if layer < self.separate.layers else SHARED


def sharing_problems(shape: Shape, separate: Separate, softmax: Softmax) -> Iterator[str]:
    """Yield a description of each conflict between an encoder's shape, its separate parts and its softmax."""
    if separate.layers > shape.layers:
        yield f"separate.layers: {separate.layers} goes beyond the model's {shape.layers} layers"
    wanted = "per-language" if separate.embeddings else "shared"
    if softmax != wanted:
        yield f"softmax: expected {wanted}, because it is tied to the embeddings (see separate.embeddings)"
