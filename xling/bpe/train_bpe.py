"""Train a BPE model: python -m xling.bpe.train_bpe --input en.txt.zst fr.txt.zst --merges 80000 --out joint.model

The text is already tokenised, so BPE can learn from words with counts, like the paper's Sennrich-style merges. Words
are counted here in one pass over a sample of lines, and sentencepiece gets each word once with its count. Its memory
then grows with the number of different words, not with the size of the text.

The vocabulary is special tokens + merges + characters (including the word-start mark U+2581). The characters are known
before training, so the vocabulary size for exactly N merges is too; the merges are counted again after training.
"""

import argparse
import contextlib
import io
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import atomic_path, read_lines
from xling.core.log import log_to_stderr, track
from xling.core.seeds import python_rng

SPECIAL_TOKENS = ("<pad>", "<unk>", "</s>", "<mask>")  # ids 0 to 3 of every vocabulary
WORD_START = "\u2581"
RESERVED = (WORD_START, "\u2585", "\0", *SPECIAL_TOKENS)  # reserved by sentencepiece
WORD_CHARACTERS = 1000  # longer "words" are noise, and sentencepiece stores positions in 16 bits
WORD_LIMIT = 4_000_000  # number of different words kept, the most frequent ones: about 3 GB in sentencepiece
SETTINGS: dict[str, Any] = {  # special tokens, and no normalisation of the text
    "pad_id": 0,
    "unk_id": 1,
    "eos_id": 2,
    "bos_id": -1,
    **dict(zip(("pad_piece", "unk_piece", "eos_piece", "control_symbols"), SPECIAL_TOKENS, strict=True)),
    "normalization_rule_name": "identity",
    "character_coverage": 1.0,
    "split_by_unicode_script": False,
    "split_by_number": False,
    "max_sentencepiece_length": 256,  # the default of 16 would forbid long merges (the maximum is 512)
    "max_sentence_length": 8 * WORD_CHARACTERS,
    "num_threads": 1,
    "minloglevel": 2,
}


def train_bpe(paths: Sequence[Path], merges: int, max_lines: int, seed: int, balance: str = "lines") -> bytes:
    """Return a sentencepiece model with exactly `merges` merges, trained on equally many lines, or words, per text."""
    words = usable_words(count_words(sample_texts(paths, max_lines, seed, balance)))
    if not words:
        raise InputError(paths[0], "no words in it", fix="BPE needs tokenised text")
    model = fit(words, merges)
    trained = sentencepiece.SentencePieceProcessor(model_proto=model)
    possible = sum(len(trained.id_to_piece(i)) > 1 for i in range(len(SPECIAL_TOKENS), len(trained)))
    if possible != merges:
        names = " + ".join(map(str, paths))
        raise XlingError(f"{names}: {merges} merges asked for, {possible} possible (more text, or fewer merges)")
    return model


def sample_texts(paths: Sequence[Path], max_lines: int, seed: int, balance: str = "lines") -> Iterator[str]:
    """Yield equally many lines, or about equally many words, from each text; the smallest text sets the number."""
    sizes = []
    for path in paths:
        lines = words = 0
        for line in read_lines(path):
            lines, words = lines + 1, words + len(line.split())
        if not words:
            raise InputError(path, "no words in it", fix="BPE needs tokenised text")
        sizes.append((lines, words))
    if balance == "lines":
        kept = [min(max_lines, *(lines for lines, _ in sizes))] * len(sizes)
    else:
        fewest = min(words * min(1.0, max_lines / lines) for lines, words in sizes)
        kept = [max(1, round(fewest * lines / words)) for lines, words in sizes]
    for number, (path, (total, _), keep) in enumerate(zip(paths, sizes, kept, strict=True)):
        yield from sample_lines(track(read_lines(path), f"reading {path.name}", total), keep, total, (seed, number))


def sample_lines(lines: Iterable[str], keep: int, total: int, seed: tuple[int, int]) -> Iterator[str]:
    """Yield a uniform sample of `keep` of the `total` lines in their order, without keeping lines in memory."""
    rng = python_rng("bpe-sample", *seed)
    for seen, line in enumerate(lines):
        if keep == total - seen or rng.random() * (total - seen) < keep:
            keep -= 1
            yield line


def count_words(lines: Iterable[str], limit: int = WORD_LIMIT) -> Counter[str]:
    """Count the words of the lines; when twice `limit` different words are exceeded, only the most frequent are kept.

    Among equally frequent words, those seen first are kept.
    """
    words: Counter[str] = Counter()
    for line in lines:
        words.update(line.split())
        if len(words) > 2 * limit:
            words = Counter(dict(words.most_common(limit)))
    return Counter(dict(words.most_common(limit))) if len(words) > limit else words


def usable_words(words: Counter[str]) -> Counter[str]:
    """Return the words that sentencepiece accepts: not too long, and without reserved characters or tokens."""
    usable = (word for word in words if len(word) <= WORD_CHARACTERS and not any(mark in word for mark in RESERVED))
    return Counter({word: words[word] for word in usable})


def fit(words: Counter[str], merges: int) -> bytes:
    """Train sentencepiece on counted words and return the bytes of the model."""
    characters = set().union(*words) | {WORD_START}
    model = io.BytesIO()
    # The model stores the path of its input. A fixed name in a temporary folder makes the bytes reproducible.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with open("words.tsv", "w", encoding="utf-8", newline="\n") as handle:
            handle.writelines(f"{word}\t{words[word]}\n" for word in sorted(words))
        sentencepiece.SentencePieceTrainer.train(
            input="words.tsv",
            input_format="tsv",
            model_writer=model,
            model_type="bpe",
            vocab_size=len(SPECIAL_TOKENS) + len(characters) + merges,
            hard_vocab_limit=False,  # train_bpe reports a text that is too small
            # sentencepiece sums coverage in 32-bit floats: beyond 16 million characters it would miss rare characters.
            required_chars="".join(sorted(characters - {WORD_START})),
            **SETTINGS,
        )
    return model.getvalue()


def main() -> None:
    """Train a model as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--input", type=Path, nargs="+", required=True, help="tokenised text, one file per language")
    parser.add_argument("--merges", type=int, required=True, help="80,000 joint or 40,000 per language in the paper")
    parser.add_argument("--balance", choices=["lines", "words"], default="lines", help="what texts have equally of")
    parser.add_argument("--max-lines", type=positive, default=10_000_000, help="lines taken of each text at most")
    parser.add_argument("--seed", type=int, required=True, help="for the sample of lines")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.merges < 0:
        raise XlingError("--merges must not be negative")
    model = train_bpe(args.input, args.merges, args.max_lines, args.seed, args.balance)
    with atomic_path(args.out.absolute(), sealed=True) as temporary:
        temporary.write_bytes(model)
    log_to_stderr(__name__).info("%d merges written to %s", args.merges, args.out)


if __name__ == "__main__":
    run(main)
