"""Represent words and sentences by an encoder's hidden states at every layer, for Figures 4, 6 and 7 (section 5).

    python -m xling.align.represent_encoder --encoder models/fr.mono.s1 --vocab vocab/ --sentences parallel:fr=fr.txt \\
        --text train.txt.zst --lines 500000 --words 200000 --untrained --out states/fr.mono.s1

The output folder gets a subfolder `trained/` and, with --untrained, a subfolder `untrained/` for an encoder of the same
shape and vocabulary that has the initial weights. Both contain files of hidden states (see xling.align.states):

    NAME.LANGUAGE.safetensors     mean over the subwords of each sentence, special tokens excluded; per --sentences
    words.LANGUAGE.safetensors    mean over all occurrences of a word in --lines lines of the text, where an occurrence
                                  is the mean over its subwords; for the --words most frequent words
    rows.LANGUAGE.safetensors     rows of the embedding matrix, for those words that are a single subword

states.json describes the inputs and is written last. Memory: the sums, (layers + 1) x words x width in float32 (5.5 GB
at the paper's scale, on the GPU if there is one), a count for each distinct word of the lines, and the subwords of the
lines (under 2 kB per line). Word vectors are stored in float16 because there are many of them. Sentence vectors differ
little compared with their mean, so they are stored in float32.
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

from xling.align.mapping import Matrix
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
from xling.pretrain.config import read_run
from xling.pretrain.record import language_index, open_encoder


class SentenceFile(NamedTuple):
    """A named set of sentences of one language."""

    name: str
    language: str
    path: Path


@dataclass(frozen=True, slots=True)
class Sample:
    """An evenly spaced sample of the lines of a text; it is the same at every iteration and not held in memory."""

    path: Path
    lines: int
    of: int

    @classmethod
    def take(cls, path: Path, wanted: int) -> "Sample":
        """Return a sample of `wanted` lines, or of all lines if the text has fewer."""
        lines = sum(1 for _ in read_lines(path))
        if not lines:
            raise InputError(path, "empty where text was expected", fix="make the corpus again")
        return cls(path, min(wanted, lines), lines)

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the words of each line."""
        for number, line in enumerate(read_lines(self.path)):
            if (number + 1) * self.lines // self.of > number * self.lines // self.of:
                yield line.split()

    def frequent_words(self, most: int) -> dict[str, int]:
        """Return the `most` most frequent words with their counts, by descending count, then by spelling."""
        counts = Counter(word for words in self for word in words)
        return dict(nsmallest(most, counts.items(), key=lambda entry: (-entry[1], entry[0])))


def word_window(
    vocabulary: Vocabulary, language: str, words: Sequence[str], rows: Mapping[str, int], ends: bool = False
) -> Window:
    """Return the subwords of a line, each with the row of its word and the weight 1 / (number of subwords in the word).

    With `ends`, `</s>` is inserted between the sentences of the line, as in training.
    """
    parts: list[Window] = []
    for sentence in split_sentences(words) if ends else [words]:
        ids, firsts = vocabulary.word_pieces(language, sentence)
        lengths = np.diff([*firsts, len(ids)])
        owners = np.array([rows.get(word, NOWHERE) for word in sentence], dtype=np.int64)
        parts += [Window(np.array([END]), np.array([NOWHERE]), np.array([0.0]))] if parts else []
        parts.append(Window(np.array(ids), np.repeat(owners, lengths), np.repeat(1 / lengths, lengths)))
    return Window(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Encoders:
    """An encoder and perhaps its untrained twin; text is split into subwords, the slowest step, once for both."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.described, self.vocabulary = read_run(args.encoder / "run.json"), Vocabulary.load(args.vocab)
        self.out, self.ends, device = args.out, args.sentence_ends, local_device(args.device)
        asked = {file.language for file in args.sentences}
        self.indexes = {code: language_index(self.described, code, "--sentences") for code in sorted(asked)}
        seeds = {TRAINED: None} | ({UNTRAINED: self.described.seed} if args.untrained else {})
        self.kinds = {
            kind: open_encoder(args.encoder, self.described, self.vocabulary, seed).to(device)
            for kind, seed in seeds.items()
        }

    def represent_sentences(self, file: SentenceFile) -> dict[str, Any]:
        """Write the mean over the subwords of each sentence at every layer; return a description of the input."""
        sentences = [text for (text,) in read_aligned([file.path])]
        spelled = (np.array(self.vocabulary.encode_line(file.language, sentence)) for sentence in sentences)
        whole = (Window(x, np.full(len(x), row), np.full(len(x), 1 / len(x))) for row, x in enumerate(spelled))
        windows = self._cut(whole)
        for kind, encoder in self.kinds.items():
            totals = add_up(encoder, self.indexes[file.language], windows, len(sentences))
            self._write(kind, file.name, file.language, [layer.cpu().numpy() for layer in totals], sentences)
        return {"sentences": len(sentences), "text": sha256_of(file.path)}

    def represent_words(self, text: Path, lines: int, most: int) -> dict[str, Any]:
        """Write the mean over all occurrences of each word, and embedding rows; return a description of the input."""
        code, *others = self.described.languages
        if others:
            raise XlingError("--text is for an encoder of one language")
        sample = Sample.take(text, lines)
        counts = sample.frequent_words(most)
        words, ids = list(counts), [self.vocabulary.encode_words(code, [word]) for word in counts]
        single = {word: own[0] for word, own in zip(words, ids, strict=True) if len(own) == 1 and own[0] != UNKNOWN}
        if not single:
            raise XlingError(f"no {code} word of the text is a single subword: Figure 4a needs some")
        rows = {word: row for row, word in enumerate(words)}
        tracked = track(sample, f"spelling {code} words", sample.lines)
        windows = self._cut(word_window(self.vocabulary, code, line, rows, self.ends) for line in tracked)
        for kind, encoder in self.kinds.items():
            read = track(windows, f"reading {code} words", len(windows), "windows")
            totals = add_up(encoder, 0, read, len(words))
            often = torch.tensor(list(counts.values()), device=totals.device)[:, None]
            self._write(kind, "words", code, [(layer / often).half().cpu().numpy() for layer in totals], words)
            table = encoder.path(0).embeddings.token.detach()[list(single.values())]
            self._write(kind, "rows", code, [table.float().cpu().numpy()], list(single))
        found = {"words": len(counts), "one_subword": len(single), "rarest": min(counts.values())}
        return found | {"lines": sample.lines, "lines_of_text": sample.of, "text": sha256_of(text)}

    def _cut(self, whole: Iterable[Window]) -> list[Window]:
        """Return windows of at most the sequence length used in pretraining."""
        return [window for line in whole for window in cut(line, self.described.pretrain.length)]

    def _write(self, kind: str, name: str, language: str, layers: list[Matrix], items: list[str]) -> None:
        write_states(states_file(self.out, kind, name, language), layers, {"encoder": kind}, items)


def main() -> None:
    """Write all hidden states requested on the command line, then states.json."""
    args = parse_args()
    use_one_thread(local_device(args.device))
    encoders = Encoders(args)
    sets = {f"{file.name}.{file.language}": encoders.represent_sentences(file) for file in args.sentences}
    if args.text:
        sets[f"words.{encoders.described.languages[0]}"] = encoders.represent_words(args.text, args.lines, args.words)
    files = {"weights": args.encoder / "model.safetensors", "vocabulary": args.vocab / "vocab.json"}
    made = {"config": args.config_hash, "torch": torch.__version__}
    hashes = {name: sha256_of(path) for name, path in files.items()}
    write_json(args.out / "states.json", {"sets": sets, "encoders": list(encoders.kinds), **made, **hashes})
    for name, about in sets.items():
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
