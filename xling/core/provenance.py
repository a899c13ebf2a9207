"""Provenance of a result: the git commit of the code, and the versions of installed packages."""

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def commit(folder: Path) -> str:
    """Return the commit of the checkout that contains a folder; outside one, the value of XLING_COMMIT or `unknown`."""
    return git(folder, "rev-parse", "HEAD") or os.environ.get("XLING_COMMIT", "unknown")


def git(folder: Path, *arguments: str) -> str | None:
    """Return the output of a git command in a folder, or None if it fails or git is missing."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)  # noqa: S603, S607
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def installed(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the named distributions, without those that are not installed."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):  # some dependencies are for other Python versions only
            found[name] = version(name)
    return found
