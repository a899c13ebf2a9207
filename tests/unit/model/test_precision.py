"""What a card computes in: bf16 where it has it; without, fp16 forwards and float32 in training."""

import warnings

import pytest
import torch

from xling.model import device
from xling.pretrain.engine import working_dtype

CUDA, CPU = torch.device("cuda"), torch.device("cpu")


@pytest.fixture(params=[True, False], ids=["bf16 card", "older card"])
def has_bf16(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    def supported(including_emulation: bool = True) -> bool:
        return including_emulation or request.param  # an older card emulates it, slowly

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    return bool(request.param)


def test_the_type_follows_the_card(has_bf16: bool) -> None:
    half = torch.bfloat16 if has_bf16 else torch.float16
    assert device.autocast_type(CUDA, training=False) == half
    assert device.autocast_type(CUDA, training=True) == (torch.bfloat16 if has_bf16 else None)
    assert working_dtype("auto", CUDA) == half


@pytest.mark.parametrize("training", [True, False])
def test_a_processor_computes_in_float32(has_bf16: bool, training: bool) -> None:
    assert device.autocast_type(CPU, training) is None
    with warnings.catch_warnings(), device.autocast(CPU, training):
        warnings.simplefilter("error")
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
