"""Lines of the text formats: CoNLL-U, CoNLL-2003, WikiAnn, MSRA, XNLI, crawled text, and jieba dictionaries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.synthetic.corpus import Document
from xling.synthetic.language import Sentence
from xling.synthetic.nli import NliPair

EMPTY_NODE_SHARE = 0.05  # of sentences; about 1% in EWT, but small files must have empty nodes too
CONLL2003_SENTENCES = 12  # per document
PENN_AND_CHUNK = {  # the Penn tag and the phrase of each part of speech that the generator uses
    "ADJ": ("JJ", "NP"), "ADP": ("IN", "PP"), "ADV": ("RB", "ADVP"), "CCONJ": ("CC", ""), "DET": ("DT", "NP"),
    "NOUN": ("NN", "NP"), "NUM": ("CD", "NP"), "PART": ("RB", "VP"), "PRON": ("WP", "NP"), "PROPN": ("NNP", "NP"),
    "PUNCT": (".", ""), "VERB": ("VBZ", "VP"),
}  # fmt: skip
CHUNK_OPENERS = ("DET", "PRON")  # these start a new noun phrase right after another
XNLI_COLUMNS = (
    "language", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse",
    "sentence2_parse", "sentence1", "sentence2", "promptID", "pairID", "genre", "label1", "label2", "label3",
    "label4", "label5", "sentence1_tokenized", "sentence2_tokenized", "match",
)  # fmt: skip
GENRES = (
    "facetoface", "fiction", "government", "letters", "nineeleven", "oup", "slate", "telephone", "travel", "verbatim",
)  # fmt: skip
TRAINING_LABELS = {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradictory"}


class Token(NamedTuple):
    """A printed token: one word, or two words merged into one form."""

    form: str
    first: int  # index of its first word, from 0
    last: int  # index of its last word, inclusive
    space_after: bool


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, compressed according to its suffix; the file appears only when it is complete."""
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)


def tokens(sentence: Sentence) -> list[Token]:
    """Return the printed tokens of a sentence; each says whether a space follows it."""
    found: list[Token] = []
    place = 0
    for index, word in enumerate(sentence.forms):
        if index - 1 in sentence.merged:
            continue
        form = sentence.merged.get(index, word)
        place += len(form)
        space = sentence.text.startswith(" ", place)
        place += space
        last = index + (index in sentence.merged)
        found.append(Token(form, index, last, space or place == len(sentence.text)))
    return found


def tagged_tokens(sentence: Sentence) -> list[tuple[str, str]]:
    """Return printed tokens with their entity tags; merged words are never names."""
    return [(token.form, sentence.ner[token.first]) for token in tokens(sentence)]


def tagged_characters(sentence: Sentence) -> list[tuple[str, str]]:
    """Return the characters of a sentence with BIO tags; only the first character of an entity has a B tag."""
    pairs: list[tuple[str, str]] = []
    for form, tag in tagged_tokens(sentence):
        inside = "O" if tag == "O" else f"I-{tag[2:]}"
        pairs += [(form[0], tag), *((character, inside) for character in form[1:])]
    return pairs


def wikiann(sentences: Iterable[Sentence], code: str, spaces: bool) -> Iterator[str]:
    """Yield `xx:token<TAB>TAG` lines and a blank line after each sentence; without `spaces`, tokens are characters."""
    for sentence in sentences:
        pairs = tagged_tokens(sentence) if spaces else tagged_characters(sentence)
        yield from (f"{code}:{form}\t{tag}" for form, tag in pairs)
        yield ""


def msra(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield lines of the MSRA format (2006 bakeoff): a character and its BIO tag, a blank line after each sentence."""
    for sentence in sentences:
        yield from (f"{character} {tag}" for character, tag in tagged_characters(sentence))
        yield ""


def conll2003(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield lines of CoNLL-2003: word, part of speech, chunk and entity, with IOB1 tags as in the original release."""
    for number, sentence in enumerate(sentences):
        if number % CONLL2003_SENTENCES == 0:
            yield from ("-DOCSTART- -X- O O", "")
        upos = [sentence.upos[token.last] for token in tokens(sentence)]
        forms, entities = zip(*tagged_tokens(sentence), strict=True)
        parts = [PENN_AND_CHUNK[tag][0] for tag in upos]
        yield from map(" ".join, zip(forms, parts, iob1(chunks(upos)), iob1(entities), strict=True))
        yield ""


def chunks(upos: Sequence[str]) -> list[str]:
    """Return BIO tags of flat phrases, derived from the parts of speech."""
    tags: list[str] = []
    previous = ""
    for tag in upos:
        kind = PENN_AND_CHUNK[tag][1]
        opens = kind != previous or (kind == "NP" and tag in CHUNK_OPENERS)
        tags.append(f"{'B' if opens else 'I'}-{kind}" if kind else "O")
        previous = kind
    return tags


def iob1(tags: Sequence[str]) -> list[str]:
    """Convert BIO to IOB1: B- stays only if a span of the same type ends just before."""
    return [
        f"I-{tag[2:]}" if tag.startswith("B-") and previous[2:] != tag[2:] else tag
        for tag, previous in zip(tags, ["O", *tags[:-1]], strict=True)
    ]


def treebank(sentences: Iterable[Sentence], name: str, seed: int) -> Iterator[str]:
    """Yield CoNLL-U lines with comments, multiword tokens, SpaceAfter and, in some sentences, an empty node."""
    rng = python_rng(seed, "treebank", name)
    yield "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
    for number, sentence in enumerate(sentences, start=1):
        yield f"# sent_id = {name}_{number:05d}"
        yield f"# text = {sentence.text}"
        yield from map("\t".join, _tree_rows(sentence, enhanced=rng.random() < EMPTY_NODE_SHARE))
        yield ""


def _tree_rows(s: Sentence, enhanced: bool) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a sentence, with a range row before merged words; `enhanced` adds a copy of the root."""
    for token in tokens(s):
        misc = "_" if token.space_after else "SpaceAfter=No"
        if token.last > token.first:
            yield (f"{token.first + 1}-{token.last + 1}", token.form, *"_" * 7, misc)
            misc = "_"
        for i in range(token.first, token.last + 1):
            head, relation = str(s.heads[i]), s.deprels[i]
            word = (s.forms[i], s.lemmas[i], s.upos[i], "_", "_")
            yield (str(i + 1), *word, head, relation, f"{head}:{relation}" if enhanced else "_", misc)
            if enhanced and head == "0":
                yield (f"{i + 1}.1", *word, "_", "_", f"{i + 1}:conj", f"CopyOf={i + 1}")


def crawl(documents: Iterable[Document], joiner: str) -> Iterator[str]:
    """Yield lines of the CC-100 format: one line per paragraph, a blank line after each document."""
    for document in documents:
        yield from (joiner.join(paragraph) for paragraph in document.paragraphs)
        yield ""


def xnli_training(pairs: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield labelled pairs in the format of multinli.train.en.tsv in XNLI-MT-1.0, which writes `contradictory`."""
    yield "premise\thypo\tlabel"
    yield from (f"{premise}\t{hypothesis}\t{TRAINING_LABELS[label]}" for premise, hypothesis, label in pairs)


def xnli_evaluation(
    pairs: Sequence[NliPair], realised: Mapping[str, Sequence[tuple[Sentence, Sentence]]]
) -> Iterator[str]:
    """Yield the same pairs in every language, with the columns of XNLI 1.0; parses are empty, as for most languages."""
    yield "\t".join(XNLI_COLUMNS)
    for code in sorted(realised):
        for number, (pair, sides) in enumerate(zip(pairs, realised[code], strict=True), start=1):
            texts = (sentence.text for sentence in sides)
            tokenised = (" ".join(token.form for token in tokens(sentence)) for sentence in sides)
            ids, genre, annotators = [str(number)] * 2, GENRES[number % len(GENRES)], [pair.label] * 5
            yield "\t".join((code, pair.label, *[""] * 4, *texts, *ids, genre, *annotators, *tokenised, "True"))


def parallel_columns(columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield lines of the format of xnli.15way.orig.tsv: one column per language, with the codes in the header."""
    codes = sorted(columns)
    yield "\t".join(codes)
    yield from map("\t".join, zip(*(columns[code] for code in codes), strict=True))


def jieba_dictionary(words: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield `word frequency` lines; words with spaces are left out, because jieba does not support them."""
    return (f"{word} {frequency}" for word, frequency in words if " " not in word)
