"""The tokeniser that task data goes through: that of the pretraining text, made from its options."""

from pathlib import Path
from typing import Any, Protocol

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.tokenization.options import check_options
from xling.tokenization.tokeniser import make_tokeniser

# Segmenting alone: every character stays as it is, so that labels of characters can be moved to words.
UNCHANGED = {"moses": None, "script": "none", "lowercase": False, "strip_accents": False}


class Words(Protocol):
    """What task data needs of a tokeniser."""

    def words(self, text: str) -> list[str]:
        """Return the words of raw text."""

    def word(self, form: str) -> str:
        """Return a gold token as the pretraining text would have it: never empty, never split."""


class AsGiven:
    """Text that is tokenised already: words are separated by white space."""

    def words(self, text: str) -> list[str]:
        """Return the words of raw text."""
        return text.split()

    def word(self, form: str) -> str:
        """Return the form itself."""
        return form


def words_from(options: Path | None) -> Words:
    """Return the tokeniser that a file of options describes; without one, text is as given."""
    return make_tokeniser(read_options(options)) if options else AsGiven()


def segmenter_from(options: Path | None) -> Words:
    """Return a tokeniser that finds the same words and leaves all characters as they are."""
    return make_tokeniser(read_options(options) | UNCHANGED) if options else AsGiven()


def read_options(path: Path) -> dict[str, Any]:
    """Return the checked tokeniser options of a JSON file."""
    options = read_json(path)
    if not isinstance(options, dict):
        raise InputError(path, "expected a JSON object of tokeniser options")
    check_options(options)
    return options
