"""Corpora and bilingual dictionaries.

A corpus is an endless sequence of documents. It is drawn independently for each language and domain, so corpora are
never parallel. About half of the paragraphs have one sentence. The others begin with a sentence and a variation of it,
like an inference pair without a label: models trained on such pairs were found to transfer inference across languages.

Like real dictionaries, a dictionary is mostly right, and some words have several translations or nearly right ones.
"""

from collections.abc import Iterable, Iterator
from itertools import count
from random import Random
from typing import NamedTuple

from xling.core.seeds import python_rng
from xling.synthetic.grammar import Form
from xling.synthetic.language import Language
from xling.synthetic.meaning import STYLES, Domain, Meaning, sampler
from xling.synthetic.nli import draw_pair
from xling.synthetic.world import CONCEPTS, CONTENT, NOUNS, Kind, concepts_of

PAIRS = 0.5
THIRD_SENTENCE = 0.3
SYNONYMS = 0.25  # share of paragraphs that use synonyms
PARAGRAPHS = {"wiki": (2, 8), "web": (1, 5)}
TITLE_KINDS = (Kind.PERSON, Kind.PLACE, Kind.ORGANISATION)
NEAR_MISSES = 0.15  # share of content words that also have the word of a similar concept as translation
FULL_NAMES = 0.1  # share of first names that also have an entry with a surname


class Document(NamedTuple):
    """An encyclopaedia page or web document; it holds only running text, because corpora are large."""

    title: str
    paragraphs: list[tuple[str, ...]]  # each has one or more sentences


class Translation(NamedTuple):
    """A dictionary entry from the source language with a quality from 1 to 9, as PanLex rates its sources."""

    source: str
    target: str
    quality: int


def documents(language: Language, domain: Domain, seed: int) -> Iterator[Document]:
    """Yield an endless sequence of documents with one topic each and unique titles."""
    source = sampler(STYLES[domain])
    rng = python_rng("documents", language.world.seed, language.code, domain, seed)

    def paragraph(topic: int) -> tuple[str, ...]:
        meanings: list[Meaning] = []
        if rng.random() < PAIRS:
            pair = draw_pair(rng, topic, domain)
            meanings = [pair.premise, pair.hypothesis]
        if not meanings or rng.random() < THIRD_SENTENCE:
            meanings.append(source.meaning(rng, topic))
        synonyms = rng.random() < SYNONYMS
        return tuple([language.text(meaning, synonyms) for meaning in meanings])

    for number in count(1):
        topic = source.topic(rng)
        paragraphs = [paragraph(topic) for _ in range(rng.randint(*PARAGRAPHS[domain]))]
        name = language.words[Form.NAME][rng.choice(concepts_of(rng.choice(TITLE_KINDS), topic))]
        noun = language.words[Form.BASE][rng.choice(concepts_of(Kind.NOUN, topic))]
        yield Document(f"{name} ({noun} {number})", paragraphs)


def take_sentences(documents: Iterable[Document], number: int) -> Iterator[Document]:
    """Yield documents with `number` sentences in total; the last document is cut."""
    left = number
    for document in documents:
        if left <= 0:
            return
        paragraphs = []
        for paragraph in document.paragraphs:
            if left > 0:
                paragraphs.append(paragraph[:left])
                left -= len(paragraph)
        yield Document(document.title, paragraphs)


def translations(source: Language, target: Language) -> list[Translation]:
    """Return the distinct dictionary entries from one language to another, in the order of the concepts."""
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
    if kind in CONTENT and rng.random() < NEAR_MISSES:  # a concept of the same kind and, if possible, topic
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
