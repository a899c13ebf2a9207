"""Which code made a result: the commit, and the versions of the packages it uses."""

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def commit(folder: Path) -> str:
    """Return the commit of the checkout that a folder is in; elsewhere what XLING_COMMIT says, or `unknown`."""
    return git(folder, "rev-parse", "HEAD") or os.environ.get("XLING_COMMIT", "unknown")


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git says of the checkout that a folder is in, or None where git or the checkout is missing."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)  # noqa: S603, S607
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def installed(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of those distributions that are installed."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):  # a dependency of another Python version
            found[name] = version(name)
    return found
