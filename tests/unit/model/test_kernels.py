"""Attention on a GPU against its definition in float64, with the same values dropped.

Without a GPU: TRITON_INTERPRET=1, where Triton is installed.
"""

import math
import os

import pytest
import torch
from torch import Tensor

from xling.model.layers import STEPS

if not (torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"):
    pytest.skip("no GPU here", allow_module_level=True)
kernels = pytest.importorskip("xling.model.kernels")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if torch.cuda.is_available() else torch.float32
TOLERANCE = 2e-2 if torch.cuda.is_available() else 1e-5
KEY = torch.tensor([-123456789], dtype=torch.int32, device=DEVICE)


def kept(b: int, s: int, heads: int, limit: int) -> Tensor:
    """Return which values stay (b, heads, s, s)."""
    place = torch.arange(s, dtype=torch.int32, device=DEVICE)
    start = mixed(KEY ^ torch.arange(b * heads, dtype=torch.int32, device=DEVICE))[:, None]
    bits = (mixed(start + 2 * place)[:, :, None] ^ mixed(start + 2 * place + 1)[:, None]) * 0x2C1B3C6D
    bits = (bits ^ ((bits >> 15) & 0x1FFFF)) * 0x297A2D39
    return (((bits >> 8) & 0xFFFFFF) >= limit).view(b, heads, s, s)


def mixed(value: Tensor) -> Tensor:
    """Return well-mixed bits of int32 values."""
    value = (value ^ ((value >> 16) & 0xFFFF)) * 0x7FEB352D
    value = (value ^ ((value >> 15) & 0x1FFFF)) * -2073254261
    return value ^ ((value >> 16) & 0xFFFF)


def by_definition(qkv: Tensor, keep: Tensor, heads: int, limit: int) -> Tensor:
    b, s, width = qkv.shape
    query, keys, values = qkv.view(b, s, 3, heads, -1).permute(2, 0, 3, 1, 4)
    scores = (query @ keys.transpose(-1, -2)) / math.sqrt(width // (3 * heads))
    chances = scores.masked_fill(~keep[:, None, None], -math.inf).softmax(-1)
    chances = chances * kept(b, s, heads, limit) * (STEPS / (STEPS - limit))
    return (chances @ values).transpose(1, 2).reshape(b, s, -1)


@pytest.mark.parametrize("rate", [0.0, 0.1])
@pytest.mark.parametrize(
    ("s", "e", "padded"),
    [
        (16, 16, True),
        (48, 32, True),
        (64, 32, False),
        (80, 64, True),
        (128, 32, False),
        (144, 16, False),
        (272, 64, True),
    ],
)
def test_context_and_gradients_are_those_of_the_definition(s, e, padded, rate):
    torch.manual_seed(0)
    b, heads, limit = 3, 2, round(rate * STEPS)
    qkv = torch.randn(b, s, 3 * heads * e, device=DEVICE, dtype=DTYPE, requires_grad=True)
    grad = torch.randn(b, s, heads * e, device=DEVICE, dtype=DTYPE)
    keep = torch.ones(b, s, dtype=torch.bool, device=DEVICE)
    if padded:
        keep[1, 1:] = keep[2, s // 2 :] = False
    exact = qkv.detach().double().requires_grad_()
    want = by_definition(exact, keep, heads, limit)
    found, _ = kernels.attend(qkv, keep if padded else None, KEY, heads, limit)
    slopes = torch.autograd.grad(found, qkv, grad), torch.autograd.grad(want, exact, grad.double())
    for mine, theirs in ((found, want), (slopes[0][0], slopes[1][0])):
        assert float((mine.double() - theirs).norm() / theirs.norm()) < TOLERANCE


def test_each_head_drops_other_values_and_the_share_is_the_rate():
    stay = kept(2, 256, 4, round(0.1 * STEPS))
    assert (~stay).float().mean().item() == pytest.approx(0.1, abs=2e-3)
    assert (stay[0, 0] ^ stay[1, 3]).any()
