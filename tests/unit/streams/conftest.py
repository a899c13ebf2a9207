"""What the tests of streams share: a small vocabulary in the layout of the vocabulary stage, and commands."""

from pathlib import Path

import pytest
from small_vocabulary import write_vocabulary


@pytest.fixture(scope="session")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a vocabulary directory."""
    return write_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab")
