"""Command-line flags of the writers: a wrong one is told in one line that names the flag."""

import argparse
import json
from collections.abc import Callable
from typing import Any, NoReturn

from xling.core.errors import XlingError


class Flags(argparse.ArgumentParser):
    """A parser that reports a wrong flag like every other wrong input."""

    def error(self, message: str) -> NoReturn:
        """Raise the complaint instead of printing the usage before it."""
        raise XlingError(f"{message} (see --help)")


def counts(number: int) -> Callable[[str], tuple[int, ...]]:
    """Return a reader of `number` sizes written as 4000,500,500."""

    def read(text: str) -> tuple[int, ...]:
        parts = text.split(",")
        if len(parts) != number or not all(map(_is_size, parts)):
            raise argparse.ArgumentTypeError(f"expected {number} whole numbers above 0 such as 400,50,50, not {text!r}")
        return tuple(int(part) for part in parts)

    return read


def size(text: str) -> int:
    """Read a whole number of at least 1."""
    if not _is_size(text):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, not {text!r}")
    return int(text)


def share(text: str) -> float:
    """Read a share above 0 and at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and at most 1, not {text!r}")
    return value


def json_object(text: str) -> dict[str, Any]:
    """Read a JSON object with at least one key."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(value, dict) or not value:
        raise argparse.ArgumentTypeError(f"expected a JSON object with at least one key, not {text!r}")
    return value


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) > 0
