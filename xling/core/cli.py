"""Parsers for values of command-line flags, with checks."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from xling.core.errors import XlingError


def positive(text: str) -> int:
    """Parse a positive whole number."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 up, found {text!r}")
    return int(text)


def named(items: Sequence[str], flag: str, shape: str = "NAME=VALUE") -> dict[str, str]:
    """Return the values of arguments such as en=en.model by name; each name may occur once."""
    found: dict[str, str] = {}
    for item in items:
        name, _, value = item.partition("=")
        if not (name and value) or name in found:
            raise XlingError(f"{flag} {item}: expected {shape}, each {shape.partition('=')[0].lower()} once")
        found[name] = value
    return found


def named_paths(items: Sequence[str], flag: str, shape: str = "LANGUAGE=PATH") -> dict[str, Path]:
    """Return the paths of arguments such as en=en.model by name."""
    return {name: Path(value) for name, value in named(items, flag, shape).items()}
