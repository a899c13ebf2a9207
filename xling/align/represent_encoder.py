"""Represent words and sentences with an encoder, at every layer: what Figures 4, 6 and 7 are made from (section 5).

    python -m xling.align.represent_encoder --encoder models/fr.mono.s1 --vocab vocab/ --sentences parallel:fr=fr.txt \\
        --text train.txt.zst --lines 500000 --words 200000 --untrained --out states/fr.mono.s1

Into the folder go `trained/`, and with --untrained `untrained/`: an encoder of the same shape and vocabulary whose
weights are the ones that training began with. In each are files of layer states (see xling.align.states):

    NAME.LANGUAGE.safetensors     means of each sentence's subwords without special tokens, for every --sentences
    words.LANGUAGE.safetensors    means over all occurrences of a word in --lines lines of the text, itself the mean of
                                  its subwords, for the --words most frequent words
    rows.LANGUAGE.safetensors     rows of the embedding matrix, for those of the words that are one subword

states.json says what they were made from and comes last. Memory: the sums, (layers + 1) x words x width in float32
(5.5 GB at the paper's scale, on the GPU where there is one), a count for every word of the lines, and the subwords of
the lines (under 2 kB a line). Words are kept in float16, because there are many; the differences between sentences are
small beside their mean, so those are in float32.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from xling.align.pooling import NOWHERE, Window, add_up, cut
from xling.align.states import TRAINED, UNTRAINED, states_file, write_states
from xling.bpe.encode_text import split_sentences
from xling.bpe.streams import END
from xling.bpe.vocabulary import UNKNOWN, Vocabulary
from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_lines, sha256_of, write_json
from xling.core.log import log_to_stderr, track
from xling.data.parallel import read_aligned
from xling.model.device import local_device, use_one_thread
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.trained import language_index, open_encoder

WORDS, ROWS = "words", "rows"


class SentenceFile(NamedTuple):
    """A named set of sentences of one language."""

    name: str
    language: str
    path: Path


@dataclass(frozen=True, slots=True)
class Sample:
    """Some lines of a text, the same ones whenever it is read; none of them is kept in memory."""

    path: Path
    lines: int
    of: int

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the words of each line."""
        for number, line in enumerate(read_lines(self.path)):
            if (number + 1) * self.lines // self.of > number * self.lines // self.of:
                yield line.split()


def sample_lines(path: Path, wanted: int) -> Sample:
    """Return lines spread evenly over a text, or all where it has no more."""
    lines = sum(1 for _ in read_lines(path))
    if not lines:
        raise InputError(path, "empty where text was expected", fix="make the corpus again")
    return Sample(path, min(wanted, lines), lines)


def frequent_words(sample: Sample, most: int) -> dict[str, int]:
    """Return the most frequent words and how often each occurs, the most frequent first; ties go by spelling."""
    counts: Counter[str] = Counter()
    for words in sample:
        counts.update(words)
    if not counts:
        raise InputError(sample.path, "no words in the lines that were taken", fix="make the corpus again")
    return dict(nsmallest(most, counts.items(), key=lambda entry: (-entry[1], entry[0])))


@dataclass(frozen=True, slots=True)
class Reader:
    """An encoder and how a language reaches it; `longest` is how many tokens it has learnt to read."""

    encoder: Encoder
    vocabulary: Vocabulary
    language: str
    index: int
    longest: int
    ends: bool = False  # whether `</s>` stands between the sentences of a line, as in the streams it was trained on

    def sentence_states(self, sentences: Sequence[str]) -> list[np.ndarray[Any, Any]]:
        """Return the mean of each sentence's subwords at every layer."""
        spelled = (np.array(self.vocabulary.encode_line(self.language, sentence)) for sentence in sentences)
        whole = (Window(x, np.full(len(x), row), np.full(len(x), 1 / len(x))) for row, x in enumerate(spelled))
        totals = add_up(self.encoder, self.index, self._cut(whole), len(sentences))
        return [layer.cpu().numpy() for layer in totals]

    def word_windows(self, sample: Sample, words: Iterable[str]) -> list[Window]:
        """Return the lines as this encoder, or another of its vocabulary, reads them for the states of these words."""
        rows = {word: row for row, word in enumerate(words)}
        lines = track(sample, f"spelling {self.language} words", sample.lines)
        whole = (word_window(self.vocabulary, self.language, line, rows, self.ends) for line in lines)
        return list(self._cut(whole))

    def word_states(self, windows: Sequence[Window], often: Sequence[int]) -> list[np.ndarray[Any, Any]]:
        """Return the mean over all occurrences of each word at every layer, in float16; `often` counts them."""
        read = track(windows, f"reading {self.language} words", len(windows), "windows")
        totals = add_up(self.encoder, self.index, read, len(often))
        counts = torch.tensor(often, device=totals.device)[:, None]
        return [(layer / counts).half().cpu().numpy() for layer in totals]

    def embedding_rows(self, words: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return the rows of the embedding matrix of words that are one subword."""
        ids = self.vocabulary.encode_words(self.language, words)
        table = self.encoder.path(self.index).embeddings.token
        return np.asarray(table.detach()[ids].float().cpu().numpy())

    def _cut(self, whole: Iterable[Window]) -> Iterator[Window]:
        return (window for line in whole for window in cut(line, self.longest))


def word_window(
    vocabulary: Vocabulary, language: str, words: Sequence[str], rows: Mapping[str, int], ends: bool = False
) -> Window:
    """Return a line's subwords, each with its word's row and one over the number of its word's subwords."""
    first, *others = [
        _sentence_words(vocabulary, language, part, rows) for part in (split_sentences(words) if ends else [words])
    ]
    end = Window(np.array([END]), np.array([NOWHERE]), np.array([0.0]))
    return Window(*(np.concatenate(parts) for parts in zip(first, *(w for o in others for w in (end, o)), strict=True)))


def _sentence_words(vocabulary: Vocabulary, language: str, words: Sequence[str], rows: Mapping[str, int]) -> Window:
    ids, firsts = vocabulary.word_pieces(language, words)
    lengths = np.diff([*firsts, len(ids)])
    owners = np.array([rows.get(word, NOWHERE) for word in words], dtype=np.int64)
    return Window(np.array(ids), np.repeat(owners, lengths), np.repeat(1 / lengths, lengths))


def single_words(vocabulary: Vocabulary, language: str, words: Iterable[str]) -> list[str]:
    """Return the words that are one known subword (Figure 4a)."""
    spelled = ((word, vocabulary.encode_words(language, [word])) for word in words)
    found = [word for word, ids in spelled if len(ids) == 1 and ids[0] != UNKNOWN]
    if not found:
        raise XlingError(f"no {language} word of the text is a single subword: Figure 4a needs some")
    return found


def represent_sentences(readers: Mapping[str, Mapping[str, Reader]], file: SentenceFile, out: Path) -> dict[str, Any]:
    """Write the states of one set of sentences and return what they are."""
    sentences = [text for (text,) in read_aligned([file.path])]
    for kind, by_language in readers.items():
        states = by_language[file.language].sentence_states(sentences)
        write_states(states_file(out, kind, file.name, file.language), states, {"encoder": kind}, sentences)
    return {"sentences": len(sentences), "text": sha256_of(file.path)}


def represent_words(readers: Mapping[str, Reader], text: Path, lines: int, most: int, out: Path) -> dict[str, Any]:
    """Write the states of words and the rows of the embedding matrix and return what they are."""
    reader = readers[TRAINED]
    sample = sample_lines(text, lines)
    counts = frequent_words(sample, most)
    single = single_words(reader.vocabulary, reader.language, counts)
    windows, often = reader.word_windows(sample, counts), list(counts.values())  # spelling takes longer than a GPU does
    for kind, one in readers.items():
        states = one.word_states(windows, often)
        write_states(states_file(out, kind, WORDS, one.language), states, {"encoder": kind}, list(counts))
        rows = [one.embedding_rows(single)]
        write_states(states_file(out, kind, ROWS, one.language), rows, {"encoder": kind}, single)
    found = {"words": len(counts), "one_subword": len(single), "rarest": min(counts.values())}
    return found | {"lines": sample.lines, "lines_of_text": sample.of, "text": sha256_of(text)}


def open_readers(args: argparse.Namespace) -> dict[str, dict[str, Reader]]:
    """Return for each kind of encoder a reader of each of its languages."""
    described, vocabulary = read_run(args.encoder / "run.json"), Vocabulary.load(args.vocab)
    seeds = {TRAINED: None} | ({UNTRAINED: described.seed} if args.untrained else {})
    device = local_device(args.device)
    encoders = {
        kind: open_encoder(args.encoder, described, vocabulary, seed).to(device) for kind, seed in seeds.items()
    }
    asked = dict.fromkeys(file.language for file in args.sentences)
    indexes = {code: language_index(described, code, "--sentences") for code in (*described.languages, *asked)}
    longest, ends = described.pretrain.length, args.sentence_ends
    return {
        kind: {code: Reader(encoder, vocabulary, code, index, longest, ends) for code, index in indexes.items()}
        for kind, encoder in encoders.items()
    }


def represent(args: argparse.Namespace) -> dict[str, Any]:
    """Write all states that the command line asks for and return what states.json says."""
    readers = open_readers(args)
    sets = {f"{file.name}.{file.language}": represent_sentences(readers, file, args.out) for file in args.sentences}
    if args.text:
        code, *others = readers[TRAINED]
        if others:
            raise XlingError("--text is for an encoder of one language")
        own = {kind: by_language[code] for kind, by_language in readers.items()}
        sets[f"{WORDS}.{code}"] = represent_words(own, args.text, args.lines, args.words, args.out)
    files = {"weights": args.encoder / "model.safetensors", "vocabulary": args.vocab / "vocab.json"}
    hashes = {name: sha256_of(path) for name, path in files.items()}
    return {"sets": sets, "encoders": list(readers), "config": args.config_hash, "torch": torch.__version__, **hashes}


def main() -> None:
    """Represent words and sentences."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    found = represent(args)
    write_json(args.out / "states.json", found)
    for name, about in found["sets"].items():
        log_to_stderr(__name__).info("%s: %s", name, ", ".join(f"{key} {value}" for key, value in about.items()))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a pretrained model")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary directory")
    parser.add_argument("--sentences", type=_sentence_file, action="append", default=[], metavar="NAME:LANGUAGE=FILE")
    parser.add_argument("--text", type=Path, help="tokenised text of the encoder's one language")
    parser.add_argument("--lines", type=positive, default=500_000, help="lines of the text that are read")
    parser.add_argument("--words", type=positive, default=200_000, help="words that are kept")
    parser.add_argument("--sentence-ends", action="store_true", help="</s> between the sentences of a line of --text")
    parser.add_argument("--untrained", action="store_true", help="also represent everything with an untrained encoder")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--config-hash", default="", help="what the states belong to")
    parser.add_argument("--out", type=Path, required=True, help="folder")
    return parser.parse_args()


def _sentence_file(text: str) -> SentenceFile:
    name, _, rest = text.partition(":")
    language, _, path = rest.partition("=")
    if not (name and language and path):
        raise argparse.ArgumentTypeError(f"expected NAME:LANGUAGE=FILE, found {text!r}")
    return SentenceFile(name, language, Path(path))


if __name__ == "__main__":
    run(main)
