"""Attention with dropout for training on a GPU: Triton kernels for short sequences.

Queries, keys and values of all heads are one tensor (b, s, 3 · d), and so are their gradients, which saves the copies
that torch's kernels need. Dropout is a function of a key and of the two positions, so nothing is stored for the
backward pass, which is one kernel without atomic additions and therefore deterministic.
Exponents are to base 2, for which scores are multiplied by log2(e) = 1.4427. Blocks have M rows (queries) and N columns
(keys). Only blocks that are MASKED may exceed the sequence.
"""

# mypy: disable-error-code="no-untyped-def, misc, untyped-decorator, no-untyped-call, import-not-found, import-untyped"

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

STEPS = 1 << 24  # dropout rates are multiples of 1 / STEPS, as in xling.model.layers
ROOMY = 160_000  # bytes of shared memory of a multiprocessor from which the larger blocks fit


@triton.jit
def mixed(value):
    """Return well-mixed bits of an int32."""
    value = (value ^ ((value >> 16) & 0xFFFF)) * 0x7FEB352D
    value = (value ^ ((value >> 15) & 0x1FFFF)) * -2073254261
    return value ^ ((value >> 16) & 0xFFFF)


@triton.jit
def kept(left, right, LIMIT: tl.constexpr):
    """Return whether each pair of a left and a right position is kept, given their mixed bits."""
    bits = (left[:, None] ^ right[None, :]) * 0x2C1B3C6D
    bits = (bits ^ ((bits >> 15) & 0x1FFFF)) * 0x297A2D39
    return ((bits >> 8) & 0xFFFFFF) >= LIMIT


@triton.jit
def seen(keep, batch, columns, length):
    """Return which columns may be attended to."""
    return tl.load(keep + batch * length + columns, mask=columns < length, other=0) != 0


@triton.jit
def rows_of(base, rows, stride, lane, length, MASKED: tl.constexpr):
    """Load rows of a matrix, zero beyond the sequence."""
    place = base + rows[:, None] * stride + lane[None, :]
    return tl.load(place, mask=rows[:, None] < length, other=0.0) if MASKED else tl.load(place)


@triton.jit
def put(base, rows, stride, lane, length, values, MASKED: tl.constexpr):
    """Store rows of a matrix, nothing beyond the sequence."""
    place, made = base + rows[:, None] * stride + lane[None, :], values.to(base.dtype.element_ty)
    if MASKED:
        tl.store(place, made, mask=rows[:, None] < length)
    else:
        tl.store(place, made)


@triton.jit
def forward_kernel(
    qkv, keep, key_at, out, lse, heads, length,
    E: tl.constexpr, SCALE: tl.constexpr, LIMIT: tl.constexpr, SHARE: tl.constexpr, MASKED: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Compute the context of a block of rows of one head, and the logarithm of each row's sum, to base 2."""
    blocks = tl.cdiv(length, M)
    pair, rows = tl.program_id(0) // blocks, (tl.program_id(0) % blocks) * M + tl.arange(0, M)
    batch, head = pair // heads, pair % heads
    width, stride, lane = heads * E, 3 * heads * E, tl.arange(0, E)
    base = qkv + batch * length * stride + head * E
    query = rows_of(base, rows, stride, lane, length, MASKED)
    top = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    context = tl.zeros([M, E], tl.float32)
    key = mixed(tl.load(key_at) ^ pair)
    row_bits = mixed(key + 2 * rows)
    for left in range(0, length, N):
        columns = left + tl.arange(0, N)
        keys = rows_of(base + width, columns, stride, lane, length, MASKED)
        values = rows_of(base + 2 * width, columns, stride, lane, length, MASKED)
        scores = tl.dot(query, tl.trans(keys)) * (SCALE * 1.4426950408889634)
        if MASKED:  # not minus infinity, which makes NaN of a block where nothing may be attended to
            scores = tl.where(seen(keep, batch, columns, length)[None, :], scores, -1e30)
        higher = tl.maximum(top, tl.max(scores, 1))
        chances = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(chances, 1)
        if LIMIT > 0:
            chances = tl.where(kept(row_bits, mixed(key + 2 * columns + 1), LIMIT), chances, 0.0)
        context = context * shrink[:, None] + tl.dot(chances.to(values.dtype), values)
        top = higher
    context = context * (SHARE / total)[:, None]
    put(out + batch * length * width + head * E, rows, width, lane, length, context, MASKED)
    tl.store(lse + pair * length + rows, top + tl.log2(total), mask=rows < length)


@triton.jit
def backward_kernel(
    qkv, keep, key_at, out, lse, grad, waiting, made, heads, length,
    E: tl.constexpr, SCALE: tl.constexpr, LIMIT: tl.constexpr, SHARE: tl.constexpr, MASKED: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Compute all gradients of one head, five products per block; dQ waits in memory for the last block of columns."""
    pair = tl.program_id(0)
    batch, head = pair // heads, pair % heads
    width, stride, lane = heads * E, 3 * heads * E, tl.arange(0, E)
    base, into = qkv + batch * length * stride + head * E, made + batch * length * stride + head * E
    beside = batch * length * width + head * E
    key = mixed(tl.load(key_at) ^ pair)
    for left in range(0, length, N):
        columns = left + tl.arange(0, N)
        keys = rows_of(base + width, columns, stride, lane, length, MASKED)
        values = rows_of(base + 2 * width, columns, stride, lane, length, MASKED)
        dkeys = tl.zeros([N, E], tl.float32)
        dvalues = tl.zeros([N, E], tl.float32)
        column_bits = mixed(key + 2 * columns + 1)
        for upper in range(0, length, M):
            rows = upper + tl.arange(0, M)
            query = rows_of(base, rows, stride, lane, length, MASKED)
            slope = rows_of(grad + beside, rows, width, lane, length, MASKED)
            context = rows_of(out + beside, rows, width, lane, length, MASKED)
            delta = tl.sum(slope.to(tl.float32) * context.to(tl.float32), 1)
            height = tl.load(lse + pair * length + rows, mask=rows < length, other=0.0)
            chances = tl.exp2(tl.dot(keys, tl.trans(query)) * (SCALE * 1.4426950408889634) - height[None, :])
            if MASKED:
                chances = tl.where(seen(keep, batch, columns, length)[:, None], chances, 0.0)
            dchances = tl.dot(values, tl.trans(slope))
            thinned = chances
            if LIMIT > 0:
                stay = kept(column_bits, mixed(key + 2 * rows), LIMIT)
                thinned = tl.where(stay, chances * SHARE, 0.0)
                dchances = tl.where(stay, dchances * SHARE, 0.0)
            dvalues += tl.dot(thinned.to(slope.dtype), slope)
            dscores = (chances * (dchances - delta[None, :])).to(query.dtype)
            dkeys += tl.dot(dscores, query)
            dquery = tl.dot(tl.trans(dscores), keys)
            if left > 0:
                dquery += rows_of(waiting + pair * length * E, rows, E, lane, length, MASKED)
            if left + N < length:
                put(waiting + pair * length * E, rows, E, lane, length, dquery, MASKED)
            else:
                put(into, rows, stride, lane, length, dquery * SCALE, MASKED)
        put(into + width, columns, stride, lane, length, dkeys * SCALE, MASKED)
        put(into + 2 * width, columns, stride, lane, length, dvalues, MASKED)
        tl.debug_barrier()  # what waits in memory is read by other threads than wrote it


@cache
def roomy(device: int) -> bool:
    """Return whether the larger blocks fit into the shared memory of a GPU."""
    return bool(triton.runtime.driver.active.utils.get_device_properties(device)["max_shared_mem"] >= ROOMY)


def blocks(length: int, device: torch.device, backward: bool) -> dict[str, int]:
    """Return the sizes of blocks that were measured to be fastest, or smaller ones where those do not fit."""
    if length <= 64 or (device.type == "cuda" and not roomy(device.index)):
        size = 32 if length <= 32 else 64
        return {"M": size, "N": size, "num_warps": 4, "num_stages": 1 if backward else 2}
    if backward:
        return {"M": 64, "N": 128, "num_warps": 8, "num_stages": 2}
    return {"M": 128, "N": 64, "num_warps": 4, "num_stages": 2}


def options(qkv: Tensor, keep: Tensor | None, heads: int, limit: int, backward: bool) -> tuple[Tensor, dict[str, Any]]:
    """Return which columns may be attended to, and the constants of a kernel."""
    b, s, width = qkv.shape
    chosen = blocks(s, qkv.device, backward)
    masked = keep is not None or s % chosen["M"] > 0 or s % chosen["N"] > 0
    if keep is None:
        keep = torch.ones(b, s, dtype=torch.bool, device=qkv.device) if masked else qkv.new_empty(0, dtype=torch.bool)
    e = width // (3 * heads)
    numbers = {"E": e, "SCALE": e**-0.5, "LIMIT": limit, "SHARE": STEPS / (STEPS - limit), "MASKED": masked}
    return keep.contiguous(), numbers | chosen


@torch.library.custom_op("xling::attend", mutates_args=())
def attend(qkv: Tensor, keep: Tensor | None, key: Tensor, heads: int, limit: int) -> tuple[Tensor, Tensor]:
    """Return the context of all heads (b, s, d) and the logarithm of each row's sum (b · heads, s), to base 2.

    `keep` (b, s) is false where nothing may attend to. A share of limit / STEPS is dropped, chosen by the int32 `key`.
    """
    b, s, width = qkv.shape
    out = qkv.new_empty(b, s, width // 3)
    lse = torch.empty(b * heads, s, device=qkv.device)
    columns, chosen = options(qkv, keep, heads, limit, False)
    forward_kernel[(b * heads * triton.cdiv(s, chosen["M"]),)](qkv, columns, key, out, lse, heads, s, **chosen)
    return out, lse


@torch.library.custom_op("xling::attend_backward", mutates_args=())
def attend_backward(
    qkv: Tensor, keep: Tensor | None, key: Tensor, out: Tensor, lse: Tensor, grad: Tensor, heads: int, limit: int
) -> Tensor:
    """Return the gradient of queries, keys and values."""
    b, s, _ = qkv.shape
    made, (columns, chosen) = torch.empty_like(qkv), options(qkv, keep, heads, limit, True)
    waiting = torch.empty(made.numel() // 3 if s > chosen["N"] else 0, device=qkv.device)
    known = qkv, columns, key, out, lse, grad.contiguous(), waiting, made, heads, s
    backward_kernel[(b * heads,)](*known, **chosen)
    return made


@attend.register_fake
def _like_context(qkv: Tensor, _keep: Tensor | None, _key: Tensor, heads: int, _limit: int) -> tuple[Tensor, Tensor]:
    b, s, width = qkv.shape
    return qkv.new_empty(b, s, width // 3), qkv.new_empty(b * heads, s, dtype=torch.float32)


@attend_backward.register_fake
def _like_gradient(qkv: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(qkv)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    qkv, keep, key, ctx.heads, ctx.limit = inputs
    ctx.save_for_backward(qkv, keep, key, *output)


def _slope(ctx: Any, grad: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    return attend_backward(*ctx.saved_tensors, grad, ctx.heads, ctx.limit), None, None, None, None


attend.register_autograd(_slope, setup_context=_save)
