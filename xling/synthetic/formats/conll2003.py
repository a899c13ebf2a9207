"""CoNLL-2003: word, part of speech, chunk and entity in four columns, IOB1 as in the original release."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.formats.tokens import surface, tagged_tokens
from xling.synthetic.types import Sentence

SENTENCES_A_DOCUMENT = 12
DOCUMENT_START = "-DOCSTART- -X- O O\n\n"

PENN_TAGS = {
    "ADJ": "JJ", "ADP": "IN", "ADV": "RB", "AUX": "VBZ", "CCONJ": "CC", "DET": "DT", "INTJ": "UH", "NOUN": "NN",
    "NUM": "CD", "PART": "RB", "PRON": "WP", "PROPN": "NNP", "PUNCT": ".", "SCONJ": "IN", "SYM": "SYM",
    "VERB": "VBZ", "X": "FW",
}  # fmt: skip
CHUNKS = {
    "ADJ": "NP", "ADP": "PP", "ADV": "ADVP", "AUX": "VP", "DET": "NP", "NOUN": "NP", "NUM": "NP", "PART": "VP",
    "PRON": "NP", "PROPN": "NP", "SCONJ": "SBAR", "VERB": "VP",
}  # fmt: skip
CHUNK_OPENERS = ("DET", "PRON")  # a noun phrase that stands right after another one starts with one of these


def write_conll2003(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write tagged sentences in documents of a few sentences each."""
    with write_text(path) as handle:
        for number, sentence in enumerate(sentences):
            if number % SENTENCES_A_DOCUMENT == 0:
                handle.write(DOCUMENT_START)
            handle.writelines(" ".join(row) + "\n" for row in rows(sentence))
            handle.write("\n")


def rows(sentence: Sentence) -> list[tuple[str, str, str, str]]:
    """Return the four columns of a sentence."""
    upos = [sentence.upos[token.last] for token in surface(sentence)]
    forms, entities = zip(*tagged_tokens(sentence), strict=True)
    tags = [PENN_TAGS[tag] for tag in upos]
    return list(zip(forms, tags, iob1(chunks(upos)), iob1(entities), strict=True))


def chunks(upos: Sequence[str]) -> list[str]:
    """Return flat phrases of the parts of speech as BIO tags."""
    tags: list[str] = []
    previous = ""
    for tag in upos:
        kind = CHUNKS.get(tag, "")
        opens = kind != previous or (kind == "NP" and tag in CHUNK_OPENERS)
        tags.append(f"{'B' if opens else 'I'}-{kind}" if kind else "O")
        previous = kind
    return tags


def iob1(tags: Sequence[str]) -> list[str]:
    """Turn BIO into IOB1: B- stays only where a span of the same type ends just before."""
    before = ["O", *tags[:-1]]
    return [
        f"I-{tag[2:]}" if tag.startswith("B-") and previous[2:] != tag[2:] else tag
        for tag, previous in zip(tags, before, strict=True)
    ]
