"""Capturing: the collector stays away and comes back; on a GPU, an earlier model's garbage does not spoil it."""

import gc
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch

from xling.model.device import captured


def fake_graph(graph: Any, **options: Any) -> AbstractContextManager[None]:
    assert options == {"pool": None, "capture_error_mode": "thread_local"}
    return nullcontext()


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_stays_away_and_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch, collects: bool) -> None:
    monkeypatch.setattr(torch.cuda, "graph", fake_graph)
    (gc.enable if collects else gc.disable)()
    try:
        with captured(object(), None):  # type: ignore[arg-type]
            assert not gc.isenabled()
        assert gc.isenabled() is collects
    finally:
        gc.enable()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_garbage_of_an_earlier_model_does_not_spoil_a_capture() -> None:
    values = torch.ones(1000, device="cuda")

    def record() -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        with captured(graph, None):
            for _ in range(50):
                values.add_(torch.ones(1000, device="cuda"))
                [[] for _ in range(100)]  # enough to make the collector look, if it may
        return graph

    threshold = gc.get_threshold()
    gc.set_threshold(10)
    try:
        for _ in range(5):
            circle: list[Any] = [record()]
            circle.append(circle)
            del circle
        record().replay()
        torch.cuda.synchronize()
    finally:
        gc.set_threshold(*threshold)
    assert float(values[0]) == 51.0
