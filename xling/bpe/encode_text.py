"""Turn texts into token streams.

    python -m xling.bpe.encode_text --vocab DIR --language en --split train=train.txt.zst --split valid=valid.txt.zst \\
        --out DIR --processes 4

The ids are those of the language's sentencepiece model, so one stream serves every vocabulary that is built from it.
Chunks of lines are encoded in parallel and written in order: the output does not depend on the number of processes.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xling.bpe.streams import END, TokenStreamWriter, pack
from xling.bpe.vocabulary import Vocabulary
from xling.core.cli import named_paths, positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_lines
from xling.core.log import Progress, log_to_stderr
from xling.core.pool import workers

CHUNK_CHARACTERS = 1 << 20
FINAL = frozenset(".!?。！？")  # words that end a sentence
Encoded = tuple[NDArray[np.int32], NDArray[np.int64]]  # packed lines


def chunk_lines(lines: Iterable[str], characters: int) -> Iterator[list[str]]:
    """Yield lists of consecutive lines with about the given number of characters per list."""
    chunk: list[str] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line) + 1
        if size >= characters:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def split_sentences(words: Sequence[str]) -> list[Sequence[str]]:
    """Return the sentences of a tokenised line; there is at least one."""
    ends = [number + 1 for number, word in enumerate(words[:-1]) if word in FINAL]
    return [words[start:end] for start, end in zip([0, *ends], [*ends, len(words)], strict=True)]


def encode_sentences(vocabulary: Vocabulary, language: str, line: str) -> list[int]:
    """Return the ids of a tokenised line with `</s>` between its sentences."""
    first, *others = split_sentences(line.split())
    ids = vocabulary.encode_words(language, first)
    return [*ids, *(i for words in others for i in (END, *vocabulary.encode_words(language, words)))]


@cache  # a vocabulary is read once per process, not once per chunk
def load_pieces(vocab: Path, language: str) -> Vocabulary:
    """Return the vocabulary for token streams, whose ids are those of the sentencepiece model."""
    return Vocabulary.load(vocab).of_pieces(language)


def encode_chunk(vocab: Path, language: str, sentence_ends: bool, lines: list[str]) -> Encoded:
    """Return the ids of lines with `</s>` after each line and, with `sentence_ends`, after each sentence."""
    vocabulary, encode = load_pieces(vocab, language), encode_sentences if sentence_ends else Vocabulary.encode_line
    return pack([encode(vocabulary, language, line) for line in lines])


def write_split(
    writer: TokenStreamWriter, split: str, text: Path, encode: Callable[[Iterable[list[str]]], Iterator[Encoded]]
) -> None:
    """Encode one text and write it as a split."""
    progress, lines = Progress(f"encoding {text.name}", unit="tokens"), 0
    for ids, lengths in encode(chunk_lines(read_lines(text), CHUNK_CHARACTERS)):
        writer.add(split, ids, lengths)
        lines += len(lengths)
        progress.add(len(ids))
    if progress.done == lines:  # only ends of lines
        raise InputError(text, "no text to encode", fix="check the stage that wrote this file")
    progress.finish()


def main() -> None:
    """Encode the texts of one language as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", type=Path, required=True, help="directory of a vocabulary built from the model")
    parser.add_argument("--language", required=True)
    parser.add_argument("--split", action="append", required=True, help="train=train.txt.zst, valid=…, test=…")
    parser.add_argument("--out", type=Path, required=True, help="directory of the token streams")
    parser.add_argument("--sentence-ends", action="store_true", help="</s> between the sentences of a line too")
    parser.add_argument("--processes", type=positive, default=1)
    args = parser.parse_args()
    log, texts = log_to_stderr(__name__), named_paths(args.split, "--split", "SPLIT=PATH")
    if unknown := set(texts) - {"train", "valid", "test"}:
        raise XlingError(f"--split {min(unknown)}: expected train=PATH, valid=PATH or test=PATH")
    size = load_pieces(args.vocab, args.language).size
    encode = partial(encode_chunk, args.vocab, args.language, args.sentence_ends)
    with workers(args.processes) as share, TokenStreamWriter(args.out, size, args.language) as writer:
        for split, text in texts.items():
            write_split(writer, split, text, partial(share, encode))
    for split, sizes in writer.sizes.items():
        log.info("%s: %d lines, %d tokens, %d unknown", split, sizes["lines"], sizes["tokens"], sizes["unknown"])


if __name__ == "__main__":
    run(main)
