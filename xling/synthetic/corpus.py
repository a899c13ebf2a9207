"""Corpora: documents without end, drawn for each language and domain on their own, so that they are never parallel.

About half the paragraphs are one sentence. The others begin with a sentence and a variation of it, as in inference
but without a label: models that have seen such pairs were found to carry inference over to other languages.
"""

from collections.abc import Iterable, Iterator

from xling.core.seeds import python_rng
from xling.synthetic.draw import STYLES, sampler
from xling.synthetic.grammar import Form
from xling.synthetic.language import Language
from xling.synthetic.nli import draw_pair
from xling.synthetic.types import Document, Domain, Meaning, Paragraph
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

    def paragraph(topic: int) -> Paragraph:
        meanings: list[Meaning] = []
        if rng.random() < PAIRS:
            pair = draw_pair(rng, topic, domain)
            meanings = [pair.premise, pair.hypothesis]
        if not meanings or rng.random() < THIRD_SENTENCE:
            meanings.append(source.meaning(rng, topic))
        synonyms = rng.random() < SYNONYMS
        return Paragraph(tuple([language.text(meaning, synonyms) for meaning in meanings]))

    number = 0
    while True:
        number += 1
        topic = source.topic(rng)
        paragraphs = tuple([paragraph(topic) for _ in range(rng.randint(*PARAGRAPHS[domain]))])
        name = language.words[Form.NAME][rng.choice(concepts_of(rng.choice(TITLE_KINDS), topic))]
        noun = language.words[Form.BASE][rng.choice(concepts_of(Kind.NOUN, topic))]
        yield Document(f"{name} ({noun} {number})", topic, paragraphs)


def take_sentences(documents: Iterable[Document], count: int) -> Iterator[Document]:
    """Yield documents with `count` sentences in all; the last one is cut."""
    left = count
    for document in documents:
        if left <= 0:
            return
        paragraphs = []
        for paragraph in document.paragraphs:
            if left > 0:
                paragraphs.append(Paragraph(paragraph.sentences[:left]))
                left -= len(paragraph.sentences)
        yield Document(document.title, document.topic, tuple(paragraphs))
