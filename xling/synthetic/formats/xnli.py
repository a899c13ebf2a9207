"""XNLI 1.0 dev and test, the English training file of XNLI-MT-1.0, and the multi-way parallel XNLI-15way."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from xling.core.io import write_text
from xling.synthetic.formats.tokens import surface
from xling.synthetic.types import NliPair, Sentence

COLUMNS = (
    "language", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse",
    "sentence2_parse", "sentence1", "sentence2", "promptID", "pairID", "genre", "label1", "label2", "label3",
    "label4", "label5", "sentence1_tokenized", "sentence2_tokenized", "match",
)  # fmt: skip
GENRES = (
    "facetoface", "fiction", "government", "letters", "nineeleven", "oup", "slate", "telephone", "travel", "verbatim",
)  # fmt: skip
ANNOTATORS = 5
TRAINING_LABELS = {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradictory"}


def write_training(path: Path, pairs: Iterable[tuple[Sentence, Sentence, str]]) -> None:
    """Write labelled pairs as multinli.train.en.tsv, with its own word for a contradiction."""
    with write_text(path) as handle:
        handle.write("premise\thypo\tlabel\n")
        handle.writelines(f"{one.text}\t{two.text}\t{TRAINING_LABELS[label]}\n" for one, two, label in pairs)


def write_evaluation(
    path: Path, pairs: Sequence[NliPair], realised: Mapping[str, Sequence[tuple[Sentence, Sentence]]]
) -> None:
    """Write the same pairs in every language, language after language, in the 19 columns of XNLI."""
    with write_text(path) as handle:
        handle.write("\t".join(COLUMNS) + "\n")
        for code in sorted(realised):
            for number, (pair, sentences) in enumerate(zip(pairs, realised[code], strict=True), start=1):
                handle.write("\t".join(evaluation_row(code, number, pair.label, *sentences)) + "\n")


def evaluation_row(code: str, number: int, label: str, premise: Sentence, hypothesis: Sentence) -> list[str]:
    """Return the 19 values of one pair; the parses are empty, as they are for most languages of XNLI."""
    genre = GENRES[number % len(GENRES)]
    texts = [premise.text, hypothesis.text]
    return [
        *(code, label, "", "", "", "", *texts, str(number), str(number), genre),
        *([label] * ANNOTATORS),
        *(tokenised(premise), tokenised(hypothesis), "True"),
    ]


def tokenised(sentence: Sentence) -> str:
    """Return the printed tokens with spaces between them."""
    return " ".join(token.form for token in surface(sentence))


def write_parallel(path: Path, columns: Mapping[str, Sequence[str]]) -> None:
    """Write one column a language, codes in the header, as xnli.15way.orig.tsv has them."""
    codes = sorted(columns)
    with write_text(path) as handle:
        handle.write("\t".join(codes) + "\n")
        for row in zip(*(columns[code] for code in codes), strict=True):
            handle.write("\t".join(row) + "\n")


def write_column(path: Path, lines: Iterable[str]) -> None:
    """Write a further version of one column, a line a row, without a header."""
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)
