"""Inference between meanings: pairs whose label surface statistics do not give away, and a rule that finds it again.

A sentence is an event, negated or not. Its verb and subject say which event it is; object, number, adjective, place
and adverb are functional slots: each has one value, said exactly or by a generic filler of the same length. So a
sentence is a set of possible events, its negation the complement, and the label follows from how two sets lie.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Literal

from xling.core.seeds import python_rng
from xling.synthetic.draw import Sampler, sampler
from xling.synthetic.meaning import (
    GENERIC,
    GENERIC_CONCEPT,
    NEGATION,
    NOT,
    PHRASE_STEP,
    Phrase,
    Slot,
    exchange,
    meaning_of,
    part,
    parts_of,
)
from xling.synthetic.shapes import EVENT, PAIR_STYLES
from xling.synthetic.types import Domain, Label, Meaning, NliPair
from xling.synthetic.world import CONCEPTS, Kind, hypernym

Edit = Literal["keep", "exchange", "replace", "widen", "narrow"]
Parts = dict[int, int]
E: Label = "entailment"
N: Label = "neutral"
C: Label = "contradiction"
POLARITIES = ((False, False), (False, True), (True, False), (True, True))  # is the premise, the hypothesis negated?
LABELS: dict[Edit, tuple[Label, Label, Label, Label]] = {
    "keep": (E, C, C, E),
    "exchange": (N, N, N, N),
    "replace": (C, E, N, N),
    "widen": (E, C, N, N),
    "narrow": (N, N, C, E),
}
# In thousandths, by polarity. Labels are balanced, and nearly so given the hypothesis' polarity, both polarities, or
# the edit. What bags of words can still tell is measured by a test. One pair in ten has its roles exchanged, so that
# word order matters; when it was one in five, tiny models learnt little else.
WEIGHTS: dict[Edit, tuple[int, int, int, int]] = {
    "keep": (112, 112, 12, 12),
    "exchange": (42, 42, 8, 8),
    "replace": (116, 116, 28, 28),
    "widen": (49, 49, 24, 24),
    "narrow": (64, 64, 45, 45),
}
CELLS = [(edit, i) for edit, weights in WEIGHTS.items() for i in range(4) for _ in range(weights[i])]
OBJECT = part(Phrase.OBJECT, Slot.NOUN)
SLOTS = (  # the functional slots besides the object's noun, when they are said exactly
    part(Phrase.OBJECT, Slot.PERSON),
    part(Phrase.OBJECT, Slot.NUMBER),
    part(Phrase.OBJECT, Slot.ADJECTIVE),
    part(Phrase.OBLIQUE, Slot.PLACE),
    part(Phrase.CLAUSE, Slot.ADVERB),
)
GENERIC_PART = {number: number + GENERIC[Slot(number % PHRASE_STEP)] - number % PHRASE_STEP for number in SLOTS}
GENERIC_FILLER = {number: GENERIC_CONCEPT[GENERIC[Slot(number % PHRASE_STEP)]] for number in SLOTS}


def nli_pairs(seed: int) -> Iterator[NliPair]:
    """Yield pairs without end, the three labels equally likely."""
    rng, topics = python_rng("nli", seed), sampler(EVENT)
    while True:
        yield draw_pair(rng, topics.topic(rng))


def balanced_pairs(seed: int, number: int) -> Iterator[NliPair]:
    """Yield a number of pairs, the labels exactly equally often if it divides by three: a constant guess is chance."""
    left = {label: (number + i) // 3 for i, label in enumerate((E, N, C))}
    pairs = nli_pairs(seed)
    while any(left.values()):
        pair = next(pairs)
        if left[pair.label]:
            left[pair.label] -= 1
            yield pair


def draw_pair(rng: Random, topic: int, domain: Domain = "wiki") -> NliPair:
    """Return two meanings of a topic, the second a variation of the first, with their label."""
    edit, polarity = CELLS[int(rng.random() * len(CELLS))]
    # What is kept or exchanged has the same words, so both must be drawn alike.
    source = sampler(PAIR_STYLES[domain][edit in ("keep", "exchange")])
    premise, hypothesis = _EDITS[edit](rng, source, topic)
    negated = POLARITIES[polarity]
    return NliPair(
        _meaning(premise, negated[0], topic), _meaning(hypothesis, negated[1], topic), LABELS[edit][polarity]
    )


def nli_label(premise: Meaning, hypothesis: Meaning) -> Label:
    """Return whether a hypothesis follows, by comparing the sets of events that two meanings allow."""
    left, right = parts_of(premise), parts_of(hypothesis)
    negated = (left.pop(NEGATION, None) is not None, right.pop(NEGATION, None) is not None)
    if _identity(left) != _identity(right):
        return N
    values = [(left.get(number), right.get(number)) for number in (OBJECT, *SLOTS)]
    inside = all(_covers(wide, narrow) for narrow, wide in values)
    outside = all(_covers(wide, narrow) for wide, narrow in values)
    apart = any(not _covers(a, b) and not _covers(b, a) for a, b in values)
    entailed = {(False, False): inside, (False, True): apart, (True, True): outside}
    excluded = {(False, False): apart, (False, True): inside, (True, False): outside}
    return E if entailed.get(negated) else C if excluded.get(negated) else N


def _keep(rng: Random, source: Sampler, topic: int) -> tuple[Parts, Parts]:
    event = parts_of(source.meaning(rng, topic))
    return event, event


def _exchange(rng: Random, source: Sampler, topic: int) -> tuple[Parts, Parts]:
    """Return an event and the one in which who does it and whom it is done to have changed places."""
    event = parts_of(source.meaning(rng, topic))
    return event, exchange(event, Phrase.SUBJECT, Phrase.OBJECT)


def _replace(rng: Random, source: Sampler, topic: int) -> tuple[Parts, Parts]:
    event, number = _with_exact_slot(rng, source, topic)
    return event, event | {number: source.another(rng, topic, event[number], avoid=event.values())}


def _widen(rng: Random, source: Sampler, topic: int) -> tuple[Parts, Parts]:
    event, number = _with_exact_slot(rng, source, topic)
    if number == OBJECT:
        return event, event | {number: hypernym(event[number])}
    wider = {other: concept for other, concept in event.items() if other != number}
    return event, wider | {GENERIC_PART[number]: GENERIC_FILLER[number]}


def _narrow(rng: Random, source: Sampler, topic: int) -> tuple[Parts, Parts]:
    event, wider = _widen(rng, source, topic)
    return wider, event


_EDITS: dict[Edit, Callable[[Random, Sampler, int], tuple[Parts, Parts]]] = {
    "keep": _keep,
    "exchange": _exchange,
    "replace": _replace,
    "widen": _widen,
    "narrow": _narrow,
}


def _with_exact_slot(rng: Random, source: Sampler, topic: int) -> tuple[Parts, int]:
    """Return an event and one of its slots that is said exactly."""
    while True:
        event = parts_of(source.meaning(rng, topic))
        slots = [number for number in SLOTS if number in event]
        if OBJECT in event and CONCEPTS[event[OBJECT]].kind == Kind.NOUN:
            slots.append(OBJECT)
        if slots:
            return event, rng.choice(slots)


def _meaning(parts: Parts, negated: bool, topic: int) -> Meaning:
    return meaning_of(parts | {NEGATION: NOT} if negated else parts, topic)


def _identity(parts: Parts) -> Parts:
    """Return what says which event it is: all parts but the functional slots."""
    functional = {OBJECT, *SLOTS, *GENERIC_PART.values()}
    return {number: concept for number, concept in parts.items() if number not in functional}


def _covers(wide: int | None, narrow: int | None) -> bool:
    """Say whether every value that the second allows is allowed by the first; None allows all."""
    if wide is None or wide == narrow:
        return True
    return narrow is not None and CONCEPTS[narrow].kind == Kind.NOUN and wide == hypernym(narrow)
