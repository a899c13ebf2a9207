"""Devices: bf16 where a card has it, else fp16 forwards and float32 training; threads; work captured and replayed."""

import gc
import warnings
from contextlib import nullcontext
from unittest.mock import Mock

import pytest
import torch

from xling.core.errors import XlingError
from xling.model import device
from xling.pretrain.engine import working_dtype

CUDA, CPU = torch.device("cuda"), torch.device("cpu")


@pytest.mark.parametrize("has_bf16", [True, False])
def test_the_type_follows_the_card(has_bf16, monkeypatch):
    monkeypatch.setattr(  # an older card emulates it, slowly
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation or has_bf16
    )
    half = torch.bfloat16 if has_bf16 else torch.float16
    assert device.autocast_type(CUDA, training=False) == half
    assert device.autocast_type(CUDA, training=True) == (torch.bfloat16 if has_bf16 else None)
    assert working_dtype("auto", CUDA) == half
    for training in (True, False):
        assert device.autocast_type(CPU, training) is None
        with warnings.catch_warnings(), device.autocast(CPU, training):
            warnings.simplefilter("error")
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


GRANTED = "n7: CUDA_VISIBLE_DEVICES=0,1, but CUDA does not work: "


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({}, None),
        ({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, None),
        ({"CUDA_VISIBLE_DEVICES": "", "SLURM_JOB_GPUS": "0"}, None),  # the user's own choice
        ({"CUDA_VISIBLE_DEVICES": "0,1", "XLING_DEVICE": "cpu"}, None),
        ({"CUDA_VISIBLE_DEVICES": "0,1", "XLING_DEVICE": "any"}, None),
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, GRANTED),
        ({"SLURM_JOB_GPUS": "0,1"}, GRANTED.replace("CUDA_VISIBLE_DEVICES", "SLURM_JOB_GPUS")),
        ({"XLING_DEVICE": "gpu"}, "XLING_DEVICE=gpu: expected any, cpu or nothing"),
    ],
)
def test_granted_gpus_that_do_not_work_end_the_job(variables, problem, tmp_path, monkeypatch):
    for name in (*device.GRANTED, device.DEVICE):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("socket.gethostname", lambda: "n7")
    monkeypatch.setenv(device.BAD_NODES, str(tmp_path / "bad"))
    if problem is None:
        assert device.local_device("auto") == CPU
    else:
        with pytest.raises(XlingError) as told:
            device.local_device("auto")
        assert str(told.value).startswith(problem)
        assert "\n" not in str(told.value)
    assert (tmp_path / "bad").exists() == (problem is not None and problem.startswith("n7"))
    assert variables.get("XLING_DEVICE") == "gpu" or device.local_device("cpu") == CPU


def test_work_beside_other_work_is_in_order_and_threads_and_precision_are_given_back():
    before = torch.get_num_threads()
    torch.set_float32_matmul_precision("medium")
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert device.side_by_side(lambda item: item * item, range(20)) == [item * item for item in range(20)]
            with device.exact_products():
                assert torch.get_float32_matmul_precision() == "highest"
            with pytest.raises(ZeroDivisionError):
                device.side_by_side(lambda item: 1 // item, [1, 0])
            assert (torch.get_num_threads(), torch.get_float32_matmul_precision()) == (threads, "medium")
    finally:
        torch.set_num_threads(before)
        torch.set_float32_matmul_precision("highest")


@pytest.mark.parametrize(("captures", "calls", "replays"), [(False, 5, 0), (True, 3, 3)])
def test_work_is_eager_once_captured_once_and_then_replayed(captures, calls, replays, monkeypatch):
    graph, known = Mock(), {"pool": None, "stream": None, "capture_error_mode": "thread_local"}

    def capture(_, **options):
        assert (options, gc.isenabled()) == (known, False)  # the options that training needs, and nothing is collected
        return nullcontext()

    for name, fake in {"graph": capture, "CUDAGraph": lambda: graph}.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    for name in ("graph_pool_handle", "current_stream", "default_stream"):
        monkeypatch.setattr(torch.cuda, name, lambda: None)
    for collects in (False, True):
        work, replay = Mock(), device.Replay(captures)
        graph.reset_mock()
        (gc.enable if collects else gc.disable)()
        try:
            for key in "aabaa":  # what comes once is never captured
                replay(key, work)
            assert gc.isenabled() is collects  # the collector is left as it was
        finally:
            gc.enable()
        assert (work.call_count, graph.replay.call_count) == (calls, replays)
