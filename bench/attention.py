"""Attention at the paper's shape and at a narrow one, beside torch's: python -m bench.attention --out attention.json

Checks the kernels of bench/attention_kernels.py against float64 with the same dropped values, times them with several
sizes of blocks beside torch's FlashAttention and cuDNN, and then trains with the fastest. Needs a GPU; where Triton is
installed, TRITON_INTERPRET=1 and `--check` run the first part on a CPU.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from bench import attention_kernels as kernels
from bench.pretrain import SIZES, free, make_run, our_rate, say
from xling.model import layers
from xling.model.config import Shape
from xling.model.layers import STEPS, LayerWeights
from xling.pretrain.engine import compiled_losses
from xling.pretrain.record import device_name, utc

RATE = 0.1
LIMIT = round(RATE * STEPS)
Blocks = tuple[int, int, int, int]  # rows, columns, warps, stages
FORWARD: list[Blocks] = [
    (128, 128, 8, 2),
    (64, 128, 4, 2),
    (128, 64, 8, 2),
    (64, 64, 4, 2),
    (128, 256, 8, 1),
    (128, 64, 4, 2),
]
WHOLE: list[Blocks] = [
    (32, 128, 8, 2),
    (64, 128, 8, 1),
    (64, 128, 8, 2),
    (64, 64, 8, 2),
    (32, 128, 8, 1),
    (64, 64, 4, 1),
]
QUERY: list[Blocks] = [(64, 128, 4, 2), (128, 64, 8, 2), (64, 64, 4, 2), (128, 128, 8, 1), (128, 128, 8, 2)]
OTHER: list[Blocks] = [
    (64, 64, 4, 2),
    (64, 128, 8, 2),
    (32, 64, 4, 2),
    (32, 128, 8, 2),
    (128, 64, 4, 1),
    (64, 64, 4, 3),
]


class Sizes:
    """The sizes of a batch of attention."""

    def __init__(self, qkv: Tensor, heads: int) -> None:
        self.b, self.s, width = qkv.shape
        self.heads, self.e = heads, width // (3 * heads)

    def options(self, blocks: Blocks, limit: int) -> dict[str, Any]:
        """Return the constants of a kernel."""
        rows, columns, warps, stages = blocks
        sizes = {"LENGTH": self.s, "WIDTH": self.e, "LIMIT": limit, "M": rows, "N": columns}
        return {**sizes, "num_warps": warps, "num_stages": stages}


def forward(qkv: Tensor, heads: int, key: Tensor, blocks: Blocks, limit: int = LIMIT) -> tuple[Tensor, Tensor]:
    """Return the context of all heads (b, s, d) and the logarithm of each row's sum, to base 2."""
    n = Sizes(qkv, heads)
    out = qkv.new_empty(n.b, n.s, heads * n.e)
    lse = torch.empty(n.b * heads, n.s, device=qkv.device)
    kernels.forward_kernel[(n.b * heads * (n.s // blocks[0]),)](qkv, out, lse, key, heads, **n.options(blocks, limit))
    return out, lse


def backward(
    saved: tuple[Tensor, ...], grad: Tensor, heads: int, blocks: tuple[Blocks, ...], limit: int = LIMIT
) -> Tensor:
    """Return the gradient of queries, keys and values; the number of blocks says by one kernel or by two."""
    qkv, out, lse, key = saved
    n, made = Sizes(qkv, heads), torch.empty_like(qkv)
    if len(blocks) == 1:
        waiting = torch.empty((n.b * heads, n.s, n.e) if blocks[0][1] < n.s else 1, device=qkv.device)
        whole = kernels.whole_kernel[(n.b * heads,)]
        whole(qkv, out, grad, lse, key, waiting, made, heads, **n.options(blocks[0], limit))
        return made
    delta = torch.empty_like(lse)
    query = kernels.query_kernel[(n.b * heads * (n.s // blocks[0][0]),)]
    query(qkv, out, grad, lse, key, delta, made, heads, **n.options(blocks[0], limit))
    other = kernels.other_kernel[(n.b * heads * (n.s // blocks[1][1]),)]
    other(qkv, grad, lse, key, delta, made, heads, **n.options(blocks[1], limit))
    return made


def kept(n: Sizes, key: Tensor, limit: int) -> Tensor:
    """Return which values stay (b, heads, s, s), as the kernels find out."""
    pair = torch.arange(n.b * n.heads, dtype=torch.int32, device=key.device)
    start = mixed(key ^ pair)[:, None]
    place = torch.arange(n.s, dtype=torch.int32, device=key.device)
    bits = (mixed(start + 2 * place)[:, :, None] ^ mixed(start + 2 * place + 1)[:, None]) * 0x2C1B3C6D
    bits = (bits ^ ((bits >> 15) & 0x1FFFF)) * 0x297A2D39
    return (((bits >> 8) & 0xFFFFFF) >= limit).view(n.b, n.heads, n.s, n.s)


def mixed(value: Tensor) -> Tensor:
    """Return well-mixed bits of int32 values."""
    value = (value ^ ((value >> 16) & 0xFFFF)) * 0x7FEB352D
    value = (value ^ ((value >> 15) & 0x1FFFF)) * -2073254261
    return value ^ ((value >> 16) & 0xFFFF)


def by_definition(qkv: Tensor, heads: int, key: Tensor, limit: int) -> Tensor:
    """Return the context of all heads, written out."""
    n = Sizes(qkv, heads)
    query, keys, values = qkv.view(n.b, n.s, 3, heads, n.e).permute(2, 0, 3, 1, 4)
    chances: Tensor = (query @ keys.transpose(-1, -2) / math.sqrt(n.e)).softmax(-1)
    chances = chances * kept(n, key, limit) * (STEPS / (STEPS - limit))
    context: Tensor = chances @ values
    return context.transpose(1, 2).reshape(n.b, n.s, -1)


def by_torch(qkv: Tensor, heads: int) -> Tensor:
    """Return the context of all heads by torch's kernel."""
    n = Sizes(qkv, heads)
    query, keys, values = qkv.view(n.b, n.s, 3, heads, n.e).permute(2, 0, 3, 1, 4).unbind(0)
    context = functional.scaled_dot_product_attention(query, keys, values, dropout_p=RATE)
    return context.transpose(1, 2).reshape(n.b, n.s, -1)


def draw(b: int, s: int, d: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return random queries, keys and values, a gradient, and a key."""
    qkv, grad = torch.randn(b, s, 3 * d, device=device, dtype=dtype), torch.randn(b, s, d, device=device, dtype=dtype)
    return qkv, grad, torch.tensor(-123456789, dtype=torch.int32, device=device)


def check(device: torch.device) -> dict[str, float]:
    """Return the largest relative error of context and gradients over all sizes of blocks; fail if one is too large."""
    on_gpu = device.type == "cuda"
    b, s, d, heads = (4, 256, 256, 4) if on_gpu else (1, 256, 32, 2)
    found: dict[str, float] = {}
    for limit in (0, LIMIT):
        qkv, grad, key = draw(b, s, d, device, torch.bfloat16 if on_gpu else torch.float32)
        exact = qkv.double().requires_grad_()
        want = by_definition(exact, heads, key, limit)
        (slope,) = torch.autograd.grad(want, exact, grad.double())
        for blocks in FORWARD if on_gpu else FORWARD[:1]:
            if result := possible(f"forward {blocks}", partial(forward, qkv, heads, key, blocks, limit)):
                out, lse = result
                found[f"forward {blocks}, {limit}"] = error(out, want)
        ways = [(one,) for one in WHOLE] + [(QUERY[0], one) for one in OTHER] + [(one, OTHER[0]) for one in QUERY[1:]]
        for way in ways if on_gpu else [ways[0], ways[-1]]:
            made = possible(f"backward {way}", partial(backward, (qkv, out, lse, key), grad, heads, way, limit))
            if made is not None:
                found[f"backward {way}, {limit}"] = error(made, slope)
    for name, value in found.items():
        if not value < (2e-2 if on_gpu else 1e-5):
            raise SystemExit(f"{name}: relative error {value}")
    return found


def possible(name: str, work: Callable[[], Any]) -> Any:
    """Return the result of a call, or None if there is no such kernel here, saying why."""
    try:
        return work()
    except (RuntimeError, triton.TritonError) as error:
        say(f"{name}: {error}")
        return None


def error(found: Tensor, want: Tensor) -> float:
    """Return the relative error in the Frobenius norm."""
    return float((found.double() - want.detach()).norm() / want.detach().norm())


def milliseconds(work: Callable[[], Any]) -> float:
    """Return the median time of a recorded call."""
    from triton.testing import do_bench_cudagraph

    return float(do_bench_cudagraph(work, rep=60, return_mode="median"))


def compare(device: torch.device, size: str) -> tuple[dict[str, float], Blocks, tuple[Blocks, ...]]:
    """Time all ways at one shape; return milliseconds per layer and the fastest blocks of ours."""
    width, heads, _, s, b, _ = SIZES[size]
    qkv, grad, key = draw(b, s, width, device, torch.bfloat16)
    found: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> float:
        found[name] = possible(f"{size}, {name}", partial(milliseconds, work)) or math.inf
        say(f"{size}, {name}: {found[name]:.4f} ms")
        return found[name]

    def fitting(chosen: list[Blocks]) -> list[Blocks]:
        return [one for one in chosen if max(one[:2]) <= s]

    leaf = qkv.clone().requires_grad_()
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        with sdpa_kernel([backend]):
            timed(f"{name}, forward", partial(by_torch, leaf, heads))
            timed(f"{name}, both", lambda: torch.autograd.grad(by_torch(leaf, heads), leaf, grad))
    best = min(
        fitting(FORWARD), key=lambda blocks: timed(f"forward {blocks}", lambda: forward(qkv, heads, key, blocks))
    )
    saved = qkv, *forward(qkv, heads, key, best), key

    def slope(*ways: Blocks) -> float:
        return timed(f"backward {ways}", lambda: backward(saved, grad, heads, ways))

    whole = min(((one,) for one in fitting(WHOLE)), key=lambda ways: slope(*ways))
    other = min(fitting(OTHER), key=lambda one: slope(QUERY[0], one))
    query = min(fitting(QUERY), key=lambda one: slope(one, other))
    fastest = min((whole, (query, other)), key=lambda ways: found[f"backward {ways}"])
    return found, best, fastest


@contextmanager
def ours(size: str, best: Blocks, ways: tuple[Blocks, ...]) -> Iterator[None]:
    """Train with these kernels."""

    @torch.library.custom_op(f"xling::attend_{size}", mutates_args=())
    def attend(qkv: Tensor, heads: int, key: Tensor) -> tuple[Tensor, Tensor]:
        return forward(qkv, heads, key, best)

    @torch.library.custom_op(f"xling::attend_{size}_backward", mutates_args=())
    def attend_backward(qkv: Tensor, out: Tensor, lse: Tensor, key: Tensor, grad: Tensor, heads: int) -> Tensor:
        return backward((qkv, out, lse, key), grad.contiguous(), heads, ways)

    @attend.register_fake
    def _(qkv: Tensor, heads: int, _: Tensor) -> tuple[Tensor, Tensor]:
        n = Sizes(qkv, heads)
        return qkv.new_empty(n.b, n.s, heads * n.e), qkv.new_empty(n.b * heads, n.s, dtype=torch.float32)

    @attend_backward.register_fake
    def _(qkv: Tensor, *_: Any) -> Tensor:
        return torch.empty_like(qkv)

    def save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        qkv, ctx.heads, key = inputs
        ctx.save_for_backward(qkv, *output, key)

    def slope(ctx: Any, grad: Tensor, _: Any) -> tuple[Tensor, None, None]:
        return attend_backward(*ctx.saved_tensors, grad, ctx.heads), None, None

    attend.register_autograd(slope, setup_context=save)

    def attention(w: LayerWeights, states: Tensor, shape: Shape, *_: Any) -> Tensor:
        qkv = functional.linear(states, w.qkv_weight, w.qkv_bias)
        key = torch.randint(-(2**31), 2**31 - 1, (1,), dtype=torch.int32, device=states.device)
        context: Tensor = attend(qkv, shape.heads, key)[0]
        return context

    before, layers.attention = layers.attention, attention  # type: ignore[assignment]
    try:
        yield
    finally:
        layers.attention = before


def train(size: str, device: torch.device, best: Blocks, ways: tuple[Blocks, ...], seconds: float) -> dict[str, float]:
    """Return tokens a second of a training, with torch's attention and with ours."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as data:
        for name in ("torch", "ours"):
            compiled_losses.cache_clear()
            torch._dynamo.reset()
            run = make_run(size, (False, 0))
            if name == "ours":
                with ours(size, best, ways):
                    found[name] = our_rate(run, device, Path(data), seconds)
            else:
                found[name] = our_rate(run, device, Path(data), seconds)
            say(f"{size}, training with {name}: {found[name]:,.0f} tokens/s")
            free()
    return found


def main() -> None:
    """Read the command line, measure, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="check and measure nothing")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each training, compilation aside")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    errors = check(device)
    say(f"largest relative error of {len(errors)}: {max(errors.values()):.1e}")
    if args.check:
        return
    found: dict[str, Any] = {"errors": errors}
    for size in ("paper", "narrow"):
        times, best, ways = compare(device, size)
        speeds = train(size, device, best, ways, args.seconds)
        found[size] = {"milliseconds": times, "fastest": [best, *ways], "tokens_per_second": speeds}
    about = {
        "date": utc(),
        "device": device_name(device),
        "versions": {"torch": torch.__version__, "triton": triton.__version__},
    }
    if args.out:
        args.out.write_text(json.dumps({**about, **found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
