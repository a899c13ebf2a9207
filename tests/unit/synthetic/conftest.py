"""The embedded languages, built once for all tests of the generator."""

import pytest
from embedded import EMBEDDED

from xling.synthetic.language import Language
from xling.synthetic.traits import Differences
from xling.synthetic.world import build_world


@pytest.fixture(scope="session")
def world():
    return build_world(1)


@pytest.fixture(scope="session")
def languages(world):
    described = EMBEDDED["synthetic"]["languages"].items()
    return {code: Language(code, Differences(**traits), world) for code, traits in described}
