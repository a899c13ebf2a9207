"""Lines of the plain-text formats: crawled text, the files of XNLI, a dictionary for jieba."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.formats.tagged import tokens
from xling.synthetic.types import Document, NliPair, Sentence

XNLI_COLUMNS = (
    "language", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse",
    "sentence2_parse", "sentence1", "sentence2", "promptID", "pairID", "genre", "label1", "label2", "label3",
    "label4", "label5", "sentence1_tokenized", "sentence2_tokenized", "match",
)  # fmt: skip
GENRES = (
    "facetoface", "fiction", "government", "letters", "nineeleven", "oup", "slate", "telephone", "travel", "verbatim",
)  # fmt: skip
TRAINING_LABELS = {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradictory"}


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, compressed by its suffix; it appears only when whole."""
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)


def crawl(documents: Iterable[Document], joiner: str) -> Iterator[str]:
    """Yield text as CC-100 has it: one line per paragraph, a blank line after each document."""
    for document in documents:
        yield from (joiner.join(paragraph.sentences) for paragraph in document.paragraphs)
        yield ""


def xnli_training(pairs: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield labelled pairs as XNLI-MT-1.0's multinli.train.en.tsv has them, with its own word for a contradiction."""
    yield "premise\thypo\tlabel"
    yield from (f"{premise}\t{hypothesis}\t{TRAINING_LABELS[label]}" for premise, hypothesis, label in pairs)


def xnli_evaluation(
    pairs: Sequence[NliPair], realised: Mapping[str, Sequence[tuple[Sentence, Sentence]]]
) -> Iterator[str]:
    """Yield the same pairs in every language in the columns of XNLI 1.0; parses are empty, as for most languages."""
    yield "\t".join(XNLI_COLUMNS)
    for code in sorted(realised):
        for number, (pair, sides) in enumerate(zip(pairs, realised[code], strict=True), start=1):
            texts = (sentence.text for sentence in sides)
            tokenised = (" ".join(token.form for token in tokens(sentence)) for sentence in sides)
            ids, genre, annotators = [str(number)] * 2, GENRES[number % len(GENRES)], [pair.label] * 5
            yield "\t".join((code, pair.label, *[""] * 4, *texts, *ids, genre, *annotators, *tokenised, "True"))


def parallel_columns(columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield one column per language, codes in the header, as xnli.15way.orig.tsv has them."""
    codes = sorted(columns)
    yield "\t".join(codes)
    yield from map("\t".join, zip(*(columns[code] for code in codes), strict=True))


def jieba_dictionary(words: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yield `word frequency`, frequent words first; jieba cannot hold a word with a space."""
    rows = sorted(((word, max(1, round(count))) for word, count in words), key=lambda row: (-row[1], row[0]))
    yield from (f"{word} {count}" for word, count in rows if " " not in word)
