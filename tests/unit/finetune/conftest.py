"""What the tests of fine-tuning share: tiny encoders of each kind."""

import pytest
import torch
from toy_tasks import write_model


@pytest.fixture(autouse=True)
def seeded():
    """Let every test draw the same numbers, whichever tests ran before it."""
    torch.manual_seed(1)


@pytest.fixture(scope="session")
def toy_model(tmp_path_factory):
    """Return vocabulary and encoder of a model that shares everything."""
    return write_model(tmp_path_factory.mktemp("shared"))
