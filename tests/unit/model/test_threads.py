"""Pieces of work side by side: in order, and torch's threads as they were before, after a failure too."""

import pytest
import torch

from xling.model.device import side_by_side


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_order_and_the_threads_are_given_back(threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert side_by_side(lambda item: item * item, range(20)) == [item * item for item in range(20)]
        with pytest.raises(ZeroDivisionError):
            side_by_side(lambda item: 1 // item, [1, 0])
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
