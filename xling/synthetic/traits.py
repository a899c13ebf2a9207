"""The traits in which embedded languages differ: script, vocabulary, word order and inflection."""

from collections.abc import Iterator
from typing import Literal

from xling.core.records import Flag, Share, Text, key, record, refuse

Script = Literal["latin", "cyrillic", "greek", "han"]
Side = Literal["before", "after"]


@record
class Differences:
    """How an embedded language differs from English: its script, the closeness of its words, word order, inflection."""

    script: Script = key("Letters of its words.")
    spaces: Flag = key("Words are separated by spaces; false needs the script han.", default=True)
    capital_nouns: Flag = key("Nouns begin with a capital, as in German.", default=False)
    accents: str = key("Letters with accents, used as vowels beside those of the script.", default="")
    full_stop: Text = key("What ends a sentence.", default=".")
    comma: Text = key("Its comma.", default=",")
    cognates: Share = key("Share of content words spelled as in English.", default=0.0)
    lookalikes: Share = key("Share of content words that differ from English in one letter.", default=0.0)
    names: Share = key("Share of names spelled as in English.", default=0.0)
    function_words: Share = key("Share of function words spelled as in English.", default=0.0)
    synonyms: Share = key("Share of content words with a second form.", default=0.2)
    verb: Literal["middle", "second", "final"] = key("Position of the verb.", default="middle")
    adjective: Side = key("Position of the adjective beside its noun.", default="before")
    relative: Side = key("Position of the relative clause beside its noun.", default="after")
    oblique: Side = key("Position of the oblique beside the verb.", default="after")
    negation: Side = key("Position of the negation beside the verb.", default="before")
    adverb: Literal["before", "after", "last"] = key(
        "Position of the adverb: beside the verb, or at the end.", default="last"
    )
    organisation_head: Side = key("Position of `Company` beside an organisation's name.", default="after")
    front_adjunct: Share = key("Share of sentences that begin with their adverb or oblique.", default=0.0)
    front_object: Share = key("Share of sentences that begin with their object.", default=0.0)
    drops_article: Flag = key("There is no definite article.", default=False)
    contractions: Flag = key("Two prepositions fuse with the definite article, as in French du.", default=False)
    classifier: Flag = key("A classifier stands between number and noun.", default=False)
    counted_suffix: str = key("Ending of nouns after a number.", default="")
    oblique_suffix: str = key("Ending of the noun of an oblique.", default="")

    def __post_init__(self) -> None:
        refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        if self.cognates + self.lookalikes > 1:
            yield "lookalikes: these and cognates are shares of the same words, together at most 1"
        if self.lookalikes and self.script != "latin":
            yield "lookalikes: words spelled nearly as in English need script: latin"
        if self.front_adjunct + self.front_object > 1:
            yield "front_object: this and front_adjunct exclude each other, together at most 1"
        if not self.spaces and self.script != "han":
            yield "spaces: false only with script: han, whose words can be told apart"
        if self.script == "han" and (self.counted_suffix or self.oblique_suffix or self.accents):
            yield "script: han takes no counted_suffix, oblique_suffix or accents"
