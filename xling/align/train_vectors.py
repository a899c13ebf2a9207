"""Train fastText vectors on the text of a study: the baseline of Figure 4 if no published vectors are used.

python -m xling.align.train_vectors --text corpus/fr.wiki/train.txt.zst --width 300 --epochs 5 --min-count 5 \
    --out vectors/fr.vec

The model is skip-gram with subwords as in Bojanowski et al. (2017), who trained the published vectors: five negative
samples, windows of five words, character n-grams of three to six letters. Training uses one thread, because results of
several threads differ from run to run.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.fasttext import FastText

from xling.core.cli import positive
from xling.core.errors import InputError, run
from xling.core.io import read_lines, write_text
from xling.core.log import log_to_stderr
from xling.core.seeds import numpy_rng

WINDOW, NEGATIVE, NGRAMS = 5, 5, (3, 6)
BUCKETS = 2_000_000
SUBSAMPLE = 1e-4
DECIMALS = 5
LONGEST = 1_000  # longer lines are split into parts of so many words; gensim ignores a line's words after the 10,000th


class Sentences:
    """The words of a text, line by line; can be iterated several times."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[list[str]]:
        for line in read_lines(self.path):
            words = line.split()
            yield from (words[start : start + LONGEST] for start in range(0, len(words), LONGEST))


class Progress(CallbackAny2Vec):  # type: ignore[misc]
    """Logs one line per epoch."""

    def __init__(self, epochs: int) -> None:
        self.log, self.epochs, self.epoch = log_to_stderr(__name__), epochs, 0

    def on_epoch_end(self, model: FastText) -> None:
        """Log the end of an epoch."""
        self.epoch += 1
        self.log.info("epoch %d of %d, %d words with vectors", self.epoch, self.epochs, len(model.wv))


def train(path: Path, width: int, epochs: int, min_count: int, buckets: int) -> FastText:
    """Train a model on a text and return it; words that occur fewer than `min_count` times have no vector."""
    model = FastText(
        vector_size=width, window=WINDOW, negative=NEGATIVE, min_n=NGRAMS[0], max_n=NGRAMS[1], bucket=buckets, sg=1,
        sample=SUBSAMPLE, min_count=min_count, workers=1, seed=int(numpy_rng("vectors", 1).integers(2**31)),
    )  # fmt: skip
    text = Sentences(path)
    model.build_vocab(text)
    if not len(model.wv):
        raise InputError(path, f"no word occurs {min_count} times", fix="give it more text or lower min_count")
    model.train(text, total_examples=model.corpus_count, epochs=epochs, callbacks=[Progress(epochs)])
    return model


def main() -> None:
    """Train vectors and write them in fastText's text format, most frequent words first."""
    args = parse_args()
    vectors = train(args.text, args.width, args.epochs, args.min_count, args.buckets).wv
    with write_text(args.out, sealed=True) as handle:
        handle.write(f"{len(vectors)} {vectors.vector_size}\n")
        for word, vector in zip(vectors.index_to_key, vectors.vectors, strict=True):
            handle.write(f"{word} {' '.join(f'{value:.{DECIMALS}f}' for value in vector)}\n")


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, help="tokenised text, one paragraph per line")
    parser.add_argument("--width", type=positive, default=300)
    parser.add_argument("--epochs", type=positive, default=5)
    parser.add_argument("--min-count", type=positive, default=5, help="rarer words have no vector")
    parser.add_argument("--buckets", type=positive, default=BUCKETS, help="rows of the table that n-grams share")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
