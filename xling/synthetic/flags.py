"""Command-line flags that both commands of the generator share."""

import argparse
from pathlib import Path

from xling.core.cli import positive


def shared_flags(description: str) -> argparse.ArgumentParser:
    """Return a parser with the shared flags."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world-seed", required=True, type=int, help="the world that all languages of a study share")
    parser.add_argument("--seed", required=True, type=int, help="which draw of text")
    parser.add_argument("--root", required=True, type=Path, help="the data root to write below")
    return parser


def counts(text: str) -> dict[str, int]:
    """Parse the sizes of train, dev and test, such as 4000,500,500."""
    parts = text.split(",")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(f"expected three whole numbers such as 400,50,50, found {text!r}")
    return dict(zip(("train", "dev", "test"), map(positive, parts), strict=True))


def share(text: str) -> float:
    """Parse a share above 0 and at most 1."""
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and at most 1, found {text!r}")
    return value
