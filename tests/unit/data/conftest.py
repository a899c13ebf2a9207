"""Shared by the tests of fetching: a faulty server."""

from collections.abc import Iterator

import pytest
from faulty_server import FaultyServer


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running
