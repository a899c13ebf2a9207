"""Attention with dropout as Triton kernels, written for short sequences: a candidate, measured by bench/attention.py.

Queries, keys and values of all heads come as one tensor (b, s, 3, heads, e) and so do their gradients, which saves the
copies around torch's kernels. The gradients come from one kernel per head (`whole`) or from two (`query` and `other`).
`key_at` points to an int32: it and the place of a value determine whether that value is dropped, so nothing is stored.
Blocks have M rows (queries) and N columns (keys); both must divide the length.
"""

# mypy: disable-error-code="no-untyped-def, misc, untyped-decorator"

import triton
import triton.language as tl


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
def forward_kernel(
    qkv,
    out,
    lse,
    key_at,
    heads,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    LIMIT: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    blocks: tl.constexpr = LENGTH // M
    first, pair = (tl.program_id(0) % blocks) * M, tl.program_id(0) // blocks
    batch, head = pair // heads, pair % heads
    stride = 3 * heads * WIDTH
    base = qkv + batch * LENGTH * stride + head * WIDTH
    rows, lane = first + tl.arange(0, M), tl.arange(0, WIDTH)
    query = tl.load(base + rows[:, None] * stride + lane[None, :])
    scale = 1.4426950408889634 / tl.sqrt(WIDTH * 1.0)
    top = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    context = tl.zeros([M, WIDTH], tl.float32)
    key = mixed(tl.load(key_at) ^ pair)
    row_bits = mixed(key + 2 * rows)
    for start in range(0, LENGTH, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(base + heads * WIDTH + columns[:, None] * stride + lane[None, :])
        values = tl.load(base + 2 * heads * WIDTH + columns[:, None] * stride + lane[None, :])
        scores = tl.dot(query, tl.trans(keys)) * scale
        higher = tl.maximum(top, tl.max(scores, 1))
        chances = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(chances, 1)
        if LIMIT > 0:
            chances = tl.where(kept(row_bits, mixed(key + 2 * columns + 1), LIMIT), chances, 0.0)
        context = context * shrink[:, None] + tl.dot(chances.to(values.dtype), values)
        top = higher
    context = context * ((16777216 / (16777216 - LIMIT)) / total)[:, None]
    here = out + (batch * LENGTH + rows[:, None]) * heads * WIDTH + head * WIDTH + lane[None, :]
    tl.store(here, context.to(out.dtype.element_ty))
    tl.store(lse + pair * LENGTH + rows, top + tl.log2(total))


@triton.jit
def whole_kernel(
    qkv,
    out,
    grad,
    lse,
    key_at,
    partial,
    dqkv,
    heads,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    LIMIT: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """All gradients of one head, in one pass: five products per block; dQ of all but the last block waits in memory."""
    pair = tl.program_id(0)
    batch, head = pair // heads, pair % heads
    stride = 3 * heads * WIDTH
    place = batch * LENGTH * stride + head * WIDTH
    base, made = qkv + place, dqkv + place
    lane = tl.arange(0, WIDTH)
    beside = batch * LENGTH * heads * WIDTH + head * WIDTH
    share: tl.constexpr = 16777216 / (16777216 - LIMIT)
    plain = 1.0 / tl.sqrt(WIDTH * 1.0)
    scale = 1.4426950408889634 * plain
    key = mixed(tl.load(key_at) ^ pair)
    for left in range(0, LENGTH, N):
        columns = left + tl.arange(0, N)
        across = columns[:, None] * stride + lane[None, :]
        keys = tl.load(base + heads * WIDTH + across)
        values = tl.load(base + 2 * heads * WIDTH + across)
        dkeys = tl.zeros([N, WIDTH], tl.float32)
        dvalues = tl.zeros([N, WIDTH], tl.float32)
        column_bits = mixed(key + 2 * columns + 1)
        for upper in range(0, LENGTH, M):
            rows = upper + tl.arange(0, M)
            query = tl.load(base + rows[:, None] * stride + lane[None, :])
            inward = beside + rows[:, None] * heads * WIDTH + lane[None, :]
            slope = tl.load(grad + inward)
            delta = tl.sum(slope.to(tl.float32) * tl.load(out + inward).to(tl.float32), 1)
            height = tl.load(lse + pair * LENGTH + rows)
            chances = tl.exp2(tl.dot(keys, tl.trans(query)) * scale - height[None, :])
            dchances = tl.dot(values, tl.trans(slope))
            thinned = chances
            if LIMIT > 0:
                stay = kept(column_bits, mixed(key + 2 * rows), LIMIT)
                thinned = tl.where(stay, chances * share, 0.0)
                dchances = tl.where(stay, dchances * share, 0.0)
            dvalues += tl.dot(thinned.to(slope.dtype), slope)
            dscores = (chances * (dchances - delta[None, :])).to(query.dtype)
            dkeys += tl.dot(dscores, query)
            dquery = tl.dot(tl.trans(dscores), keys)
            scratch = partial + (pair * LENGTH + rows[:, None]) * WIDTH + lane[None, :]
            if LENGTH > N:
                if left > 0:
                    dquery += tl.load(scratch)
                if left + N < LENGTH:
                    tl.store(scratch, dquery)
            if left + N >= LENGTH:
                tl.store(made + rows[:, None] * stride + lane[None, :], (dquery * plain).to(dqkv.dtype.element_ty))
        tl.store(made + heads * WIDTH + across, (dkeys * plain).to(dqkv.dtype.element_ty))
        tl.store(made + 2 * heads * WIDTH + across, dvalues.to(dqkv.dtype.element_ty))
        tl.debug_barrier()


@triton.jit
def query_kernel(
    qkv,
    out,
    grad,
    lse,
    key_at,
    delta_at,
    dqkv,
    heads,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    LIMIT: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """dQ of a block of rows, and for `other_kernel` the product of each row's context and its gradient."""
    blocks: tl.constexpr = LENGTH // M
    first, pair = (tl.program_id(0) % blocks) * M, tl.program_id(0) // blocks
    batch, head = pair // heads, pair % heads
    stride = 3 * heads * WIDTH
    place = batch * LENGTH * stride + head * WIDTH
    base = qkv + place
    rows, lane = first + tl.arange(0, M), tl.arange(0, WIDTH)
    inward = (batch * LENGTH + rows[:, None]) * heads * WIDTH + head * WIDTH + lane[None, :]
    share: tl.constexpr = 16777216 / (16777216 - LIMIT)
    plain = 1.0 / tl.sqrt(WIDTH * 1.0)
    scale = 1.4426950408889634 * plain
    query = tl.load(base + rows[:, None] * stride + lane[None, :])
    slope = tl.load(grad + inward)
    delta = tl.sum(slope.to(tl.float32) * tl.load(out + inward).to(tl.float32), 1)
    tl.store(delta_at + pair * LENGTH + rows, delta)
    height = tl.load(lse + pair * LENGTH + rows)
    key = mixed(tl.load(key_at) ^ pair)
    row_bits = mixed(key + 2 * rows)
    dquery = tl.zeros([M, WIDTH], tl.float32)
    for start in range(0, LENGTH, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(base + heads * WIDTH + columns[:, None] * stride + lane[None, :])
        values = tl.load(base + 2 * heads * WIDTH + columns[:, None] * stride + lane[None, :])
        chances = tl.exp2(tl.dot(query, tl.trans(keys)) * scale - height[:, None])
        dchances = tl.dot(slope, tl.trans(values))
        if LIMIT > 0:
            stay = kept(row_bits, mixed(key + 2 * columns + 1), LIMIT)
            dchances = tl.where(stay, dchances * share, 0.0)
        dquery += tl.dot((chances * (dchances - delta[:, None])).to(keys.dtype), keys)
    tl.store(dqkv + place + rows[:, None] * stride + lane[None, :], (dquery * plain).to(dqkv.dtype.element_ty))


@triton.jit
def other_kernel(
    qkv,
    grad,
    lse,
    key_at,
    delta_at,
    dqkv,
    heads,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    LIMIT: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """dK and dV of a block of N columns."""
    blocks: tl.constexpr = LENGTH // N
    left, pair = (tl.program_id(0) % blocks) * N, tl.program_id(0) // blocks
    batch, head = pair // heads, pair % heads
    stride = 3 * heads * WIDTH
    place = batch * LENGTH * stride + head * WIDTH
    base, made = qkv + place, dqkv + place
    columns, lane = left + tl.arange(0, N), tl.arange(0, WIDTH)
    beside = batch * LENGTH * heads * WIDTH + head * WIDTH
    share: tl.constexpr = 16777216 / (16777216 - LIMIT)
    plain = 1.0 / tl.sqrt(WIDTH * 1.0)
    scale = 1.4426950408889634 * plain
    across = columns[:, None] * stride + lane[None, :]
    keys = tl.load(base + heads * WIDTH + across)
    values = tl.load(base + 2 * heads * WIDTH + across)
    dkeys = tl.zeros([N, WIDTH], tl.float32)
    dvalues = tl.zeros([N, WIDTH], tl.float32)
    key = mixed(tl.load(key_at) ^ pair)
    column_bits = mixed(key + 2 * columns + 1)
    for upper in range(0, LENGTH, M):
        rows = upper + tl.arange(0, M)
        query = tl.load(base + rows[:, None] * stride + lane[None, :])
        slope = tl.load(grad + beside + rows[:, None] * heads * WIDTH + lane[None, :])
        height, delta = tl.load(lse + pair * LENGTH + rows), tl.load(delta_at + pair * LENGTH + rows)
        chances = tl.exp2(tl.dot(keys, tl.trans(query)) * scale - height[None, :])
        dchances = tl.dot(values, tl.trans(slope))
        thinned = chances
        if LIMIT > 0:
            stay = kept(column_bits, mixed(key + 2 * rows), LIMIT)
            thinned = tl.where(stay, chances * share, 0.0)
            dchances = tl.where(stay, dchances * share, 0.0)
        dvalues += tl.dot(thinned.to(slope.dtype), slope)
        dkeys += tl.dot((chances * (dchances - delta[None, :])).to(query.dtype), query)
    tl.store(made + heads * WIDTH + across, (dkeys * plain).to(dqkv.dtype.element_ty))
    tl.store(made + 2 * heads * WIDTH + across, dvalues.to(dqkv.dtype.element_ty))
