"""What the generator hands to the writers of raw formats: sentences with everything known about them."""

from dataclasses import dataclass
from typing import Literal

Domain = Literal["wiki", "web"]
Label = Literal["entailment", "neutral", "contradiction"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a sentence says, in no language: see xling.synthetic.meaning for how one is drawn."""

    skeleton: tuple[int, ...]  # which optional parts are there, the key of a language's template
    concepts: tuple[int, ...]  # what fills the parts, ids in the world's concept table
    topic: int


@dataclass(frozen=True, slots=True)
class Multiword:
    """A surface token that stands for several syntactic words, as `du` for `de le`."""

    first: int  # index of its first word, from 0
    last: int  # index of its last word, inclusive
    form: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one language: words as a treebank has them, tree, entities and running text."""

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]  # 1-based, 0 is the root
    deprels: tuple[str, ...]
    ner: tuple[str, ...]  # BIO over PER, LOC, ORG
    multiwords: tuple[Multiword, ...]
    text: str  # as it is printed: punctuation attached, no spaces where the script has none
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences of one topic that stand together."""

    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A page or web document: only running text, because corpora are large."""

    title: str
    topic: int
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class NliPair:
    """Two meanings and whether the second follows from the first."""

    premise: Meaning
    hypothesis: Meaning
    label: Label


@dataclass(frozen=True, slots=True)
class Translation:
    """A dictionary entry from the source language with a quality from 1 to 9, as PanLex rates its sources."""

    source: str
    target: str
    quality: int
