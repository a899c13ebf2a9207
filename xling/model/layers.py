"""The Transformer as pure functions of weights (section 3.1 of the paper).

The path of one language through the model is a tuple of tensors. The arithmetic is the same whether a tensor is shared
or separate, so one compiled graph serves every language and every sharing setting.
Shapes: b sequences of s tokens, width d, vocabulary size v (tables have v' >= v rows, see `ROWS`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from xling.bpe.streams import END
from xling.model.config import Shape

try:
    from xling.model.kernels import attend
except ImportError:  # Triton comes only with torch for GPUs
    attend = None  # type: ignore[assignment]

ROWS = 64  # vocabulary tables have a multiple of 64 rows: unaligned logits would halve the speed of GPU products
STEPS = 1 << 24  # dropout rates are multiples of 1 / STEPS
FUSED: tuple[int, ...] = (16, 32, 64)  # widths of a head that xling.model.kernels computes


class EmbeddingWeights(NamedTuple):
    """The token table (v', d), position table, language vector, LayerNorm of the sum, and sentence vectors."""

    token: Tensor
    position: Tensor
    language: Tensor | None
    norm_weight: Tensor
    norm_bias: Tensor
    sentence: Tensor | None = None


class LayerWeights(NamedTuple):
    """The weights of one Transformer layer; query, key and value are computed by one product."""

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
    """All weights used by one language; `size` is its vocabulary size without padding rows."""

    embeddings: EmbeddingWeights
    layers: tuple[LayerWeights, ...]
    softmax_weight: Tensor
    softmax_bias: Tensor
    size: int


def rounded(size: int, multiple: int) -> int:
    """Return `size` rounded up to a multiple of `multiple`."""
    return -(-size // multiple) * multiple


def embed_rows(
    weights: EmbeddingWeights,
    rows: Tensor,
    shape: Shape,
    training: bool,
    key: Tensor | None = None,
    tokens: Tensor | None = None,
) -> Tensor:
    """Add position and language vectors to token vectors (b, s, d), then apply LayerNorm and dropout.

    If there are sentence vectors, `tokens` determine the sentence of each token and its position there.
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
    """Return for tokens (b, s) the position within the sentence and the sentence number; `</s>` ends a sentence.

    The first `</s>` is position 0 of the first sentence, so a single sentence has the positions 0, 1, 2, … as usual.
    """
    index = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    closed = functional.pad((tokens == END)[:, :-1], (1, 0))  # whether the previous token is </s>
    start = torch.where(closed, index - 1, 0).cummax(1).values
    return index - start, (closed.cumsum(1) - 1).clamp(min=0)


def fused(mixed: Tensor, width: int) -> bool:
    """Return whether xling.model.kernels can attend, for heads of a width: in bf16 on a GPU with Triton."""
    return attend is not None and mixed.is_cuda and mixed.dtype == torch.bfloat16 and width in FUSED


def attention(weights: LayerWeights, states: Tensor, shape: Shape, training: bool, keep: Tensor | None) -> Tensor:
    """Return the values that all heads attend to (b, s, d); `keep` (b, s) is true for tokens that may be attended to.

    In training, xling.model.kernels attends where it can, because it is faster; elsewhere torch does.
    """
    b, s, d = states.shape
    mixed = functional.linear(states, weights.qkv_weight, weights.qkv_bias)
    rate = shape.attention_dropout if training else 0.0
    if training and fused(mixed, d // shape.heads):
        key = torch.randint(-(2**31), 2**31 - 1, (1,), dtype=torch.int32, device=states.device)
        context: Tensor = attend(mixed, keep, key, shape.heads, round(rate * STEPS))[0]
        return context
    parts = mixed.view(b, s, 3, shape.heads, d // shape.heads)
    query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)  # each (b, heads, s, d / heads)
    mask = None if keep is None else keep[:, None, None, :]
    context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate)
    return context.transpose(1, 2).reshape(b, s, d)


def feedforward(weights: LayerWeights, states: Tensor, shape: Shape) -> Tensor:
    """Return the feed-forward output: two products with the activation between them."""
    inner = functional.linear(states, weights.up_weight, weights.up_bias)
    inner = functional.gelu(inner) if shape.activation == "gelu" else functional.relu(inner)
    return functional.linear(inner, weights.down_weight, weights.down_bias)


def layer(
    weights: LayerWeights,
    states: Tensor,
    shape: Shape,
    training: bool,
    keep: Tensor | None = None,
    keys: Tensor | None = None,
    pick: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Return the output of one layer, with LayerNorm after each sublayer (the paper) or before it (small budgets).

    With LayerNorm before the sublayers there is no final norm, as in Hugging Face's Flaubert with pre_norm, so both
    kinds can be exported exactly. `keys` (2) seed the two dropouts. `pick` selects the positions whose output is
    needed: every position is attended to, but what follows is computed only for these.
    """
    size, w, rate = (shape.width,), weights, shape.dropout
    first, second = (None, None) if keys is None else (keys[0], keys[1])
    post = shape.norm == "post"
    normed = states if post else functional.layer_norm(states, size, w.norm1_weight, w.norm1_bias, shape.norm_eps)
    context = attention(w, normed, shape, training, keep)
    if pick is not None:
        states, context = pick(states), pick(context)
    states = states + dropout(functional.linear(context, w.out_weight, w.out_bias), rate, training, first)
    if post:
        states = functional.layer_norm(states, size, w.norm1_weight, w.norm1_bias, shape.norm_eps)
        changed = dropout(feedforward(w, states, shape), rate, training, second)
        return functional.layer_norm(states + changed, size, w.norm2_weight, w.norm2_bias, shape.norm_eps)
    normed = functional.layer_norm(states, size, w.norm2_weight, w.norm2_bias, shape.norm_eps)
    return states + dropout(feedforward(w, normed, shape), rate, training, second)


def dropout(states: Tensor, rate: float, training: bool, key: Tensor | None = None) -> Tensor:
    """Apply dropout; if a key is given, the key and the index of each value determine whether it is dropped."""
    if not training or rate == 0:
        return states
    if key is None:
        return functional.dropout(states, rate)
    dropped = round(rate * STEPS)
    return torch.where(scrambled(states, key) < dropped, 0.0, states * (STEPS / (STEPS - dropped)))


def scrambled(states: Tensor, key: Tensor) -> Tensor:
    """Return a pseudo-random integer below STEPS for each value, computed from its index and an int32 key.

    Compiled, this is a few instructions in a memory-bound kernel. torch's generator would take most of the time of that
    kernel, and random bits drawn in advance would be written once and read twice (2 GB at the paper's shape).
    Multiplications (which overflow) and shifts mix the bits as in the final steps of Murmur hashes.
    """
    bits = torch.arange(states.numel(), dtype=torch.int32, device=states.device).view(states.shape) ^ key
    bits = (bits ^ ((bits >> 16) & 0xFFFF)) * 0x7FEB352D
    bits = ((bits ^ ((bits >> 15) & 0x1FFFF)) + key) * -2073254261  # 0x846CA68B as a signed number
    return (bits ^ ((bits >> 16) & 0xFFFF)) & (STEPS - 1)


def draw_keys(shape: Shape, device: torch.device) -> Tensor | None:
    """Draw int32 keys for all 1 + 2 · layers dropouts of a batch from torch's generator; None without dropout."""
    if shape.dropout == 0:
        return None
    return torch.empty(1 + 2 * shape.layers, dtype=torch.int32, device=device).random_()


def logits(path: Path, states: Tensor) -> Tensor:
    """Return the logits over the vocabulary for states (…, d)."""
    return functional.linear(states, path.softmax_weight, path.softmax_bias)[..., : path.size]


class Pick(torch.autograd.Function):
    """Selection of matrix rows whose gradient is also a gather: it needs no atomic additions and is deterministic.

    `inverse` holds for each row its index among the picked rows, or the number of picked rows if it was not picked.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, picks: Tensor, inverse: Tensor) -> Tensor:
        """Return the rows at `picks`."""
        ctx.save_for_backward(inverse)
        return rows[picks]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient of each picked row, and zero for the other rows."""
        (inverse,) = ctx.saved_tensors
        grad = grads[0]
        return torch.cat([grad, grad.new_zeros(1, grad.shape[1])])[inverse], None, None


class LossInput(NamedTuple):
    """A masked batch for the loss: its token vectors (b, s, d), its predictions, keys of dropout, and its tokens.

    A target of -100 marks an unused slot that the loss ignores. Only models with sentence vectors need the tokens.
    """

    rows: Tensor
    picks: Tensor
    inverse: Tensor
    targets: Tensor
    keys: Tensor | None = None
    tokens: Tensor | None = None


def predicted(states: Tensor, batches: Sequence[LossInput]) -> Tensor:
    """Return the rows (…, d) of all batches' predictions, one batch after the other, from their states (b, s, d)."""
    parts = torch.split(states.flatten(0, 1), [len(batch.inverse) for batch in batches])
    picked = [
        Pick.apply(part, batch.picks, batch.inverse)  # type: ignore[no-untyped-call]
        for part, batch in zip(parts, batches, strict=True)
    ]
    return torch.cat(picked)


def masked_losses(
    paths: Sequence[Path], batches: Sequence[LossInput], shape: Shape, apart: int, tied: bool, training: bool = True
) -> list[Tensor]:
    """Return the mean loss of each batch, given the path of its language; the softmax is only at picked positions.

    The lowest `apart` layers run batch by batch. Above them the batches run together, as does the softmax if it is
    `tied`, that is shared: small batches are limited by the number of kernels. Weights set the precision of a layer.
    """
    states = []
    for path, batch in zip(paths, batches, strict=True):
        first = None if batch.keys is None else batch.keys[0]
        embedded = embed_rows(path.embeddings, batch.rows, shape, training, first, batch.tokens)
        states.append(embedded.to(path.softmax_weight.dtype))
    groups = [[batch] for batch in batches]  # the batches that each tensor of `states` holds
    for number in range(shape.layers):
        if number == apart and len(states) > 1:
            states, groups = [torch.cat(states)], [list(batches)]
        for place, (path, group) in enumerate(zip(paths[: len(groups)], groups, strict=True)):
            keys = group[0].keys
            own = None if keys is None else keys[1 + 2 * number : 3 + 2 * number]
            pick = partial(predicted, batches=group) if number == shape.layers - 1 else None
            states[place] = layer(path.layers[number], states[place], shape, training, None, own, pick)
    counts, rows = [len(batch.picks) for batch in batches], torch.cat(states)
    if tied:
        scores = torch.split(logits(paths[0], rows), counts)
    else:
        scores = tuple(logits(path, part) for path, part in zip(paths, torch.split(rows, counts), strict=True))
    return [functional.cross_entropy(own.float(), batch.targets) for own, batch in zip(scores, batches, strict=True)]
