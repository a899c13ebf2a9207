"""The Transformer as pure functions of weights (section 3.1 of the paper).

The path of one language through the model is a tuple of tensors. Whether a tensor is shared or the language's own makes
no difference to the arithmetic, so one compiled graph serves every language and every sharing setting.
Shapes: b sequences of s tokens, width d, vocabulary v (its tables rounded up to v', see `padded`).
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from xling.bpe.streams import END
from xling.model.config import Shape

ROWS = 64  # logits of a multiple of 64 words are aligned in memory; odd ones halve the speed of the GPU's products
STEPS = 1 << 24  # dropout rates are multiples of 1 / STEPS


class EmbeddingWeights(NamedTuple):
    """Token table (v', d), position table, the language's vector, LayerNorm of their sum, sentence vectors."""

    token: Tensor
    position: Tensor
    language: Tensor | None
    norm_weight: Tensor
    norm_bias: Tensor
    sentence: Tensor | None = None


class LayerWeights(NamedTuple):
    """One Transformer layer, query, key and value fused into one product."""

    qkv_weight: Tensor
    qkv_bias: Tensor
    out_weight: Tensor
    out_bias: Tensor
    norm1_weight: Tensor
    norm1_bias: Tensor
    up_weight: Tensor
    up_bias: Tensor
    down_weight: Tensor
    down_bias: Tensor
    norm2_weight: Tensor
    norm2_bias: Tensor


class Path(NamedTuple):
    """All weights that one language passes through; `size` is its vocabulary without the padding rows."""

    embeddings: EmbeddingWeights
    layers: tuple[LayerWeights, ...]
    softmax_weight: Tensor
    softmax_bias: Tensor
    size: int


def padded(size: int) -> int:
    """Return the rows a vocabulary table is stored with."""
    return -(-size // ROWS) * ROWS


def embed_rows(
    weights: EmbeddingWeights,
    rows: Tensor,
    shape: Shape,
    training: bool,
    key: Tensor | None = None,
    tokens: Tensor | None = None,
) -> Tensor:
    """Add positions (from 0) and the language to looked-up token rows (b, s, d), normalise, drop out.

    Where there are sentence vectors, `tokens` say which sentence each token is in and where in it.
    """
    if weights.sentence is None or tokens is None:
        total = rows + weights.position[: rows.shape[1]]
    else:
        position, sentence = places(tokens)
        last = len(weights.position) - 1, len(weights.sentence) - 1
        total = rows + weights.position[position.clamp(max=last[0])] + weights.sentence[sentence.clamp(max=last[1])]
    if weights.language is not None:
        total = total + weights.language
    total = functional.layer_norm(total, (shape.width,), weights.norm_weight, weights.norm_bias, shape.norm_eps)
    return dropout(total, shape.dropout, training, key)


def places(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return for tokens (b, s) the position in the sentence and the sentence's number; `</s>` ends one.

    The first `</s>` is position 0 of the first sentence, so that one sentence alone has the positions it always has.
    """
    index = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    closed = functional.pad((tokens == END)[:, :-1], (1, 0))  # was the token before this one an end?
    start = torch.where(closed, index - 1, 0).cummax(1).values
    return index - start, (closed.cumsum(1) - 1).clamp(min=0)


def attention(weights: LayerWeights, states: Tensor, shape: Shape, training: bool, mask: Tensor | None) -> Tensor:
    """Self-attention of all heads over (b, s, d); `mask` is true where a token may be looked at."""
    b, s, d = states.shape
    mixed = functional.linear(states, weights.qkv_weight, weights.qkv_bias).view(b, s, 3, shape.heads, d // shape.heads)
    query, key, value = mixed.permute(2, 0, 3, 1, 4).unbind(0)  # each (b, heads, s, d / heads)
    rate = shape.attention_dropout if training else 0.0
    context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate)
    return functional.linear(context.transpose(1, 2).reshape(b, s, d), weights.out_weight, weights.out_bias)


def feedforward(weights: LayerWeights, states: Tensor, shape: Shape) -> Tensor:
    """The two products with the activation between them."""
    inner = functional.linear(states, weights.up_weight, weights.up_bias)
    inner = functional.gelu(inner) if shape.activation == "gelu" else functional.relu(inner)
    return functional.linear(inner, weights.down_weight, weights.down_bias)


def layer(
    weights: LayerWeights,
    states: Tensor,
    shape: Shape,
    training: bool,
    mask: Tensor | None = None,
    keys: Tensor | None = None,
) -> Tensor:
    """One layer: LayerNorm after each part (the paper) or before it (small budgets).

    Before it there is no further norm at the end, as in Hugging Face's Flaubert with pre_norm, so that either kind can
    be exported without loss. `keys` (2) are for the two dropouts.
    """
    size, w, rate = (shape.width,), weights, shape.dropout
    first, second = (None, None) if keys is None else (keys[0], keys[1])
    if shape.norm == "post":
        attended = dropout(attention(w, states, shape, training, mask), rate, training, first)
        states = functional.layer_norm(states + attended, size, w.norm1_weight, w.norm1_bias, shape.norm_eps)
        changed = dropout(feedforward(w, states, shape), rate, training, second)
        return functional.layer_norm(states + changed, size, w.norm2_weight, w.norm2_bias, shape.norm_eps)
    normed = functional.layer_norm(states, size, w.norm1_weight, w.norm1_bias, shape.norm_eps)
    states = states + dropout(attention(w, normed, shape, training, mask), rate, training, first)
    normed = functional.layer_norm(states, size, w.norm2_weight, w.norm2_bias, shape.norm_eps)
    return states + dropout(feedforward(w, normed, shape), rate, training, second)


def dropout(states: Tensor, rate: float, training: bool, key: Tensor | None = None) -> Tensor:
    """Drop a share of the values and scale up the rest; with a key, by each value's place and the key."""
    if not training or rate == 0:
        return states
    if key is None:
        return functional.dropout(states, rate)
    dropped = round(rate * STEPS)
    return torch.where(scrambled(states, key) < dropped, 0.0, states * (STEPS / (STEPS - dropped)))


def scrambled(states: Tensor, key: Tensor) -> Tensor:
    """Return a whole number below STEPS for each value, that looks random, from its place and an int32 key.

    Compiled, it is a few instructions inside a kernel that waits for memory. torch's generator would be most of that
    kernel's time, and random bits drawn beforehand would be written once and read twice (2 GB at the paper's shape).
    Multiplications and shifts mix as in the finishing steps of Murmur hashes; they wrap around.
    """
    bits = torch.arange(states.numel(), dtype=torch.int32, device=states.device).view(states.shape) ^ key
    bits = (bits ^ ((bits >> 16) & 0xFFFF)) * 0x7FEB352D
    bits = ((bits ^ ((bits >> 15) & 0x1FFFF)) + key) * -2073254261  # 0x846CA68B as a signed number
    return (bits ^ ((bits >> 16) & 0xFFFF)) & (STEPS - 1)


def draw_keys(shape: Shape, device: torch.device) -> Tensor | None:
    """Return the keys of all dropouts of a batch from torch's generator: (1 + 2 layers), int32."""
    if shape.dropout == 0:
        return None
    return torch.empty(1 + 2 * shape.layers, dtype=torch.int32, device=device).random_()


def logits(path: Path, states: Tensor) -> Tensor:
    """Scores of every word of the vocabulary for states (…, d)."""
    return functional.linear(states, path.softmax_weight, path.softmax_bias)[..., : path.size]


class Pick(torch.autograd.Function):
    """Rows of a matrix, with a gradient that gathers too: no atomic additions, so the same bits every time.

    `inverse` says for each row where it was picked to, or how many were picked if it was not.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, picks: Tensor, inverse: Tensor) -> Tensor:
        """Return the rows at `picks`."""
        ctx.save_for_backward(inverse)
        return rows[picks]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """Send each picked row's gradient home, and zero to the others."""
        (inverse,) = ctx.saved_tensors
        grad = grads[0]
        return torch.cat([grad, grad.new_zeros(1, grad.shape[1])])[inverse], None, None


def masked_loss(
    path: Path,
    rows: Tensor,
    picks: Tensor,
    inverse: Tensor,
    targets: Tensor,
    keys: Tensor | None,
    shape: Shape,
    training: bool = True,
    tokens: Tensor | None = None,
) -> Tensor:
    """Mean loss of one batch whose token rows were looked up; layers work in the precision of their weights.

    Only the picked positions reach the softmax. A target of -100 fills a place up and counts for nothing.
    """
    first = None if keys is None else keys[0]
    states = embed_rows(path.embeddings, rows, shape, training, first, tokens).to(path.softmax_weight.dtype)
    for number, weights in enumerate(path.layers):
        own = None if keys is None else keys[1 + 2 * number : 3 + 2 * number]
        states = layer(weights, states, shape, training, None, own)
    picked = Pick.apply(states.view(-1, states.shape[-1]), picks, inverse)  # type: ignore[no-untyped-call]
    return functional.cross_entropy(logits(path, picked).float(), targets)
