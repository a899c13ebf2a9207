"""Pieces of work side by side: in order, alike for any number of threads, and torch as it was before."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from xling.align.normalise import unit_length
from xling.align.search import search
from xling.core.seeds import numpy_rng
from xling.model.device import side_by_side


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def test_results_are_in_order_and_the_threads_are_given_back(threads: int) -> None:
    assert side_by_side(lambda item: item * item, range(20)) == [item * item for item in range(20)]
    assert torch.get_num_threads() == threads


def test_the_threads_are_given_back_after_a_failure(threads: int) -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // item, [1, 0])
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("half", [None, torch.bfloat16])
def test_a_search_finds_the_same(threads: int, half: torch.dtype | None) -> None:
    x, y = (unit_length(numpy_rng("threads", name).normal(size=(1500, 20))) for name in "xy")
    expected = np.argsort(-(x @ y.T), axis=1)[:, :5]
    np.testing.assert_array_equal(search(x, y, 5, half=half).indices, expected)
