"""Which parts sentences have: a style says how often each optional one is there.

A draft names for each part the table that its concept is drawn from (see xling.synthetic.draw).
"""

from dataclasses import dataclass, replace
from random import Random

from xling.synthetic.meaning import CLAUSE_STEP, GENERIC, LINK, NEGATION, PHRASE_STEP, Phrase, Slot, part
from xling.synthetic.types import Domain
from xling.synthetic.world import FRAMES, Frame

Draft = dict[int, str]


@dataclass(frozen=True, slots=True)
class Style:
    """How often sentences have each optional part."""

    name: str
    topics: tuple[int, ...]  # the frequent ones first
    negation: float
    coordination: float
    relative: float
    oblique: float
    adverb: float
    adjective: float
    number: float
    generic: float = 0.25
    full_name: float = 0.3
    frames: tuple[Frame, ...] = (*FRAMES, Frame.MAKES, Frame.CHASES)
    other_names: bool = False  # the names that are rare elsewhere are the frequent ones here


WIKI = Style("wiki", (0, 1, 2, 3), 0.15, 0.10, 0.16, 0.50, 0.30, 0.40, 0.30)
WEB = Style("web", (2, 3, 1, 0), 0.30, 0.14, 0.04, 0.25, 0.30, 0.25, 0.20, other_names=True)
STYLES: dict[Domain, Style] = {"wiki": WIKI, "web": WEB}
# For pairs: one clause whose negation comes later, of any frame or of those in which both can change places.
EVENT = Style("event", (0, 1, 2, 3), 0.0, 0.0, 0.0, 0.55, 0.45, 0.40, 0.35)
EXCHANGEABLE = replace(EVENT, name="exchangeable", frames=(Frame.MEETS, Frame.CHASES))
PAIR_STYLES: dict[Domain, tuple[Style, Style]] = {
    "wiki": (EVENT, EXCHANGEABLE),
    "web": (replace(EVENT, other_names=True), replace(EXCHANGEABLE, other_names=True)),
}


def draw_draft(rng: Random, style: Style) -> Draft:
    """Return the parts of a sentence and what each is drawn from."""
    draft = _clause(rng, style, 0)
    if rng.random() < style.coordination:
        draft |= _clause(rng, style, 1) | {LINK: "links"}
    elif rng.random() < style.relative:
        draft |= _relative(rng, draft)
    return draft


def _clause(rng: Random, style: Style, clause: int) -> Draft:
    """Return the parts of a clause; the second one of a coordination is kept short."""
    frame = rng.choice(style.frames)
    draft = {part(Phrase.CLAUSE, Slot.VERB): f"verb {frame}"}
    draft |= _subject(rng, style, frame) | _object(rng, style, frame)
    if clause == 0 and rng.random() < style.oblique:
        draft |= _oblique(rng, style)
    if clause == 0 and rng.random() < style.adverb:
        draft |= _filler(rng, style, Phrase.CLAUSE, Slot.ADVERB, "adverbs")
    if rng.random() < style.negation:
        draft[NEGATION] = "not"
    return {number + clause * CLAUSE_STEP: name for number, name in draft.items()}


def _subject(rng: Random, style: Style, frame: Frame) -> Draft:
    actor = frame.split()[0]
    if actor == "organisation":
        return {part(Phrase.SUBJECT, Slot.ORGANISATION): "organisations", part(Phrase.SUBJECT, Slot.HEAD): "heads"}
    if actor == "being":
        return _noun_phrase(rng, style, Phrase.SUBJECT, "being")
    draft = {part(Phrase.SUBJECT, Slot.PERSON): "people"}
    if rng.random() < style.full_name:
        draft[part(Phrase.SUBJECT, Slot.SURNAME)] = "surnames"
    return draft


def _object(rng: Random, style: Style, frame: Frame) -> Draft:
    patient = frame.split()[1]
    if patient == "person":
        return _filler(rng, style, Phrase.OBJECT, Slot.PERSON, "people")
    return _noun_phrase(rng, style, Phrase.OBJECT, patient)


def _noun_phrase(rng: Random, style: Style, phrase: Phrase, sort: str) -> Draft:
    draft = {part(phrase, Slot.NOUN): f"{sort} kinds" if rng.random() < style.generic / 2 else f"{sort}s"}
    if rng.random() < style.number:
        draft |= _filler(rng, style, phrase, Slot.NUMBER, "digits")
    else:
        draft |= _determiner(rng, phrase)
    if rng.random() < style.adjective:
        draft |= _filler(rng, style, phrase, Slot.ADJECTIVE, f"{sort} adjectives")
    return draft


def _determiner(rng: Random, phrase: Phrase) -> Draft:
    if rng.random() < 0.5:
        return {part(phrase, Slot.ARTICLE): "the"}
    return {part(phrase, Slot.DETERMINER): "determiners"}


def _oblique(rng: Random, style: Style) -> Draft:
    if rng.random() < 0.7:
        return {part(Phrase.OBLIQUE, Slot.PREPOSITION): "prepositions"} | _filler(
            rng, style, Phrase.OBLIQUE, Slot.PLACE, "places"
        )
    preposition = (Slot.FUSING, "fusing") if rng.random() < 0.5 else (Slot.PREPOSITION, "unfusing")
    draft = {part(Phrase.OBLIQUE, preposition[0]): preposition[1], part(Phrase.OBLIQUE, Slot.ARTICLE): "the"}
    return draft | {part(Phrase.OBLIQUE, Slot.NOUN): "things"}


def _relative(rng: Random, draft: Draft) -> Draft:
    """Return a relative clause on a person or being of the first clause, if there is one."""
    hosts = [
        phrase
        for phrase in (Phrase.SUBJECT, Phrase.OBJECT)
        if part(phrase, Slot.PERSON) in draft or draft.get(part(phrase, Slot.NOUN), "").startswith("being")
    ]
    if not hosts:
        return {}
    host = rng.choice(hosts)
    inner = Phrase.SUBJECT_RELATIVE if host == Phrase.SUBJECT else Phrase.OBJECT_RELATIVE
    person = part(host, Slot.PERSON) in draft
    target = Phrase(inner + 1)
    return {
        part(inner, Slot.WHO): "who",
        part(inner, Slot.VERB): f"verb {Frame.MAKES if person else Frame.CHASES}",
        part(target, Slot.NOUN): "things" if person else "beings",
    } | _determiner(rng, target)


def _filler(rng: Random, style: Style, phrase: Phrase, slot: Slot, name: str) -> Draft:
    if rng.random() < style.generic:
        general = GENERIC[slot]
        return {part(phrase, general): general.name.lower()}
    return {part(phrase, slot): name}


def rivals(draft: Draft) -> tuple[tuple[int, int], ...]:
    """Return the places of a skeleton that must not hold the same concept: those of the same table in one clause."""
    numbers = sorted(draft)
    heads = [i for i, number in enumerate(numbers) if number % PHRASE_STEP in (Slot.NOUN, Slot.PERSON)]
    return tuple(
        (i, j)
        for i in heads
        for j in heads
        if i < j and numbers[i] // CLAUSE_STEP == numbers[j] // CLAUSE_STEP and draft[numbers[i]] == draft[numbers[j]]
    )
