"""Exactly as much as asked for from the generator's endless streams."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from xling.synthetic.types import Document, Meaning, Paragraph


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


def take_turns(streams: Iterable[Iterable[Meaning]], count: int) -> Iterator[Meaning]:
    """Yield `count` meanings, one from each endless stream in turn: genres mixed half and half."""
    return islice(chain.from_iterable(zip(*streams, strict=False)), count)
