"""Train a BPE model: python -m xling.bpe.train_bpe --input en.txt.zst fr.txt.zst --merges 80000 --out joint.model

The text is already tokenised, so BPE sees it as words with counts, like the paper's Sennrich-style merges: words are
counted here in one pass over a sample of lines, and sentencepiece gets each word once with its count. Its memory then
grows with the number of different words, not with the text.

The vocabulary is special tokens + merges + characters (the mark of a word start, U+2581, is one of them). Characters
are known before training, so the size to ask for is too, and the result is counted again: exactly N merges.
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
RESERVED = (WORD_START, "\u2585", "\0", *SPECIAL_TOKENS)  # sentencepiece keeps these to itself
WORD_CHARACTERS = 1000  # sentencepiece counts positions in 16 bits; longer words are not words
WORD_LIMIT = 4_000_000  # different words kept (rare ones go first): about 3 GB in sentencepiece
SETTINGS: dict[str, Any] = {  # special tokens, and no changes to the text
    "pad_id": 0,
    "unk_id": 1,
    "eos_id": 2,
    "bos_id": -1,
    **dict(zip(("pad_piece", "unk_piece", "eos_piece", "control_symbols"), SPECIAL_TOKENS, strict=True)),
    "normalization_rule_name": "identity",
    "character_coverage": 1.0,
    "split_by_unicode_script": False,
    "split_by_number": False,
    "max_sentencepiece_length": 256,  # merges are not cut short by its limit of 16 (its own maximum is 512)
    "max_sentence_length": 8 * WORD_CHARACTERS,
    "num_threads": 1,
    "minloglevel": 2,
}


def train_bpe(paths: Sequence[Path], merges: int, max_lines: int, seed: int, balance: str = "lines") -> bytes:
    """Return a sentencepiece model with exactly so many merges, trained on as many lines, or words, of each text."""
    words = usable_words(count_words(sample_texts(paths, max_lines, seed, balance)))
    if not words:
        raise InputError(paths[0], "no words in it", fix="BPE needs tokenised text")
    model = fit(words, merges)
    possible = count_merges(sentencepiece.SentencePieceProcessor(model_proto=model))
    if possible != merges:
        names = " + ".join(map(str, paths))
        raise XlingError(f"{names}: {merges} merges asked for, {possible} possible (more text, or fewer merges)")
    return model


def sample_texts(paths: Sequence[Path], max_lines: int, seed: int, balance: str = "lines") -> Iterator[str]:
    """Yield the same number of lines, or about the same number of words, of each text: as many as all of them have."""
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
    """Yield a uniform sample of `keep` of the `total` lines in their order, holding none in memory."""
    rng = python_rng("bpe-sample", *seed)
    for seen, line in enumerate(lines):
        if keep == total - seen or rng.random() * (total - seen) < keep:
            keep -= 1
            yield line


def count_words(lines: Iterable[str], limit: int = WORD_LIMIT) -> Counter[str]:
    """Count the words of the lines; beyond twice the limit of different words the rarest are forgotten.

    Of equally rare words those that came first are kept.
    """
    words: Counter[str] = Counter()
    for line in lines:
        words.update(line.split())
        if len(words) > 2 * limit:
            words = Counter(dict(words.most_common(limit)))
    return Counter(dict(words.most_common(limit))) if len(words) > limit else words


def usable_words(words: Counter[str]) -> Counter[str]:
    """Return the words that sentencepiece can count: no longer than it allows, and without what it keeps to itself."""
    usable = (word for word in words if len(word) <= WORD_CHARACTERS and not any(mark in word for mark in RESERVED))
    return Counter({word: words[word] for word in usable})


def fit(words: Counter[str], merges: int) -> bytes:
    """Run sentencepiece on counted words and return the model's bytes."""
    characters = set().union(*words) | {WORD_START}
    model = io.BytesIO()
    # The model records the path of its input: a fixed name in a folder of its own keeps the bytes the same.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with open("words.tsv", "w", encoding="utf-8", newline="\n") as handle:
            handle.writelines(f"{word}\t{words[word]}\n" for word in sorted(words))
        sentencepiece.SentencePieceTrainer.train(
            input="words.tsv",
            input_format="tsv",
            model_writer=model,
            model_type="bpe",
            vocab_size=len(SPECIAL_TOKENS) + len(characters) + merges,
            hard_vocab_limit=False,  # we report too small a text ourselves
            # Coverage is summed in 32 bits: in more than 16 million characters a rare one is as good as none.
            required_chars="".join(sorted(characters - {WORD_START})),
            **SETTINGS,
        )
    return model.getvalue()


def count_merges(model: sentencepiece.SentencePieceProcessor) -> int:
    """Return how many pieces are neither special tokens nor single characters."""
    return sum(len(model.id_to_piece(i)) > 1 for i in range(len(SPECIAL_TOKENS), len(model)))


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
