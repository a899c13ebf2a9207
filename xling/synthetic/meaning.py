"""Meanings of sentences, independent of languages: a meaning is a set of parts, each filled by a concept.

A part is a number that encodes its clause, its phrase in the clause, and its slot (function) in the phrase. A skeleton
is the sorted tuple of parts. A language needs only the skeleton to lay out a sentence (see xling.synthetic.grammar).

Meanings are drawn at random. A style determines the parts of a sentence, a topic the concepts that fill them. A draft
maps each part to the table from which its concept is drawn. Drafts and tables are made in advance, so drawing a concept
is a single look-up.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from itertools import accumulate, cycle
from random import Random
from typing import Literal, NamedTuple

from xling.core.seeds import python_rng
from xling.synthetic.world import BY_GLOSS, CONCEPTS, FRAMES, FUSING, NAMES, TOPICS, Frame, Kind, concepts_of

Domain = Literal["wiki", "web"]
Draft = dict[int, str]
Groups = list[tuple[int, ...]]  # concepts by topic, or one group for all topics

SHARPNESS = 0.9  # probability that a concept belongs to the topic
TOPIC_EXPONENT = 0.7
WORD_EXPONENT = 1.0
CONCEPT_BITS, SKELETON_BITS, TOPIC_BITS = 10, 10, 8


class Meaning(NamedTuple):
    """The meaning of a sentence."""

    skeleton: tuple[int, ...]  # the sorted parts, which determine the layout in a language
    concepts: tuple[int, ...]  # the concept of each part, as an index of CONCEPTS


# The phrase that a part belongs to.
Phrase = IntEnum(
    "Phrase",
    "CLAUSE SUBJECT OBJECT OBLIQUE SUBJECT_RELATIVE SUBJECT_RELATIVE_OBJECT OBJECT_RELATIVE OBJECT_RELATIVE_OBJECT",
    start=0,
)
# The function of a part in its phrase, in the order of a plain English phrase. FUSING is a preposition before the
# article, which fuses with it in a language with contractions; ARTICLE is the definite article.
Slot = IntEnum(
    "Slot",
    "LINK NOT WHO VERB ADVERB SOMEHOW PREPOSITION FUSING ARTICLE DETERMINER NUMBER SOME ADJECTIVE CERTAIN NOUN PERSON "
    "SURNAME SOMEONE ORGANISATION HEAD PLACE SOMEWHERE",
    start=0,
)
CLAUSE_STEP = 256
PHRASE_STEP = 32
NOT, AND, WHO = BY_GLOSS["not"], BY_GLOSS["and"], BY_GLOSS["who"]
# The generic slot for each exact slot: its only word covers all values of the exact slot, and has the same length.
GENERIC = {
    Slot.NUMBER: Slot.SOME,
    Slot.ADJECTIVE: Slot.CERTAIN,
    Slot.PERSON: Slot.SOMEONE,
    Slot.PLACE: Slot.SOMEWHERE,
    Slot.ADVERB: Slot.SOMEHOW,
}


def part(phrase: Phrase, slot: Slot, clause: int = 0) -> int:
    """Return the number that encodes a part."""
    return clause * CLAUSE_STEP + phrase * PHRASE_STEP + slot


@cache
def place_of(number: int) -> tuple[int, Phrase, Slot]:
    """Return the clause, phrase and slot of a part."""
    clause, rest = divmod(number, CLAUSE_STEP)
    phrase, slot = divmod(rest, PHRASE_STEP)
    return clause, Phrase(phrase), Slot(slot)


NEGATION = part(Phrase.CLAUSE, Slot.NOT)
LINK = part(Phrase.CLAUSE, Slot.LINK, clause=1)


def parts_of(meaning: Meaning) -> dict[int, int]:
    """Return the concept of each part of a meaning."""
    return dict(zip(meaning.skeleton, meaning.concepts, strict=True))


def meaning_of(parts: Mapping[int, int]) -> Meaning:
    """Return the meaning that has these parts."""
    skeleton = tuple(sorted(parts))
    return Meaning(skeleton, tuple([parts[number] for number in skeleton]))


def exchange_roles(parts: Mapping[int, int]) -> dict[int, int]:
    """Return the parts of a single clause with subject and object exchanged."""
    to = {Phrase.SUBJECT: Phrase.OBJECT, Phrase.OBJECT: Phrase.SUBJECT}
    places = {number: place_of(number) for number in parts}
    return {part(to.get(phrase, phrase), slot): parts[number] for number, (_, phrase, slot) in places.items()}


def swap_clauses(meaning: Meaning) -> Meaning:
    """Return a meaning of two clauses with the clauses swapped."""
    moved = {number if number == LINK else number ^ CLAUSE_STEP: c for number, c in parts_of(meaning).items()}
    return meaning_of(moved)


@dataclass(frozen=True, slots=True)
class Style:
    """The probability of each optional part of a sentence."""

    name: str
    topics: tuple[int, ...]  # most frequent first
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
    other_names: bool = False  # reverse the frequency order of names


WIKI = Style("wiki", (0, 1, 2, 3), 0.15, 0.10, 0.16, 0.50, 0.30, 0.40, 0.30)
WEB = Style("web", (2, 3, 1, 0), 0.30, 0.14, 0.04, 0.25, 0.30, 0.25, 0.20, other_names=True)
STYLES: dict[Domain, Style] = {"wiki": WIKI, "web": WEB}
# Styles for inference pairs: one clause, negated later. EXCHANGEABLE: subject and object can be exchanged.
EVENT = Style("event", (0, 1, 2, 3), 0.0, 0.0, 0.0, 0.55, 0.45, 0.40, 0.35)
EXCHANGEABLE = replace(EVENT, name="exchangeable", frames=(Frame.MEETS, Frame.CHASES))
PAIR_STYLES: dict[Domain, tuple[Style, Style]] = {
    "wiki": (EVENT, EXCHANGEABLE),
    "web": (replace(EVENT, other_names=True), replace(EXCHANGEABLE, other_names=True)),
}


class Sampler:
    """Draw meanings of one style."""

    def __init__(self, style: Style) -> None:
        self.tables = _topic_tables(style.other_names)
        self.topics = _quantise(_zipf(style.topics, TOPIC_EXPONENT), TOPIC_BITS)
        rng = python_rng("skeletons", style.name)
        drafts = [_draft(rng, style) for _ in range(1 << SKELETON_BITS)]
        self.shapes = [
            (tuple(sorted(draft)), tuple([draft[number] for number in sorted(draft)]), _rivals(draft))
            for draft in drafts
        ]

    def topic(self, rng: Random) -> int:
        """Return a random topic."""
        return self.topics[rng.getrandbits(TOPIC_BITS)]

    def meaning(self, rng: Random, topic: int) -> Meaning:
        """Return a random meaning of a topic; nobody acts on themself."""
        bits, tables = rng.getrandbits, self.tables[topic]
        skeleton, names, apart = self.shapes[bits(SKELETON_BITS)]
        while True:
            concepts = tuple([tables[name][bits(CONCEPT_BITS)] for name in names])
            for one, other in apart:
                if concepts[one] == concepts[other]:
                    break
            else:
                return Meaning(skeleton, concepts)

    def another(self, rng: Random, topic: int, concept: int, avoid: Collection[int]) -> int:
        """Return a random concept that can replace `concept` and is not in `avoid`."""
        known = CONCEPTS[concept]
        sorted_kind = known.kind in (Kind.NOUN, Kind.HYPERNYM, Kind.ADJECTIVE)
        name = f"{known.kind} {'thing' if known.group % 2 else 'being'}" if sorted_kind else known.kind
        while True:
            other = self.tables[topic][name][rng.getrandbits(CONCEPT_BITS)]
            if other not in avoid:
                return other


@cache
def sampler(style: Style) -> Sampler:
    """Return the cached sampler of a style."""
    return Sampler(style)


def draw_meanings(seed_parts: Sequence[object], *domains: Domain) -> Iterator[Meaning]:
    """Yield an endless sequence of meanings, alternating between the domains; `seed_parts` determine it."""
    streams = [(sampler(STYLES[domain]), python_rng("meanings", domain, *seed_parts)) for domain in domains]
    for source, rng in cycle(streams):
        yield source.meaning(rng, source.topic(rng))


def _draft(rng: Random, style: Style) -> Draft:
    """Return the parts of a random sentence, each with the table from which its concept is drawn."""
    draft = _clause(rng, style, 0)
    if rng.random() < style.coordination:
        draft |= _clause(rng, style, 1) | {LINK: "link"}
    elif rng.random() < style.relative:
        draft |= _relative(rng, draft)
    return draft


def _clause(rng: Random, style: Style, clause: int) -> Draft:
    """Return the parts of a clause; a second clause has no oblique and no adverb."""
    frame = rng.choice(style.frames)
    actor, patient = frame.split()
    draft = {part(Phrase.CLAUSE, Slot.VERB): f"verb {frame}"}
    if actor == "organisation":
        draft |= {
            part(Phrase.SUBJECT, Slot.ORGANISATION): Kind.ORGANISATION,
            part(Phrase.SUBJECT, Slot.HEAD): Kind.HEAD,
        }
    elif actor == "being":
        draft |= _noun_phrase(rng, style, Phrase.SUBJECT, "being")
    else:
        draft[part(Phrase.SUBJECT, Slot.PERSON)] = Kind.PERSON
        if rng.random() < style.full_name:
            draft[part(Phrase.SUBJECT, Slot.SURNAME)] = Kind.SURNAME
    if patient == "person":
        draft |= _filler(rng, style, Phrase.OBJECT, Slot.PERSON, Kind.PERSON)
    else:
        draft |= _noun_phrase(rng, style, Phrase.OBJECT, patient)
    if clause == 0 and rng.random() < style.oblique:
        draft |= _oblique(rng, style)
    if clause == 0 and rng.random() < style.adverb:
        draft |= _filler(rng, style, Phrase.CLAUSE, Slot.ADVERB, Kind.ADVERB)
    if rng.random() < style.negation:
        draft[NEGATION] = "not"
    return {number + clause * CLAUSE_STEP: name for number, name in draft.items()}


def _noun_phrase(rng: Random, style: Style, phrase: Phrase, sort: str) -> Draft:
    kind = Kind.HYPERNYM if rng.random() < style.generic / 2 else Kind.NOUN
    draft = {part(phrase, Slot.NOUN): f"{kind} {sort}"}
    if rng.random() < style.number:
        draft |= _filler(rng, style, phrase, Slot.NUMBER, Kind.DIGIT)
    else:
        draft |= _determiner(rng, phrase)
    if rng.random() < style.adjective:
        draft |= _filler(rng, style, phrase, Slot.ADJECTIVE, f"{Kind.ADJECTIVE} {sort}")
    return draft


def _determiner(rng: Random, phrase: Phrase) -> Draft:
    slot, name = (Slot.ARTICLE, "the") if rng.random() < 0.5 else (Slot.DETERMINER, Kind.DETERMINER)
    return {part(phrase, slot): name}


def _oblique(rng: Random, style: Style) -> Draft:
    if rng.random() < 0.7:
        place = _filler(rng, style, Phrase.OBLIQUE, Slot.PLACE, Kind.PLACE)
        return {part(Phrase.OBLIQUE, Slot.PREPOSITION): Kind.PREPOSITION} | place
    slot, name = (Slot.FUSING, "fusing") if rng.random() < 0.5 else (Slot.PREPOSITION, "unfusing")
    parts = {slot: name, Slot.ARTICLE: "the", Slot.NOUN: f"{Kind.NOUN} thing"}
    return {part(Phrase.OBLIQUE, slot): name for slot, name in parts.items()}


def _relative(rng: Random, draft: Draft) -> Draft:
    """Return the parts of a relative clause for a person or being of the first clause, or nothing if there is none."""
    hosts = [
        phrase
        for phrase in (Phrase.SUBJECT, Phrase.OBJECT)
        if part(phrase, Slot.PERSON) in draft or draft.get(part(phrase, Slot.NOUN), "").endswith("being")
    ]
    if not hosts:
        return {}
    host = rng.choice(hosts)
    inner = Phrase.SUBJECT_RELATIVE if host == Phrase.SUBJECT else Phrase.OBJECT_RELATIVE
    frame, target = (Frame.MAKES, "thing") if part(host, Slot.PERSON) in draft else (Frame.CHASES, "being")
    return {
        part(inner, Slot.WHO): "who",
        part(inner, Slot.VERB): f"verb {frame}",
        part(Phrase(inner + 1), Slot.NOUN): f"{Kind.NOUN} {target}",
    } | _determiner(rng, Phrase(inner + 1))


def _filler(rng: Random, style: Style, phrase: Phrase, slot: Slot, name: str) -> Draft:
    """Return a part with either the exact slot or its generic slot."""
    if rng.random() < style.generic:
        slot, name = GENERIC[slot], GENERIC[slot].name.lower()
    return {part(phrase, slot): name}


def _rivals(draft: Draft) -> tuple[tuple[int, int], ...]:
    """Return pairs of positions that must hold different concepts: nouns or persons of one table in one clause."""
    numbers = sorted(draft)
    heads = [i for i, number in enumerate(numbers) if number % PHRASE_STEP in (Slot.NOUN, Slot.PERSON)]
    return tuple(
        (i, j)
        for i in heads
        for j in heads
        if i < j and numbers[i] // CLAUSE_STEP == numbers[j] // CLAUSE_STEP and draft[numbers[i]] == draft[numbers[j]]
    )


@cache
def _topic_tables(other_names: bool) -> list[dict[str, list[int]]]:
    """Return, for each topic, the tables from which concepts are drawn."""
    topics = range(TOPICS)
    by_topic = (Kind.PERSON, Kind.SURNAME, Kind.PLACE, Kind.ORGANISATION, Kind.ADVERB)
    groups: dict[str, Groups] = {kind: [concepts_of(kind, topic) for topic in topics] for kind in by_topic}
    groups |= {kind: [concepts_of(kind)] for kind in (Kind.HEAD, Kind.DIGIT, Kind.PREPOSITION)}
    for kind in (Kind.NOUN, Kind.HYPERNYM, Kind.ADJECTIVE):
        for i, sort in enumerate(("being", "thing")):
            groups[f"{kind} {sort}"] = [concepts_of(kind, group=2 * topic + i) for topic in topics]
    for i, frame in enumerate(FRAMES):
        groups[f"verb {frame}"] = [concepts_of(Kind.VERB, topic, i) for topic in topics]
    prepositions = concepts_of(Kind.PREPOSITION)
    groups |= {"fusing": [prepositions[: len(FUSING)]], "unfusing": [prepositions[len(FUSING) :]]}
    groups |= {Kind.DETERMINER: [concepts_of(Kind.DETERMINER)[1:]], "link": [(BY_GLOSS["and"], BY_GLOSS["but"])]}
    single = ("the", "not", "who", *(slot.name.lower() for slot in GENERIC.values()))
    groups |= {gloss: [(BY_GLOSS[gloss],)] for gloss in single}
    if other_names:
        groups |= {kind: [group[::-1] for group in groups[kind]] for kind in NAMES}
    return [{name: _table(concepts, topic) for name, concepts in groups.items()} for topic in topics]


def _table(groups: Groups, topic: int) -> list[int]:
    """Return a table of concepts, each repeated in proportion to its probability in a topic."""
    own = groups[topic] if len(groups) > 1 else groups[0]
    others = [group for group in groups if group is not own]
    weights = {concept: (SHARPNESS if others else 1.0) * share for concept, share in _zipf(own, WORD_EXPONENT).items()}
    for group in others:
        for concept, share in _zipf(group, WORD_EXPONENT).items():
            weights[concept] = (1 - SHARPNESS) * share / len(others)
    return _quantise(weights, CONCEPT_BITS)


def _zipf(items: Sequence[int], exponent: float) -> dict[int, float]:
    weights = [(rank + 1) ** -exponent for rank in range(len(items))]
    return {item: weight / sum(weights) for item, weight in zip(items, weights, strict=True)}


def _quantise(weights: Mapping[int, float], bits: int) -> list[int]:
    """Return a table of 2^bits entries in which each item is repeated in proportion to its weight."""
    size = 1 << bits
    edges = [0, *(round(size * edge) for edge in accumulate(weights.values()))]
    return [item for item, start, end in zip(weights, edges, edges[1:], strict=False) for _ in range(end - start)]
