"""What the tests of the encoder share: numbers drawn alike in every run."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Let every test draw the same numbers, whichever tests ran before it."""
    torch.manual_seed(1)
