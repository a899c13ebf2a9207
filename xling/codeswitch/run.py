"""Replace words of a training text by their translations (Extra anchors, section 4.2 of the paper).

    python -m xling.codeswitch.run --input train.txt.zst --dictionary en-fr.tsv --direction forward --seed 1 \\
        --out switched.txt.zst --stats stats.json

The dictionary has source<TAB>target<TAB>quality on each line, tokenised like the text; without a third column all
translations are equally good. `forward` switches text of the source language, `backward` text of the target
language. Blocks are seeded by (seed, direction, block number), so the result does not depend on how they are run.
"""

import argparse
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from xling.codeswitch.switch import (
    BLOCK_WORDS,
    CAP,
    KEEP,
    Counts,
    Dictionary,
    Pair,
    build_dictionary,
    split_blocks,
    switch_block,
)
from xling.core.cli import positive
from xling.core.errors import InputError, run
from xling.core.io import numbered_lines, read_lines, write_json, write_text
from xling.core.log import Progress, log_to_stderr

COLUMNS = "source<TAB>target<TAB>quality"
FEW = 0.01  # a dictionary of the text's language has far more of its words than this


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the (source, target, quality) pairs of a dictionary file."""
    for number, line in numbered_lines(path):
        fields = [" ".join(field.split()) for field in line.split("\t")]
        if len(fields) not in (2, 3):
            raise InputError(path, f"{len(fields)} columns, expected {COLUMNS}: {line!r}", line=number)
        if not fields[0] or not fields[1]:
            raise InputError(path, f"a word is missing, expected {COLUMNS}: {line!r}", line=number)
        yield fields[0], fields[1], _quality(fields[2], path, number) if len(fields) == 3 else 1.0


def load_dictionary(path: Path, direction: str, lower: bool) -> Dictionary:
    """Read a dictionary for text of its source (forward) or target (backward) language."""
    dictionary = build_dictionary(read_pairs(path), direction == "backward", lower)
    if not dictionary.entries:
        left_out = f"{dictionary.multiword_pairs} of several words, {dictionary.zero_pairs} of quality 0"
        raise InputError(path, f"no {direction} translation of a single word (left out: {left_out})")
    return dictionary


def switch_text(
    lines: Iterable[str], dictionary: Dictionary, seed: int, direction: str, keep: float, cap: float, block_words: int
) -> Iterator[tuple[list[str], Counts]]:
    """Yield the switched blocks of a text and what was done to each."""
    for number, block in enumerate(split_blocks(lines, block_words)):
        yield switch_block(block, dictionary, (seed, direction, number), keep, cap)


def describe(counts: Counts, dictionary: Dictionary) -> dict[str, object]:
    """Return what the stats file says: the counts, and what became of the dictionary words."""
    drawn = counts.replaced + counts.dropped_by_cap
    return asdict(counts) | {
        "share": counts.replaced / counts.words,
        "dictionary_share": counts.dictionary_words / counts.words,
        "drawn_share_of_dictionary_words": drawn / max(counts.dictionary_words, 1),
        "dictionary": {
            "words": len(dictionary.entries),
            "pairs": len(dictionary.targets),
            "multiword_pairs_left_out": dictionary.multiword_pairs,
            "zero_quality_pairs_left_out": dictionary.zero_pairs,
        },
    }


def _quality(text: str, path: Path, number: int) -> float:
    try:
        quality = float(text)
    except ValueError:
        quality = math.nan
    if not 0 <= quality < math.inf:
        raise InputError(path, f"quality must be a number from 0 up, found {text!r}", line=number)
    return quality


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text}")
    return share


def main() -> None:
    """Switch one text as the command line says."""
    args = parse_args()
    dictionary = load_dictionary(args.dictionary, args.direction, args.dictionary_case == "lower")
    total, progress = Counts(), Progress(f"switching {args.input.name}", unit="words")
    lines = read_lines(args.input)
    blocks = switch_text(lines, dictionary, args.seed, args.direction, args.keep, args.cap, args.block_words)
    with write_text(args.out) as out:
        for block, counts in blocks:
            out.write("\n".join(block) + "\n")
            total += counts
            progress.add(counts.words)
        if not total.words:
            raise InputError(args.input, "no words to switch", fix="an empty language? see the stage that wrote it")
        if not total.dictionary_words:
            fix = f"{COLUMNS}: is it of these languages, and the source first?"
            raise InputError(args.dictionary, f"none of the {total.words} words of {args.input} is in it", fix=fix)
    write_json(args.stats, describe(total, dictionary))
    progress.finish()
    log = log_to_stderr(__name__)
    if (share := total.dictionary_words / total.words) < FEW:
        warning = "only %.2f%% of the words of %s are in %s: is it of these languages, and the source first?"
        log.warning(warning, 100 * share, args.input, args.dictionary)
    log.info("replaced %d of %d words, %s", total.replaced, total.words, asdict(total))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True, help="tokenised text, one paragraph a line")
    parser.add_argument("--dictionary", type=Path, required=True, help=COLUMNS)
    parser.add_argument("--direction", choices=["forward", "backward"], required=True)
    parser.add_argument(
        "--dictionary-case", choices=["lower", "keep"], default="lower", help="lower for lower-cased text"
    )
    parser.add_argument("--keep", type=_share, default=KEEP, help="how often a dictionary word is left as it is")
    parser.add_argument("--cap", type=_share, default=CAP, help="largest share of replaced words in a block")
    parser.add_argument("--block-words", type=positive, default=BLOCK_WORDS)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stats", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
