"""A dictionary for jieba: `word frequency` a line."""

from collections.abc import Iterable
from pathlib import Path

from xling.core.io import write_text


def write_jieba(path: Path, words: Iterable[tuple[str, float]]) -> None:
    """Write words with frequencies of at least 1, frequent ones first; jieba cannot hold a word with a space."""
    rows = sorted(((word, max(1, round(count))) for word, count in words), key=lambda row: (-row[1], row[0]))
    with write_text(path) as handle:
        handle.writelines(f"{word} {count}\n" for word, count in rows if " " not in word)
