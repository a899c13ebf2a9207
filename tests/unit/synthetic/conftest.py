"""The embedded languages, built once for all tests of the generator, and sentences written by hand."""

import pytest
from embedded import EMBEDDED

from xling.synthetic.flags import build_language
from xling.synthetic.language import Language
from xling.synthetic.world import World, build_world


@pytest.fixture(scope="session")
def world() -> World:
    return build_world(1)


@pytest.fixture(scope="session")
def languages(world: World) -> dict[str, Language]:
    described = EMBEDDED["synthetic"]["languages"].items()
    return {code: build_language(code, traits, world, "test") for code, traits in described}
