"""The tokeniser for pretraining and all tasks (section 3.1): Chinese script and words, Moses, case, accents."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xling.core.io import read_json
from xling.core.records import read_record
from xling.tokenization.moses import Moses
from xling.tokenization.options import Options, check_options

NOTHING = "\ufffd"  # replaces a gold token that is empty after normalisation
# Options for segmentation without normalisation: characters stay unchanged, so their labels can be moved to words.
UNCHANGED: dict[str, Any] = {"moses": None, "script": "none", "lowercase": False, "strip_accents": False}
AS_GIVEN: dict[str, Any] = {"language": "any", **UNCHANGED}  # options for text that is tokenised already


class Tokeniser:
    """Splits text into words, and normalises single words in the same way."""

    def __init__(self, options: Options) -> None:
        self._lowercase, self._strip_accents = options.lowercase, options.strip_accents
        self._moses = Moses(options.moses, self._fold) if options.moses is not None else None
        self._splits = options.segmenter != "stanford"  # XLM's script only normalises what this segmenter returns
        self._convert: Callable[[str], str] = str
        self._segment: Callable[[str], list[str]] | None = None
        if (options.script, options.segmenter) != ("none", "none"):
            from xling.tokenization import chinese  # slow to load, and only Chinese needs it

            if options.script != "none":
                self._convert = chinese.make_converter(options.script)
            if options.segmenter == "stanford":
                self._segment = chinese.Stanford(Path(options.stanford_home or ""))
            elif options.segmenter == "jieba":
                self._segment = chinese.make_jieba(Path(options.dictionary) if options.dictionary is not None else None)

    def line(self, text: str) -> str:
        """Return the words of a text joined by single spaces; an empty string if there are none."""
        text = self._convert(text)
        if self._segment is not None:
            text = " ".join(self._segment(text))
        if self._moses is not None and self._splits:
            return self._moses.line(text)
        text = text if self._moses is None else self._moses.normalise(text)
        return self._fold(" ".join(text.split()))

    def words(self, text: str) -> list[str]:
        """Return the words of a text."""
        return self.line(text).split()

    def word(self, form: str) -> str:
        """Return a gold token normalised like the text; it is never split and never empty."""
        text = self._convert(form)
        if self._moses is not None:
            text = self._moses.normalise(text)
        return self._fold("".join(text.split())).replace(" ", "") or NOTHING

    def _fold(self, text: str) -> str:
        """Lower-case words and remove their combining marks (as in XLM's script); a word of marks alone is dropped."""
        text = text.lower() if self._lowercase else text
        if not self._strip_accents:
            return text
        decomposed = unicodedata.normalize("NFD", text)
        return " ".join("".join(c for c in decomposed if unicodedata.category(c) != "Mn").split())


def make_tokeniser(options: dict[str, Any]) -> Tokeniser:
    """Return the tokeniser for these options, or raise an error that names the wrong option."""
    return Tokeniser(check_options(options))


def tokeniser_from(options: Path | None, **changes: object) -> Tokeniser:
    """Return the tokeniser for an options file; without a file, words are separated by white space."""
    return make_tokeniser((read_options(options) if options else AS_GIVEN) | changes)


def read_options(path: Path) -> dict[str, Any]:
    """Return the checked tokeniser options of a JSON file."""
    options: dict[str, Any] = read_json(path)
    read_record(Options, options, path)
    return options
