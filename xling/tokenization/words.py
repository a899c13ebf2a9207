"""The tokeniser that task data goes through: the one of the pretraining text, made from its options."""

import json
from typing import Any, Protocol

from xling.core.errors import XlingError
from xling.tokenization.tokeniser import make_tokeniser

# Segmenting alone: every character stays what it is, so that labels of characters can be moved to words.
UNCHANGED = {"moses": None, "script": "none", "lowercase": False, "strip_accents": False}


class Words(Protocol):
    """What is asked of a tokeniser."""

    def words(self, text: str) -> list[str]:
        """Return the words of raw text."""

    def word(self, form: str) -> str:
        """Return a gold token as the pretraining text would have it: never empty, never split."""


class AsGiven:
    """Text that is tokenised already: words are what stands between white space."""

    def words(self, text: str) -> list[str]:
        """Return the words of raw text."""
        return text.split()

    def word(self, form: str) -> str:
        """Return the form itself."""
        return form


def words_from(options: str | None) -> Words:
    """Return the tokeniser that JSON options describe, or none where there are none."""
    return make_tokeniser(_parsed(options)) if options else AsGiven()


def segmenter_from(options: str | None) -> Words:
    """Return a tokeniser that finds the words that JSON options describe and leaves all characters as they are."""
    return make_tokeniser(_parsed(options) | UNCHANGED) if options else AsGiven()


def _parsed(options: str) -> dict[str, Any]:
    try:
        value = json.loads(options)
    except json.JSONDecodeError as error:
        raise XlingError(f"--tokeniser is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(value, dict):
        raise XlingError("--tokeniser is not a JSON object of options")
    return value
