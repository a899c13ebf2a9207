"""Every message that docs/troubleshooting.md explains is one that the source can say."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from embedded import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
ROW = re.compile(r"^\| `([^`]+)`.*\|$", re.MULTILINE)
BARE = " .,:;()"  # put between parts of a message by whoever composes it


def messages() -> list[str]:
    """Return the first column of every table."""
    return ROW.findall(PAGE.read_text(encoding="utf-8"))


def fixed_parts(message: str) -> list[str]:
    """Return the parts of a message that do not vary."""
    return [part for piece in re.split(r"…| \(|\)", message) if len(part := piece.strip(BARE)) > 3]


@cache
def texts_of(path: Path) -> str:
    """Return everything that a file can say, a line a text, with … for what varies."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in joined for part in node.values}
    plain = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in inside]
    varying = ["".join(p.value if isinstance(p, ast.Constant) else "…" for p in node.values) for node in joined]
    return "\n".join([text for text in plain if isinstance(text, str)] + varying)


def sources() -> list[Path]:
    """Return all modules that can fail with a message."""
    return [path for folder in ("xling", "workflow_scripts") for path in sorted((ROOT / folder).rglob("*.py"))]


def said_by(message: str) -> list[str]:
    """Return the modules whose texts hold every fixed part of a message."""
    parts = fixed_parts(message)
    return [str(path.relative_to(ROOT)) for path in sources() if all(part in texts_of(path) for part in parts)]


@pytest.mark.parametrize("message", messages())
def test_the_message_is_in_the_source(message: str) -> None:
    assert max(map(len, fixed_parts(message))) >= 9, "too little of it is fixed"
    assert said_by(message)


def test_messages_are_found_and_one_that_nobody_says_is_noticed() -> None:
    assert not said_by("…: unknown key, sorry (…)")
    assert len(messages()) > 15
