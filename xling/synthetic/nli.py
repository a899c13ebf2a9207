"""Inference pairs: two meanings and a label that surface statistics do not reveal.

A sentence is an event, negated or not. Its verb and subject identify the event. Object, number, adjective, place and
adverb are functional slots: each has one value, which is either exact or a generic word of the same length. A sentence
is thus a set of possible events, its negation is the complement, and the relation of the two sets gives the label.
"""

from collections.abc import Iterator
from random import Random
from typing import Literal, NamedTuple

from xling.core.seeds import python_rng
from xling.synthetic.meaning import (
    EVENT,
    GENERIC,
    NEGATION,
    NOT,
    PAIR_STYLES,
    PHRASE_STEP,
    Domain,
    Meaning,
    Phrase,
    Sampler,
    Slot,
    exchange_roles,
    meaning_of,
    part,
    parts_of,
    sampler,
)
from xling.synthetic.world import BY_GLOSS, CONCEPTS, Kind, hypernym

Label = Literal["entailment", "neutral", "contradiction"]
Edit = Literal["keep", "exchange", "replace", "widen", "narrow"]
Parts = dict[int, int]
LABELS: dict[str, Label] = {"E": "entailment", "N": "neutral", "C": "contradiction"}
POLARITIES = ((False, False), (False, True), (True, False), (True, True))  # whether (premise, hypothesis) are negated
# For each polarity: the label, and its frequency in thousandths. Labels are balanced, and nearly balanced given the
# polarity of the hypothesis, both polarities, or the edit. A test measures how well bags of words predict the label.
# One pair in ten exchanges the roles, so word order matters; with one in five, tiny models learnt little else.
EDITS: dict[Edit, tuple[str, tuple[int, int, int, int]]] = {
    "keep": ("ECCE", (112, 112, 12, 12)),
    "exchange": ("NNNN", (42, 42, 8, 8)),
    "replace": ("CENN", (116, 116, 28, 28)),
    "widen": ("ECNN", (49, 49, 24, 24)),
    "narrow": ("NNCE", (64, 64, 45, 45)),
}
CELLS = [(edit, i) for edit, (_, weights) in EDITS.items() for i in range(4) for _ in range(weights[i])]
OBJECT = part(Phrase.OBJECT, Slot.NOUN)
SLOTS = (  # the exact functional slots, without the noun of the object
    part(Phrase.OBJECT, Slot.PERSON),
    part(Phrase.OBJECT, Slot.NUMBER),
    part(Phrase.OBJECT, Slot.ADJECTIVE),
    part(Phrase.OBLIQUE, Slot.PLACE),
    part(Phrase.CLAUSE, Slot.ADVERB),
)


class NliPair(NamedTuple):
    """Two meanings, with a label that says whether the second follows from the first."""

    premise: Meaning
    hypothesis: Meaning
    label: Label


def nli_pairs(seed: int) -> Iterator[NliPair]:
    """Yield an endless sequence of pairs; the three labels are equally likely."""
    rng, topics = python_rng("nli", seed), sampler(EVENT)
    while True:
        yield draw_pair(rng, topics.topic(rng))


def balanced_pairs(seed: int, number: int) -> Iterator[NliPair]:
    """Yield `number` pairs with balanced labels, so that a constant guess is at chance level."""
    left = {label: (number + i) // 3 for i, label in enumerate(LABELS.values())}
    pairs = nli_pairs(seed)
    while any(left.values()):
        pair = next(pairs)
        if left[pair.label]:
            left[pair.label] -= 1
            yield pair


def draw_pair(rng: Random, topic: int, domain: Domain = "wiki") -> NliPair:
    """Return a meaning of a topic and a variation of it, with their label."""
    edit, polarity = CELLS[int(rng.random() * len(CELLS))]
    # `keep` and `exchange` leave the words as they are, so both must draw from the same style.
    source = sampler(PAIR_STYLES[domain][edit in ("keep", "exchange")])
    sides = zip(_vary(rng, source, topic, edit), POLARITIES[polarity], strict=True)
    premise, hypothesis = (meaning_of(parts | {NEGATION: NOT} if no else parts) for parts, no in sides)
    return NliPair(premise, hypothesis, LABELS[EDITS[edit][0][polarity]])


def _vary(rng: Random, source: Sampler, topic: int, edit: Edit) -> tuple[Parts, Parts]:
    """Return an event and its variation."""
    if edit in ("keep", "exchange"):
        event = parts_of(source.meaning(rng, topic))
        return event, event if edit == "keep" else exchange_roles(event)
    event, number = _with_exact_slot(rng, source, topic)
    if edit == "replace":
        return event, event | {number: source.another(rng, topic, event[number], avoid=event.values())}
    if number == OBJECT:
        wider = event | {number: hypernym(event[number])}
    else:
        slot = Slot(number % PHRASE_STEP)
        wider = {other: concept for other, concept in event.items() if other != number}
        wider[number - slot + GENERIC[slot]] = BY_GLOSS[GENERIC[slot].name.lower()]
    return (event, wider) if edit == "widen" else (wider, event)


def _with_exact_slot(rng: Random, source: Sampler, topic: int) -> tuple[Parts, int]:
    """Return an event and one of its exact slots."""
    while True:
        event = parts_of(source.meaning(rng, topic))
        slots = [number for number in SLOTS if number in event]
        if OBJECT in event and CONCEPTS[event[OBJECT]].kind == Kind.NOUN:
            slots.append(OBJECT)
        if slots:
            return event, rng.choice(slots)
