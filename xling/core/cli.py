"""Values of command-line flags, checked where they are read."""

import argparse


def positive(text: str) -> int:
    """Read a whole number from 1 up."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 up, found {text!r}")
    return int(text)
