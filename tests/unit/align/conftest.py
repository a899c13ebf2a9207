"""What the tests of alignment leave as they found it."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _same_matrix_products() -> Iterator[None]:
    """Switch oneDNN on again: on a CPU without bfloat16 torch switches it off for good at the first such product.

    Tests that run later in the process would then compare its results with those of a process that still has it.
    """
    enabled = torch.backends.mkldnn.enabled
    yield
    torch.backends.mkldnn.set_flags(enabled)
