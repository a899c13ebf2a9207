"""The world that all embedded languages speak of: what there is, and an international word for each of it.

Sizes are those of "World S", which was found to be large enough for the study's picture and small enough for minutes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from xling.core.seeds import python_rng
from xling.synthetic.words import WordMaker

TOPICS = 4
NOUNS_PER_CLASS = 6  # a topic has two classes of nouns: beings, which can act, and things
ADJECTIVES_PER_CLASS = 3
ADVERBS_PER_TOPIC = 2
NAMES_PER_TOPIC = 6
ORGANISATION_HEADS = 4


class Kind(StrEnum):
    """What sort of word a concept is."""

    NOUN = "noun"
    HYPERNYM = "hypernym"
    ADJECTIVE = "adjective"
    VERB = "verb"
    ADVERB = "adverb"
    PERSON = "person"
    SURNAME = "surname"
    PLACE = "place"
    ORGANISATION = "organisation"
    HEAD = "organisation head"
    DIGIT = "digit"
    DETERMINER = "determiner"
    PREPOSITION = "preposition"
    PARTICLE = "particle"
    GENERIC = "generic"
    CLASSIFIER = "classifier"
    FUSED = "fused preposition"


class Frame(StrEnum):
    """Who does what to whom: each topic has one verb for each frame."""

    MAKES = "person thing"
    MEETS = "person person"
    TRADES = "organisation thing"
    CHASES = "being being"


FRAMES = tuple(Frame)
NAMES = frozenset({Kind.PERSON, Kind.SURNAME, Kind.PLACE, Kind.ORGANISATION})
CONTENT = frozenset({Kind.NOUN, Kind.HYPERNYM, Kind.ADJECTIVE, Kind.VERB, Kind.ADVERB, Kind.HEAD})
SHORT = frozenset({Kind.DETERMINER, Kind.PREPOSITION, Kind.PARTICLE, Kind.CLASSIFIER, Kind.FUSED})
PARTICLES = ("not", "and", "but", "who", "some")
GENERICS = ("certain", "someone", "somewhere", "somehow")
DETERMINERS = ("the", "a", "this", "that", "every")
PREPOSITIONS = ("of", "to", "in", "near")
FUSING = PREPOSITIONS[:2]  # those that fuse with the definite article where a language contracts


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing there is a word for: `group` is its noun class, its frame or its place in a list."""

    kind: Kind
    topic: int  # -1: belongs to none
    group: int
    rank: int  # 0 is the most frequent of its kind in its topic
    gloss: str


def _concepts() -> Iterator[Concept]:
    for topic in range(TOPICS):
        for group in (2 * topic, 2 * topic + 1):
            for rank in range(NOUNS_PER_CLASS):
                yield Concept(Kind.NOUN, topic, group, rank, f"noun {group}.{rank}")
            yield Concept(Kind.HYPERNYM, topic, group, 0, f"kind {group}")
            for rank in range(ADJECTIVES_PER_CLASS):
                yield Concept(Kind.ADJECTIVE, topic, group, rank, f"adjective {group}.{rank}")
        for group, frame in enumerate(FRAMES):
            yield Concept(Kind.VERB, topic, group, 0, f"verb {topic} {frame}")
        for rank in range(ADVERBS_PER_TOPIC):
            yield Concept(Kind.ADVERB, topic, 0, rank, f"adverb {topic}.{rank}")
        for kind in (Kind.PERSON, Kind.SURNAME, Kind.PLACE, Kind.ORGANISATION):
            for rank in range(NAMES_PER_TOPIC):
                yield Concept(kind, topic, 0, rank, f"{kind} {topic}.{rank}")
    yield from (Concept(Kind.HEAD, -1, 0, i, f"head {i}") for i in range(ORGANISATION_HEADS))
    yield from (Concept(Kind.DIGIT, -1, 0, i, str(i + 1)) for i in range(9))
    yield from (Concept(Kind.CLASSIFIER, -1, i, i, f"classifier {i}") for i in range(2 * TOPICS))
    yield from (Concept(Kind.FUSED, -1, i, i, f"{word}+the") for i, word in enumerate(FUSING))
    for kind, words in _FUNCTION_WORDS:
        yield from (Concept(kind, -1, 0, i, word) for i, word in enumerate(words))


_FUNCTION_WORDS = (
    (Kind.DETERMINER, DETERMINERS),
    (Kind.PREPOSITION, PREPOSITIONS),
    (Kind.PARTICLE, PARTICLES),
    (Kind.GENERIC, GENERICS),
)
CONCEPTS: tuple[Concept, ...] = tuple(_concepts())
BY_GLOSS = {concept.gloss: i for i, concept in enumerate(CONCEPTS)}


@cache
def concepts_of(kind: Kind, topic: int | None = None, group: int | None = None) -> tuple[int, ...]:
    """Return the ids of the concepts of a kind, of one topic or group if asked, frequent ones first."""
    wanted = [
        i
        for i, concept in enumerate(CONCEPTS)
        if concept.kind == kind and topic in (None, concept.topic) and group in (None, concept.group)
    ]
    return tuple(sorted(wanted, key=lambda i: (CONCEPTS[i].rank, i)))


@cache
def hypernym(noun: int) -> int:
    """Return the concept that covers a noun and the others of its class."""
    return concepts_of(Kind.HYPERNYM, group=CONCEPTS[noun].group)[0]


@dataclass(frozen=True, slots=True)
class World:
    """The concepts with an international word each, from which a language takes its cognates."""

    seed: int
    roots: tuple[str, ...]


def build_world(seed: int) -> World:
    """Return the world of a seed; English uses its words as they are."""
    maker = WordMaker("latin", python_rng("world", seed))
    roots = [_root(concept, maker) for concept in CONCEPTS]
    return World(seed, tuple(roots))


def _root(concept: Concept, maker: WordMaker) -> str:
    if concept.kind == Kind.DIGIT:
        return concept.gloss
    return maker.make(short=concept.kind in SHORT)
