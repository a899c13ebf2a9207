"""MUSE dictionaries: `source target` a line, frequent words first, in official files for training and test."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.types import Translation

TRAINING_SHARE = 5000 / 6500  # of the source words: MUSE trains on the 5,000 most frequent and tests on the next 1,500
GOOD = 4  # from 1 to 9: what is worse is a near miss, and MUSE holds what counts as right


def write_muse(
    folder: Path, source: str, target: str, pairs: Iterable[Translation], frequency: Mapping[str, float]
) -> None:
    """Write the full list and its two parts, which share no source word."""
    entries = by_source(pairs, frequency)
    words = list(entries)
    border = round(TRAINING_SHARE * len(words))
    name = f"{source}-{target}"
    _write(folder / f"{name}.txt", words, entries)
    _write(folder / f"{name}.0-5000.txt", words[:border], entries)
    _write(folder / f"{name}.5000-6500.txt", words[border:], entries)


def by_source(pairs: Iterable[Translation], frequency: Mapping[str, float]) -> dict[str, list[str]]:
    """Return the lower-cased translations of each source word, frequent words and good translations first."""
    entries: dict[str, dict[str, None]] = {}
    single = (pair for pair in pairs if pair.quality >= GOOD and " " not in pair.source + pair.target)
    ranked = sorted(single, key=lambda pair: (-frequency.get(pair.source, 0), pair.source, -pair.quality, pair.target))
    for pair in ranked:
        entries.setdefault(pair.source.lower(), {})[pair.target.lower()] = None
    return {word: list(translations) for word, translations in entries.items()}


def _write(path: Path, words: Iterable[str], entries: Mapping[str, list[str]]) -> None:
    with write_text(path) as handle:
        handle.writelines(f"{word} {translation}\n" for word in words for translation in entries[word])
