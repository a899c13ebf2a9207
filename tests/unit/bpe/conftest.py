"""A small vocabulary for the tests of encoding; its ids differ from sentencepiece's, as they do in a union of two."""

from pathlib import Path

import pytest
from tiny_models import made_up, write_vocab


@pytest.fixture(scope="session")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a vocabulary directory of two languages; en comes second."""
    texts = {"fr": made_up("fr", 300), "en": made_up("en", 600)}
    return write_vocab(tmp_path_factory.mktemp("vocabulary"), "prefixed", texts, merges=120)
