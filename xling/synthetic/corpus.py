"""Corpora: documents without end, drawn for each language and domain on their own, so that they are never parallel.

About half the paragraphs are one sentence. The others begin with a sentence and a variation of it, as in inference
but without a label: models that have seen such pairs were found to carry inference over to other languages.
"""

from collections.abc import Iterator
from random import Random

from xling.core.seeds import python_rng
from xling.synthetic.draw import Sampler, sampler
from xling.synthetic.grammar import Form
from xling.synthetic.nli import draw_pair
from xling.synthetic.realise import Language
from xling.synthetic.shapes import STYLES
from xling.synthetic.types import Document, Domain, Paragraph
from xling.synthetic.world import Kind, concepts_of

PAIRS = 0.5
THIRD_SENTENCE = 0.3
SYNONYMS = 0.25  # share of paragraphs that use second words
PARAGRAPHS = {"wiki": (2, 8), "web": (1, 5)}
TITLE_KINDS = (Kind.PERSON, Kind.PLACE, Kind.ORGANISATION)


def documents(language: Language, domain: Domain, seed: int) -> Iterator[Document]:
    """Yield documents of one topic each without end; titles are unique."""
    source = sampler(STYLES[domain])
    rng = python_rng("documents", language.world.seed, language.code, domain, seed)
    number = 0
    while True:
        number += 1
        topic = source.topic(rng)
        paragraphs = [_paragraph(language, source, rng, topic, domain) for _ in range(rng.randint(*PARAGRAPHS[domain]))]
        yield Document(_title(language, rng, topic, number), topic, tuple(paragraphs))


def _paragraph(language: Language, source: Sampler, rng: Random, topic: int, domain: Domain) -> Paragraph:
    meanings = []
    if rng.random() < PAIRS:
        pair = draw_pair(rng, topic, domain)
        meanings = [pair.premise, pair.hypothesis]
    if not meanings or rng.random() < THIRD_SENTENCE:
        meanings.append(source.meaning(rng, topic))
    synonyms = rng.random() < SYNONYMS
    return Paragraph(tuple([language.text(meaning, synonyms) for meaning in meanings]))


def _title(language: Language, rng: Random, topic: int, number: int) -> str:
    names, nouns = language.lexicon.first[Form.NAME], language.lexicon.first[Form.BASE]
    name = rng.choice(concepts_of(rng.choice(TITLE_KINDS), topic))
    return f"{names[name]} ({nouns[rng.choice(concepts_of(Kind.NOUN, topic))]} {number})"
