"""Inference between meanings: pairs whose label surface statistics do not give away, and a rule that finds it again.

A sentence is an event, negated or not. Its verb and subject say which event it is; object, number, adjective, place
and adverb are functional slots: each has one value, said exactly or by a generic filler of the same length. So a
sentence is a set of possible events, its negation the complement, and the label follows from how two sets lie.
"""

from collections.abc import Iterator
from random import Random
from typing import Literal

from xling.core.seeds import python_rng
from xling.synthetic.draw import EVENT, PAIR_STYLES, Sampler, sampler
from xling.synthetic.meaning import NEGATION, NOT, Phrase, Slot, exchange_roles, generic, meaning_of, part, parts_of
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
GENERIC = {number: generic(number) for number in SLOTS}


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
    sides = zip(_vary(rng, source, topic, edit), POLARITIES[polarity], strict=True)
    premise, hypothesis = (meaning_of(parts | {NEGATION: NOT} if no else parts, topic) for parts, no in sides)
    return NliPair(premise, hypothesis, LABELS[edit][polarity])


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
        wider = {other: concept for other, concept in event.items() if other != number}
        said_generically, filler = GENERIC[number]
        wider[said_generically] = filler
    return (event, wider) if edit == "widen" else (wider, event)


def _with_exact_slot(rng: Random, source: Sampler, topic: int) -> tuple[Parts, int]:
    """Return an event and one of its slots that is said exactly."""
    while True:
        event = parts_of(source.meaning(rng, topic))
        slots = [number for number in SLOTS if number in event]
        if OBJECT in event and CONCEPTS[event[OBJECT]].kind == Kind.NOUN:
            slots.append(OBJECT)
        if slots:
            return event, rng.choice(slots)


def _identity(parts: Parts) -> Parts:
    """Return what says which event it is: all parts but the functional slots."""
    functional = {OBJECT, *SLOTS, *(number for number, _ in GENERIC.values())}
    return {number: concept for number, concept in parts.items() if number not in functional}


def _covers(wide: int | None, narrow: int | None) -> bool:
    """Say whether every value that the second allows is allowed by the first; None allows all."""
    if wide is None or wide == narrow:
        return True
    return narrow is not None and CONCEPTS[narrow].kind == Kind.NOUN and wide == hypernym(narrow)
