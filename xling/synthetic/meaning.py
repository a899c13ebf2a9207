"""What sentences say: a meaning is a set of parts, each with the concept that fills it.

A part is a small number made of the clause it is in, the phrase it belongs to and what it does there; a skeleton is
the sorted parts. A language needs to know only the skeleton to lay out a sentence (see xling.synthetic.grammar).
"""

from collections.abc import Mapping
from enum import IntEnum
from functools import cache

from xling.synthetic.types import Meaning
from xling.synthetic.world import BY_GLOSS


class Phrase(IntEnum):
    """Where in its clause a part stands."""

    CLAUSE = 0
    SUBJECT = 1
    OBJECT = 2
    OBLIQUE = 3
    SUBJECT_RELATIVE = 4
    SUBJECT_RELATIVE_OBJECT = 5
    OBJECT_RELATIVE = 6
    OBJECT_RELATIVE_OBJECT = 7


# What a part does in its phrase, in the order of a plain English phrase. FUSING is a preposition that stands before the
# article and fuses with it where a language contracts; ARTICLE is the definite one.
Slot = IntEnum(
    "Slot",
    "LINK NOT WHO VERB ADVERB SOMEHOW PREPOSITION FUSING ARTICLE DETERMINER NUMBER SOME ADJECTIVE CERTAIN NOUN PERSON "
    "SURNAME SOMEONE ORGANISATION HEAD PLACE SOMEWHERE",
    start=0,
)
CLAUSE_STEP = 256
PHRASE_STEP = 32
NOT, AND, WHO = BY_GLOSS["not"], BY_GLOSS["and"], BY_GLOSS["who"]
# A functional slot of an event and the generic filler of the same length that covers all its values.
GENERIC = {
    Slot.NUMBER: Slot.SOME,
    Slot.ADJECTIVE: Slot.CERTAIN,
    Slot.PERSON: Slot.SOMEONE,
    Slot.PLACE: Slot.SOMEWHERE,
    Slot.ADVERB: Slot.SOMEHOW,
}


def part(phrase: Phrase, slot: Slot, clause: int = 0) -> int:
    """Return the number of a part."""
    return clause * CLAUSE_STEP + phrase * PHRASE_STEP + slot


@cache
def place_of(number: int) -> tuple[int, Phrase, Slot]:
    """Return the clause, phrase and slot of a part's number."""
    clause, rest = divmod(number, CLAUSE_STEP)
    phrase, slot = divmod(rest, PHRASE_STEP)
    return clause, Phrase(phrase), Slot(slot)


def generic(number: int) -> tuple[int, int]:
    """Return the part that says a functional slot generically, and the concept that fills it."""
    slot = Slot(number % PHRASE_STEP)
    return number - slot + GENERIC[slot], BY_GLOSS[GENERIC[slot].name.lower()]


NEGATION = part(Phrase.CLAUSE, Slot.NOT)
LINK = part(Phrase.CLAUSE, Slot.LINK, clause=1)


def parts_of(meaning: Meaning) -> dict[int, int]:
    """Return the concept of each part of a meaning."""
    return dict(zip(meaning.skeleton, meaning.concepts, strict=True))


def meaning_of(parts: Mapping[int, int], topic: int) -> Meaning:
    """Return the meaning that has these parts."""
    skeleton = tuple(sorted(parts))
    return Meaning(skeleton, tuple([parts[number] for number in skeleton]), topic)


def exchange_roles(parts: Mapping[int, int]) -> dict[int, int]:
    """Return the parts of a single clause with the fillers of subject and object exchanged."""
    to = {Phrase.SUBJECT: Phrase.OBJECT, Phrase.OBJECT: Phrase.SUBJECT}
    places = {number: place_of(number) for number in parts}
    return {part(to.get(phrase, phrase), slot): parts[number] for number, (_, phrase, slot) in places.items()}


def swap_clauses(meaning: Meaning) -> Meaning:
    """Return a coordination with its two clauses in the other order."""
    moved = {number if number == LINK else number ^ CLAUSE_STEP: c for number, c in parts_of(meaning).items()}
    return meaning_of(moved, meaning.topic)
