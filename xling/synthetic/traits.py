"""What makes one embedded language differ from another: everything here is data, nothing is code."""

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
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
                close = difflib.get_close_matches(key, known, n=1)
                hint = f" (did you mean {close[0]!r}?)" if close else ""
                raise XlingError(f"{name}: unknown key {key!r}{hint}")
            if expected := _problem(known[key].type, value):
                raise XlingError(f"{name}: key {key!r} must be {expected}, not {value!r}")
        for key, field in known.items():
            if field.default is MISSING and key not in values:
                raise XlingError(f"{name}: key {key!r} is missing")
        traits = cls(**values)
        for conflict, problem in (
            (traits.cognates + traits.lookalikes > 1, "'cognates' and 'lookalikes' together must be at most 1"),
            (traits.lookalikes and traits.script != "latin", "'lookalikes' need 'script: latin'"),
            (
                traits.front_adjunct + traits.front_object > 1,
                "'front_adjunct' and 'front_object' together must be at most 1",
            ),
            (not traits.spaces and traits.script != "han", "'spaces' can be false only with 'script: han'"),
            (
                traits.script == "han" and (traits.counted_suffix or traits.oblique_suffix or traits.accents),
                "'script: han' takes no 'counted_suffix', 'oblique_suffix' or 'accents'",
            ),
        ):
            if conflict:
                raise XlingError(f"{name}: {problem}")
        return traits


def _problem(kind: Any, value: Any) -> str:
    """Return what a value of this type must be, or nothing if it is."""
    if get_origin(kind) is Literal:
        return "" if value in get_args(kind) else "one of " + ", ".join(get_args(kind))
    if kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    if kind is float:
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        return "" if good else "a number from 0 to 1"
    return "" if isinstance(value, str) else "text"
