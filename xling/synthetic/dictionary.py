"""A bilingual dictionary as the real ones are: mostly right, sometimes several answers, sometimes a near miss."""

from collections.abc import Iterator
from random import Random

from xling.core.seeds import python_rng
from xling.synthetic.grammar import Form
from xling.synthetic.language import Language
from xling.synthetic.types import Translation
from xling.synthetic.world import CONCEPTS, CONTENT, NOUNS, Kind, concepts_of

NEAR_MISSES = 0.15  # share of content words that are also translated by a neighbour
FULL_NAMES = 0.1  # share of first names that also stand with a surname


def translations(source: Language, target: Language) -> list[Translation]:
    """Return the entries from one language to another, in the order of the concepts, each pair of words once."""
    rng = python_rng("dictionary", source.world.seed, source.code, target.code)
    entries: dict[tuple[str, str], Translation] = {}
    for concept, known in enumerate(CONCEPTS):
        if known.kind not in (Kind.CLASSIFIER, Kind.FUSED, Kind.DIGIT):
            for entry in _entries(source, target, concept, rng):
                entries.setdefault((entry.source, entry.target), entry)
    return list(entries.values())


def _entries(source: Language, target: Language, concept: int, rng: Random) -> Iterator[Translation]:
    kind, topic = CONCEPTS[concept].kind, CONCEPTS[concept].topic
    word, translation = source.words[Form.BASE][concept], target.words[Form.BASE][concept]
    yield Translation(word, translation, rng.choice((8, 9)))
    yield Translation(word, target.synonyms[Form.BASE][concept], rng.choice((5, 6, 7)))
    yield Translation(source.synonyms[Form.BASE][concept], translation, rng.choice((5, 6, 7)))
    if kind in NOUNS:
        counted = source.words[Form.COUNTED][concept], target.words[Form.COUNTED][concept]
        yield Translation(*counted, rng.choice((6, 7, 8)))
    if kind in CONTENT and rng.random() < NEAR_MISSES:  # a concept of the same kind, and topic if there is another one
        around = [other for other in concepts_of(kind, topic) if other != concept]
        neighbour = rng.choice(around or list(concepts_of(kind)))
        yield Translation(word, target.words[Form.BASE][neighbour], rng.choice((1, 2, 3, 4)))
    if kind == Kind.PERSON and rng.random() < FULL_NAMES:
        surname = rng.choice(concepts_of(Kind.SURNAME, topic))
        full, translated = (
            f"{language.words[Form.NAME][concept]} {language.words[Form.NAME][surname]}"
            for language in (source, target)
        )
        yield Translation(full, translated, 5)
