"""Turn texts into token streams.

    python -m xling.bpe.encode_text --vocab DIR --language en --split train=train.txt.zst --split valid=valid.txt.zst \\
        --out DIR --processes 4

Chunks of lines are encoded in any number of processes and written in their order: the bytes are always the same.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

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
FINAL = frozenset(".!?。！？")  # a word that is one of these ends a sentence


class Encoded(NamedTuple):
    """Packed lines and how much text they were."""

    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    characters: int


Encode = Callable[[Iterable[list[str]]], Iterator[Encoded]]


def load_vocabulary(directory: Path, language: str) -> Vocabulary:
    """Read a vocabulary and check that none of its ids is outside the range that streams of a language may use."""
    vocabulary = Vocabulary.load(directory)
    ids, size = vocabulary.ids(language), vocabulary.size_of(language)
    if ids.min() < 0 or ids.max() >= size:
        problem = f"{language} has ids from {ids.min()} to {ids.max()}, but only {size} are allowed"
        raise InputError(directory / "vocab.json", problem, fix="make the vocabulary again")
    return vocabulary


def encode_lines(vocabulary: Vocabulary, language: str, lines: list[str], sentence_ends: bool = False) -> Encoded:
    """Return the ids of the lines, `</s>` after each, and after each sentence in it if wanted."""
    encode = encode_sentences if sentence_ends else Vocabulary.encode_line
    ids, lengths = pack([encode(vocabulary, language, line) for line in lines])
    return Encoded(ids, lengths, sum(map(len, lines)))


def encode_sentences(vocabulary: Vocabulary, language: str, line: str) -> list[int]:
    """Return the ids of a tokenised line with `</s>` between its sentences."""
    first, *others = split_sentences(line.split())
    ids = vocabulary.encode_words(language, first)
    return [*ids, *(i for words in others for i in (END, *vocabulary.encode_words(language, words)))]


def split_sentences(words: Sequence[str]) -> list[Sequence[str]]:
    """Return the sentences of a tokenised line, at least one."""
    ends = [number + 1 for number, word in enumerate(words[:-1]) if word in FINAL]
    return [words[start:end] for start, end in zip([0, *ends], [*ends, len(words)], strict=True)]


def chunk_lines(lines: Iterable[str], characters: int) -> Iterator[list[str]]:
    """Yield runs of whole lines with about the given number of characters."""
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


@contextmanager
def encoding(vocab: Path, language: str, processes: int, sentence_ends: bool = False) -> Iterator[Encode]:
    """Give a function that encodes chunks in order, here or in worker processes."""
    with workers(processes, partial(_start_worker, vocab, language, sentence_ends)) as share:
        yield lambda chunks: share(_encode_in_worker, chunks)


def write_split(writer: TokenStreamWriter, split: str, text: Path, encode: Encode) -> None:
    """Encode one text into a split, showing tokens per second and the time left."""
    characters = sum(map(len, read_lines(text)))
    if not characters:
        raise InputError(text, "no text to encode", fix="an empty language? see the stage that wrote it")
    progress = Progress(f"encoding {text.name}", unit="tokens")
    seen = 0
    for chunk in encode(chunk_lines(read_lines(text), CHUNK_CHARACTERS)):
        writer.add(split, chunk.ids, chunk.lengths)
        seen += chunk.characters
        progress.total = (progress.done + len(chunk.ids)) * characters / max(seen, 1)
        progress.add(len(chunk.ids))
    progress.finish()


_worker: tuple[Vocabulary, str, bool]


def _start_worker(vocab: Path, language: str, sentence_ends: bool) -> None:
    """Load the vocabulary once per process, not once per chunk."""
    global _worker  # noqa: PLW0603
    _worker = load_vocabulary(vocab, language), language, sentence_ends


def _encode_in_worker(lines: list[str]) -> Encoded:
    vocabulary, language, sentence_ends = _worker
    return encode_lines(vocabulary, language, lines, sentence_ends)


def main() -> None:
    """Encode the texts of one language as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--language", required=True)
    parser.add_argument("--split", action="append", required=True, help="train=train.txt.zst, valid=…, test=…")
    parser.add_argument("--out", type=Path, required=True, help="directory of the token streams")
    parser.add_argument("--sentence-ends", action="store_true", help="</s> between the sentences of a line too")
    parser.add_argument("--processes", type=positive, default=1)
    args = parser.parse_args()
    log, texts = log_to_stderr(__name__), named_paths(args.split, "--split", "SPLIT=PATH")
    if unknown := set(texts) - {"train", "valid", "test"}:
        raise XlingError(f"--split {min(unknown)}: expected train=PATH, valid=PATH or test=PATH")
    size = load_vocabulary(args.vocab, args.language).size_of(args.language)
    with (
        encoding(args.vocab, args.language, args.processes, args.sentence_ends) as encode,
        TokenStreamWriter(args.out, size, args.language) as writer,
    ):
        for split, text in texts.items():
            write_split(writer, split, text, encode)
    for split, files in writer.splits.items():
        log.info("%s: %d lines, %d tokens, %d unknown", split, files.lines, files.tokens, files.unknown)


if __name__ == "__main__":
    run(main)
