"""The embedded languages, built once for all tests of the generator."""

from typing import Any

import pytest
from embedded import EMBEDDED

from xling.synthetic.realise import Language, build_language
from xling.synthetic.traits import Traits
from xling.synthetic.world import World, build_world

TRAITS: dict[str, dict[str, Any]] = {
    code: {"code": code, **values} for code, values in EMBEDDED["synthetic"]["languages"].items()
}


@pytest.fixture(scope="session")
def world() -> World:
    """Return a world."""
    return build_world(1)


@pytest.fixture(scope="session")
def languages(world: World) -> dict[str, Language]:
    """Return the five languages in that world."""
    return {code: build_language(Traits.from_dict(values), world) for code, values in TRAITS.items()}
