"""What makes one embedded language differ from another: everything here is data, nothing is code."""

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, get_args, get_origin

from xling.core.errors import XlingError

Script = Literal["latin", "cyrillic", "greek", "han"]
Side = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Traits:
    """One language: script, closeness of its words to English, word order, inflection."""

    code: str
    script: Script
    spaces: bool = True
    capital_nouns: bool = False
    accents: str = ""  # letters with accents, used as vowels beside those of the script
    full_stop: str = "."
    comma: str = ","
    cognates: float = 0.0  # share of content words spelled as in English
    lookalikes: float = 0.0  # share of content words that differ from English in one letter
    names: float = 0.0  # share of entity names spelled as in English
    function_words: float = 0.0  # share of function words spelled as in English
    synonyms: float = 0.2  # share of content words with a second form
    verb: Literal["middle", "second", "final"] = "middle"
    adjective: Side = "before"
    relative: Side = "after"
    oblique: Side = "after"
    negation: Side = "before"
    adverb: Literal["before", "after", "last"] = "last"
    organisation_head: Side = "after"
    front_adjunct: float = 0.0  # share of sentences that begin with their adverb or oblique
    front_object: float = 0.0  # share of sentences that begin with their object
    drops_article: bool = False
    contractions: bool = False  # two prepositions fuse with the definite article
    classifier: bool = False  # a classifier stands between number and noun
    counted_suffix: str = ""  # on nouns after a number
    oblique_suffix: str = ""  # on the noun of an oblique

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Traits":
        """Check a description as it stands in a configuration and return it."""
        name = f"embedded language {values.get('code', '(without code)')!r}"
        known = {field.name: field for field in fields(cls)}
        for key, value in values.items():
            if key not in known:
                raise XlingError(f"{name}: unknown key {key!r}{_nearest(key, list(known))}")
            _check(name, known[key], value)
        for key, field in known.items():
            if field.default is MISSING and key not in values:
                raise XlingError(f"{name}: key {key!r} is missing")
        return cls(**values)._consistent(name)

    def _consistent(self, name: str) -> "Traits":
        if self.cognates + self.lookalikes > 1:
            raise XlingError(f"{name}: 'cognates' and 'lookalikes' are shares of the same words, together at most 1")
        if self.lookalikes and self.script != "latin":
            raise XlingError(f"{name}: 'lookalikes' are spelled nearly as in English and need 'script: latin'")
        if self.front_adjunct + self.front_object > 1:
            raise XlingError(f"{name}: 'front_adjunct' and 'front_object' exclude each other, together at most 1")
        if not self.spaces and self.script != "han":
            raise XlingError(f"{name}: 'spaces' can be false only with 'script: han', whose words can be told apart")
        if self.script == "han" and (self.counted_suffix or self.oblique_suffix or self.accents):
            raise XlingError(f"{name}: 'script: han' takes no 'counted_suffix', 'oblique_suffix' or 'accents'")
        return self


def _check(name: str, field: Field[Any], value: Any) -> None:
    expected = _problem(field.type, value)
    if expected:
        raise XlingError(f"{name}: key {field.name!r} must be {expected}, not {value!r}")


def _problem(kind: Any, value: Any) -> str:
    if get_origin(kind) is Literal:
        return "" if value in get_args(kind) else "one of " + ", ".join(get_args(kind))
    if kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    if kind is float:
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        return "" if good else "a number from 0 to 1"
    return "" if isinstance(value, str) else "text"


def _nearest(key: str, names: list[str]) -> str:
    close = difflib.get_close_matches(key, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
