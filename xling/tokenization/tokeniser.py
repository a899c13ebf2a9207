"""One tokeniser for pretraining text and for every task (section 3.1): script, words, Moses, case, accents."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xling.core.io import read_json
from xling.core.records import read_record
from xling.tokenization.moses import Moses
from xling.tokenization.options import Options, check_options

NOTHING = "\ufffd"  # stands for a gold token in which nothing is left to see
# Segmenting alone: every character stays as it is, so that labels of characters can be moved to words.
UNCHANGED: dict[str, Any] = {"moses": None, "script": "none", "lowercase": False, "strip_accents": False}
AS_GIVEN: dict[str, Any] = {"language": "any", **UNCHANGED}  # of text that is tokenised already


class Tokeniser:
    """Turns text into words and normalises single words the same way."""

    def __init__(self, options: Options) -> None:
        self._fold = make_fold(options.lowercase, options.strip_accents)
        self._moses = Moses(options.moses, self._fold) if options.moses is not None else None
        self._convert: Callable[[str], str] = str
        self._segment: Callable[[str], list[str]] | None = None
        if (options.script, options.segmenter) != ("none", "none"):
            from xling.tokenization import chinese  # only Chinese pays for loading it

            if options.script != "none":
                self._convert = chinese.make_converter(options.script)
            if options.segmenter == "stanford":
                self._segment = chinese.Stanford(Path(options.stanford_home or ""))
            elif options.segmenter == "jieba":
                self._segment = chinese.make_jieba(Path(options.dictionary) if options.dictionary is not None else None)

    def line(self, text: str) -> str:
        """Return the words of a text joined by single spaces; empty when there are none."""
        text = self._convert(text)
        if self._segment is not None:
            text = " ".join(self._segment(text))
        return self._moses.line(text) if self._moses is not None else self._fold(" ".join(text.split()))

    def words(self, text: str) -> list[str]:
        """Return the words of a text."""
        return self.line(text).split()

    def word(self, form: str) -> str:
        """Return one gold token in the form it has in the text: never split, never empty."""
        text = self._convert(form)
        if self._moses is not None:
            text = self._moses.normalise(text)
        return self._fold("".join(text.split())).replace(" ", "") or NOTHING


def make_tokeniser(options: dict[str, Any]) -> Tokeniser:
    """Return the tokeniser that the options describe, or say which option is wrong."""
    return Tokeniser(check_options(options))


def tokeniser_from(options: Path | None, **changes: object) -> Tokeniser:
    """Return the tokeniser that a file of options describes; without one, words are separated by white space."""
    return make_tokeniser((read_options(options) if options else AS_GIVEN) | changes)


def segmenter_from(options: Path | None) -> Tokeniser:
    """Return a tokeniser that finds the same words and leaves all characters as they are."""
    return tokeniser_from(options, **UNCHANGED)


def read_options(path: Path) -> dict[str, Any]:
    """Return the checked tokeniser options of a JSON file."""
    options: dict[str, Any] = read_json(path)
    read_record(Options, options, path)
    return options


def make_fold(lowercase: bool, strip_accents: bool) -> Callable[[str], str]:
    """Return the function that folds case and accents of words joined by spaces."""
    if not strip_accents:
        return str.lower if lowercase else str
    return (lambda text: without_accents(text.lower())) if lowercase else without_accents


def without_accents(text: str) -> str:
    """Return the text without combining marks (as in XLM's script); a word of marks alone is dropped."""
    decomposed = unicodedata.normalize("NFD", text)
    return " ".join("".join(c for c in decomposed if unicodedata.category(c) != "Mn").split())
