"""The embedded languages, built once for all tests of the generator, and sentences written by hand."""

import pytest
from embedded import EMBEDDED

from xling.synthetic.corpus import Document
from xling.synthetic.language import Language, Sentence, Tree
from xling.synthetic.traits import Differences
from xling.synthetic.world import World, build_world


@pytest.fixture(scope="session")
def world() -> World:
    return build_world(1)


@pytest.fixture(scope="session")
def languages(world: World) -> dict[str, Language]:
    described = EMBEDDED["synthetic"]["languages"].items()
    return {code: Language(code, Differences(**traits), world) for code, traits in described}


def make_sentence(text: str, words: str, heads: str, merged: dict[int, str]) -> Sentence:
    """Build a sentence from `form/UPOS/TAG` words and a list of heads."""
    forms, upos, ner = zip(*(word.split("/") for word in words.split()), strict=True)
    numbers = tuple(int(head) for head in heads.split())
    deprels = tuple("root" if head == 0 else "dep" for head in numbers)
    return Sentence(forms, tuple(form.lower() for form in forms), Tree(upos, numbers, deprels, ner), merged, text)


@pytest.fixture
def spaced() -> list[Sentence]:
    """Return sentences of a language with spaces, a merged token and adjacent entities of one type among them."""
    return [
        make_sentence(
            "Le chat voit la maison du roi.",
            "Le/DET/O chat/NOUN/O voit/VERB/O la/DET/O maison/NOUN/O de/ADP/O le/DET/O roi/NOUN/O ./PUNCT/O",
            "2 3 0 5 3 8 8 5 3",
            {5: "du"},
        ),
        make_sentence(
            "Anna Berg Otto the Old Town sees 3 cats, Rex.",
            "Anna/PROPN/B-PER Berg/PROPN/I-PER Otto/PROPN/B-PER the/DET/O Old/PROPN/B-LOC Town/PROPN/I-LOC sees/VERB/O "
            "3/NUM/O cats/NOUN/O ,/PUNCT/O Rex/PROPN/B-ORG ./PUNCT/O",
            "7 1 7 5 7 5 0 9 7 11 9 7",
            {},
        ),
    ]


@pytest.fixture
def unspaced() -> Sentence:
    """Return a sentence of a language without spaces."""
    return make_sentence("王明爱北京。", "王明/PROPN/B-PER 爱/VERB/O 北京/PROPN/B-LOC 。/PUNCT/O", "2 0 2 2", {})


@pytest.fixture
def pages() -> list[Document]:
    """Return documents that share titles, hold apostrophes, numbers and one-word sentences."""
    paragraphs = [
        ("Anna sees 3 cats.", "The cat doesn't see Anna."),
        ("Go.",),
        ("L'eau de l'école n'est pas là.", "Old Town's king has 12 & 5 houses."),
    ]
    return [Document(f"Anna {number % 40}", paragraphs[number % 3 :]) for number in range(120)]
