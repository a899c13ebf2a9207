"""Shared by the tests of fetching: a faulty server."""

import pytest
from faulty_server import FaultyServer


@pytest.fixture
def server():
    with FaultyServer() as running:
        yield running
