"""Tatoeba test sets as LASER has them: two files for a pair of languages, line by line."""

from collections.abc import Sequence
from pathlib import Path

from xling.core.io import write_text


def write_tatoeba(folder: Path, source: str, target: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Write (source text, target text) pairs; both languages are named by their three-letter codes."""
    name = f"tatoeba.{target}-{source}"
    _write(folder / f"{name}.{source}", [one for one, _ in pairs])
    _write(folder / f"{name}.{target}", [two for _, two in pairs])


def _write(path: Path, lines: Sequence[str]) -> None:
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)
