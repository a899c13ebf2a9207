"""The tokeniser that task data goes through: that of the pretraining text, made from its options."""

import json
from pathlib import Path
from typing import Any, Protocol

from xling.core.errors import InputError, XlingError
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


def words_from(options: str | None) -> Words:
    """Return the tokeniser that a file of options (see `parse_options`) describes; without one, text is as given."""
    return make_tokeniser(parse_options(options)) if options else AsGiven()


def segmenter_from(options: str | None) -> Words:
    """Return a tokeniser that finds the same words and leaves all characters as they are."""
    return make_tokeniser(parse_options(options) | UNCHANGED) if options else AsGiven()


def parse_options(text: str) -> dict[str, Any]:
    """Return the checked tokeniser options of a JSON file, named by its path, or of JSON text itself."""
    if text.lstrip().startswith("{"):
        try:
            options = json.loads(text)
        except json.JSONDecodeError as error:
            raise XlingError(f"tokeniser options: not JSON: {error.msg} at character {error.pos + 1}") from None
    else:
        options = read_json(Path(text))
    if not isinstance(options, dict):
        raise InputError(text, "expected a JSON object of tokeniser options")
    check_options(options)
    return options
