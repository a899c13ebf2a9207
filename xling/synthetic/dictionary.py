"""A bilingual dictionary as the real ones are: mostly right, sometimes several answers, sometimes a near miss."""

from collections.abc import Iterator
from random import Random

from xling.core.seeds import python_rng
from xling.synthetic.grammar import Form
from xling.synthetic.lexicon import NOUNS
from xling.synthetic.realise import Language
from xling.synthetic.types import Translation
from xling.synthetic.world import CONCEPTS, CONTENT, Kind, concepts_of

NEAR_MISSES = 0.15  # share of content words that are also translated by a neighbour
FULL_NAMES = 0.1  # share of first names that also stand with a surname


def translations(source: Language, target: Language) -> list[Translation]:
    """Return the entries from one language to another, in the order of the concepts, each pair of words once."""
    rng = python_rng("dictionary", source.world.seed, source.code, target.code)
    entries: dict[tuple[str, str], Translation] = {}
    for concept in range(len(CONCEPTS)):
        for entry in _entries(source, target, concept, rng):
            entries.setdefault((entry.source, entry.target), entry)
    return list(entries.values())


def _entries(source: Language, target: Language, concept: int, rng: Random) -> Iterator[Translation]:
    kind = CONCEPTS[concept].kind
    if kind in (Kind.CLASSIFIER, Kind.FUSED, Kind.DIGIT):
        return
    yield _entry(source, target, concept, concept, rng.choice((8, 9)))
    yield _entry(source, target, concept, concept, rng.choice((5, 6, 7)), target_second=True)
    yield _entry(source, target, concept, concept, rng.choice((5, 6, 7)), source_second=True)
    if kind in NOUNS:
        yield _entry(source, target, concept, concept, rng.choice((6, 7, 8)), form=Form.COUNTED)
    if kind in CONTENT and rng.random() < NEAR_MISSES:
        yield _entry(source, target, concept, _neighbour(concept, rng), rng.choice((1, 2, 3, 4)))
    if kind == Kind.PERSON and rng.random() < FULL_NAMES:
        surname = rng.choice(concepts_of(Kind.SURNAME, CONCEPTS[concept].topic))
        yield Translation(_full_name(source, concept, surname), _full_name(target, concept, surname), 5)


def _entry(
    source: Language,
    target: Language,
    concept: int,
    answer: int,
    quality: int,
    form: Form = Form.BASE,
    source_second: bool = False,
    target_second: bool = False,
) -> Translation:
    left = source.lexicon.second if source_second else source.lexicon.first
    right = target.lexicon.second if target_second else target.lexicon.first
    return Translation(left[form][concept], right[form][answer], quality)


def _neighbour(concept: int, rng: Random) -> int:
    """Return another concept of the same kind, of the same topic if it has one."""
    known = CONCEPTS[concept]
    around = concepts_of(known.kind, known.topic)
    return rng.choice([other for other in around if other != concept] or list(concepts_of(known.kind)))


def _full_name(language: Language, person: int, surname: int) -> str:
    names = language.lexicon.first[Form.NAME]
    return f"{names[person]} {names[surname]}"
