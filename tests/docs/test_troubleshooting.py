"""Every message that docs/troubleshooting.md explains is one that the source can say."""

import ast
import re
from functools import cache

import pytest
from embedded import ROOT

PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^\| `([^`]+)`.*\|$", PAGE, re.MULTILINE)  # the first column of every table
BARE = " .,:;()"  # put between parts of a message by whoever composes it


def fixed_parts(message):
    """Return the parts of a message that do not vary."""
    return [part for piece in re.split(r"…| \(|\)", message) if len(part := piece.strip(BARE)) > 3]


@cache
def texts():
    """Return everything that each module can say; the parts of an f-string count as texts of their own."""
    paths = [path for folder in ("xling", "workflow_scripts") for path in (ROOT / folder).rglob("*.py")]
    nodes = ([*ast.walk(ast.parse(path.read_text(encoding="utf-8")))] for path in paths)
    return [
        "\n".join(n.value for n in own if isinstance(n, ast.Constant) and isinstance(n.value, str)) for own in nodes
    ]


def is_said(message):
    """Return whether the texts of one module hold every fixed part of a message."""
    return any(all(part in own for part in fixed_parts(message)) for own in texts())


@pytest.mark.parametrize("message", MESSAGES)
def test_the_message_is_in_the_source(message):
    assert max(map(len, fixed_parts(message))) >= 9, "too little of it is fixed"
    assert is_said(message)


def test_messages_are_found_and_one_that_nobody_says_is_noticed():
    assert not is_said("…: unknown key, sorry (…)")
    assert len(MESSAGES) > 15
