"""Drawing meanings: a style says which parts a sentence has, a topic says what fills them.

Skeletons and concepts are drawn from tables made beforehand, so that one draw is one look-up.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import accumulate
from random import Random

from xling.core.seeds import python_rng
from xling.synthetic.meaning import GENERIC_CONCEPT, NOT, WHO
from xling.synthetic.shapes import STYLES, Style, draw_draft, rivals
from xling.synthetic.types import Domain, Meaning
from xling.synthetic.world import BY_GLOSS, CONCEPTS, FRAMES, FUSING, TOPICS, Kind, concepts_of

SHARPNESS = 0.9  # how often a choice follows the topic
TOPIC_EXPONENT = 0.7
WORD_EXPONENT = 1.0
NAME_TABLES = ("people", "surnames", "places", "organisations")
CONCEPT_BITS, SKELETON_BITS, TOPIC_BITS = 10, 10, 8


class Sampler:
    """Draws meanings of one style."""

    def __init__(self, style: Style) -> None:
        self.tables = _topic_tables(style.other_names)
        self.topics = _quantise(_zipf(style.topics, TOPIC_EXPONENT), TOPIC_BITS)
        rng = python_rng("skeletons", style.name)
        drafts = [draw_draft(rng, style) for _ in range(1 << SKELETON_BITS)]
        self.shapes = [
            (tuple(sorted(draft)), tuple([draft[number] for number in sorted(draft)]), rivals(draft))
            for draft in drafts
        ]

    def topic(self, rng: Random) -> int:
        """Return a topic, frequent ones more often."""
        return self.topics[rng.getrandbits(TOPIC_BITS)]

    def meaning(self, rng: Random, topic: int) -> Meaning:
        """Return a meaning of a topic; nobody acts on themself."""
        bits, tables = rng.getrandbits, self.tables[topic]
        skeleton, names, apart = self.shapes[bits(SKELETON_BITS)]
        while True:
            concepts = tuple([tables[name][bits(CONCEPT_BITS)] for name in names])
            for one, other in apart:
                if concepts[one] == concepts[other]:
                    break
            else:
                return Meaning(skeleton, concepts, topic)

    def another(self, rng: Random, topic: int, concept: int, avoid: Collection[int]) -> int:
        """Return a concept that could stand where this one stands and is none of those to avoid."""
        table = self.tables[topic][_table_name(concept)]
        while True:
            other = table[rng.getrandbits(CONCEPT_BITS)]
            if other not in avoid:
                return other


@cache
def sampler(style: Style) -> Sampler:
    """Return the sampler of a style; it is made once."""
    return Sampler(style)


def draw_meanings(seed_parts: Sequence[object], domain: Domain) -> Iterator[Meaning]:
    """Yield meanings without end; the same seed parts give the same ones."""
    source, rng = sampler(STYLES[domain]), python_rng("meanings", domain, *seed_parts)
    while True:
        yield source.meaning(rng, source.topic(rng))


@cache
def _topic_tables(other_names: bool) -> list[dict[str, list[int]]]:
    sources = _sources()
    if other_names:
        sources |= {name: [group[::-1] for group in sources[name]] for name in NAME_TABLES}
    return [{name: _table(groups, topic) for name, groups in sources.items()} for topic in range(TOPICS)]


def _sources() -> dict[str, list[tuple[int, ...]]]:
    """Return for each table its concepts, by topic where they belong to one."""
    topics = range(TOPICS)
    tables: dict[str, list[tuple[int, ...]]] = {
        "people": [concepts_of(Kind.PERSON, topic) for topic in topics],
        "surnames": [concepts_of(Kind.SURNAME, topic) for topic in topics],
        "places": [concepts_of(Kind.PLACE, topic) for topic in topics],
        "organisations": [concepts_of(Kind.ORGANISATION, topic) for topic in topics],
        "adverbs": [concepts_of(Kind.ADVERB, topic) for topic in topics],
        "heads": [concepts_of(Kind.HEAD)],
        "digits": [concepts_of(Kind.DIGIT)],
        "determiners": [concepts_of(Kind.DETERMINER)[1:]],
        "prepositions": [concepts_of(Kind.PREPOSITION)],
        "fusing": [concepts_of(Kind.PREPOSITION)[: len(FUSING)]],
        "unfusing": [concepts_of(Kind.PREPOSITION)[len(FUSING) :]],
        "links": [(BY_GLOSS["and"], BY_GLOSS["but"])],
        "the": [(BY_GLOSS["the"],)],
        "not": [(NOT,)],
        "who": [(WHO,)],
    }
    for i, sort in enumerate(("being", "thing")):
        tables[f"{sort}s"] = [concepts_of(Kind.NOUN, group=2 * topic + i) for topic in topics]
        tables[f"{sort} kinds"] = [concepts_of(Kind.HYPERNYM, group=2 * topic + i) for topic in topics]
        tables[f"{sort} adjectives"] = [concepts_of(Kind.ADJECTIVE, group=2 * topic + i) for topic in topics]
    for i, frame in enumerate(FRAMES):
        tables[f"verb {frame}"] = [concepts_of(Kind.VERB, topic, i) for topic in topics]
    return tables | {slot.name.lower(): [(concept,)] for slot, concept in GENERIC_CONCEPT.items()}


def _table(groups: list[tuple[int, ...]], topic: int) -> list[int]:
    """Return a table in which a concept fills the share that it has in a topic."""
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


def _quantise(weights: dict[int, float], bits: int) -> list[int]:
    """Return a table of 2^bits entries in which each item fills its share."""
    size = 1 << bits
    edges = [0, *(round(size * edge) for edge in accumulate(weights.values()))]
    return [item for item, start, end in zip(weights, edges, edges[1:], strict=False) for _ in range(end - start)]


def _table_name(concept: int) -> str:
    known = CONCEPTS[concept]
    sort = "being" if known.group % 2 == 0 else "thing"
    names = {
        Kind.NOUN: f"{sort}s",
        Kind.ADJECTIVE: f"{sort} adjectives",
        Kind.PERSON: "people",
        Kind.PLACE: "places",
        Kind.ADVERB: "adverbs",
        Kind.DIGIT: "digits",
        Kind.HYPERNYM: f"{sort} kinds",
    }
    return names[known.kind]
