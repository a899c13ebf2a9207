"""Replace words of a training text by their translations (Extra anchors, section 4.2 of the paper).

    python -m xling.codeswitch.switch_codes --input train.txt.zst --dictionary en-fr.tsv --direction forward --seed 1 \\
        --out switched.txt.zst --stats stats.json

Words are separated by spaces. A dictionary word is kept with probability 70%; otherwise it is replaced by one of its
translations, drawn in proportion to quality. The text is cut into blocks of whole lines with at most --block-words
words each (a longer line is a block by itself); at most 15% of the words of a block are replaced. The cap counts the
words that are replaced, so a translation of three words counts once. A word is looked up unchanged and then in lower
case; if only the lower-case form is found, the translation takes the casing of the word.

Each line of the dictionary is source<TAB>target or source<TAB>target<TAB>quality, tokenised like the text; the quality
is 1 unless given. `forward` switches text in the source language, `backward` text in the target language. Blocks are
seeded by (seed, direction, block number), so the result is the same for any number of processes.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import read_lines, write_json, write_text
from xling.core.log import Progress, log_to_stderr
from xling.core.pool import workers
from xling.core.seeds import numpy_rng
from xling.data.dictionary import Translation, read_tsv

KEEP = 0.7
CAP = 0.15
BLOCK_WORDS = 96 * 256  # one batch of one GPU, section 3.1 of the paper

FEW = 0.01  # warn if a smaller share of the words is in the dictionary: it may be for another language


@dataclass(frozen=True)
class Dictionary:
    """Translations of single words, indexed for random draws by quality.

    The translations of an entry are adjacent in `targets`, and each has a share of the entry's total quality. If
    `targets[j]` is a translation of entry i, `cumulative[j]` is i plus the sum of the entry's shares up to that
    translation. `cumulative` is therefore sorted, so one search in it draws translations for any number of words.
    """

    entries: dict[str, int]
    targets: list[str]
    cumulative: NDArray[np.float64]
    last: NDArray[np.int64]  # index of the last target of each entry
    left_out: dict[str, int]  # counts of multiword_pairs (cannot be looked up) and zero_quality_pairs (never drawn)


def build_dictionary(pairs: Iterable[Translation], backward: bool = False, lower: bool = True) -> Dictionary:
    """Index (source, target, quality) entries; the qualities of repeated pairs are added."""
    weights: dict[str, dict[str, float]] = {}
    left_out = {"multiword_pairs": 0, "zero_quality_pairs": 0}
    for source, target, quality in pairs:
        source, target = (target, source) if backward else (source, target)
        source, target = (source.lower(), target.lower()) if lower else (source, target)
        if " " in source or quality == 0:
            left_out["multiword_pairs" if " " in source else "zero_quality_pairs"] += 1
        else:
            targets = weights.setdefault(source, {})
            targets[target] = targets.get(target, 0.0) + quality
    shares = [np.cumsum(list(targets.values())) for targets in weights.values()]
    return Dictionary(
        entries={source: number for number, source in enumerate(weights)},
        targets=[target for targets in weights.values() for target in targets],
        cumulative=np.concatenate([np.empty(0), *(number + share / share[-1] for number, share in enumerate(shares))]),
        last=np.cumsum([len(share) for share in shares], dtype=np.int64) - 1,
        left_out=left_out,
    )


def split_blocks(lines: Iterable[str], block_words: int = BLOCK_WORDS) -> Iterator[list[str]]:
    """Yield blocks of whole lines with at most `block_words` words; a longer line is a block by itself."""
    block: list[str] = []
    size = 0
    for line in lines:
        words = line.count(" ") + 1  # an upper bound on the number of words
        if block and size + words > block_words:
            yield block
            block, size = [], 0
        block.append(line)
        size += words
    if block:
        yield block


def switch_block(
    lines: list[str], dictionary: Dictionary, key: tuple[object, ...], keep: float = KEEP, cap: float = CAP
) -> tuple[list[str], Counter[str]]:
    """Return a block with words replaced, and counts; `key` (seed, direction, block number) seeds the draws.

    The count `identical` is the number of replaced words that equal their translation.
    """
    rng = numpy_rng("codeswitch", *key)
    words = "\n".join(lines).replace("\n", " \n ").split(" ")  # a line end becomes a word that no dictionary has
    total = len(words) - words.count("") - (len(lines) - 1)
    find = dictionary.entries.get
    entries = np.array([find(w) if w in dictionary.entries else find(w.lower(), -1) for w in words], dtype=np.int64)
    known = np.flatnonzero(entries >= 0)
    drawn = known[rng.random(len(known)) >= keep]
    limit = int(cap * total + 1e-9)  # without 1e-9, 0.29 * 100 would become 28
    chosen = drawn if len(drawn) <= limit else np.sort(rng.choice(drawn, limit, replace=False))
    targets = np.searchsorted(dictionary.cumulative, entries[chosen] + rng.random(len(chosen)), side="right")
    targets = np.minimum(targets, dictionary.last[entries[chosen]])  # entry + 0.999… can round up to the next entry
    identical = 0
    for position, target in zip(chosen.tolist(), targets.tolist(), strict=True):
        word, translation = words[position], dictionary.targets[target]
        words[position] = translation if word in dictionary.entries else match_case(word, translation)
        identical += words[position] == word
    dropped = len(drawn) - len(chosen)
    counts = {"words": total, "dictionary_words": len(known), "replaced": len(chosen), "identical": identical}
    counts |= {"dropped_by_cap": dropped, "blocks": 1, "capped_blocks": int(dropped > 0)}
    return " ".join(words).replace(" \n ", "\n").split("\n"), Counter(counts)


def match_case(word: str, translation: str) -> str:
    """Return a translation with the casing of a word: upper case, capitalised, or unchanged if the word is neither."""
    if len(word) > 1 and word.isupper():
        return translation.upper()
    if word[:1].isupper():
        return translation[:1].upper() + translation[1:]
    return translation


@cache  # once per process, not once per block
def load_dictionary(path: Path, direction: str, lower: bool) -> Dictionary:
    """Read a dictionary for text in its source language (forward) or target language (backward)."""
    dictionary = build_dictionary(read_tsv(path), direction == "backward", lower)
    if not dictionary.entries:
        several, worthless = dictionary.left_out.values()
        left_out = f"left out: {several} entries that translate several words, {worthless} entries with quality 0"
        raise InputError(path, f"no usable entry for --direction {direction} ({left_out})")
    return dictionary


def switch_numbered(args: argparse.Namespace, numbered: tuple[int, list[str]]) -> tuple[list[str], Counter[str]]:
    """Switch one numbered block; with several processes, this runs in each of them."""
    number, block = numbered
    dictionary = load_dictionary(args.dictionary, args.direction, args.dictionary_case == "lower")
    return switch_block(block, dictionary, (args.seed, args.direction, number), args.keep, args.cap)


def describe(counts: Counter[str], largest: float, dictionary: Dictionary) -> dict[str, object]:
    """Return the content of the stats file: the counts, shares derived from them, and the size of the dictionary."""
    words, known = counts["words"], counts["dictionary_words"]
    about = {"words": len(dictionary.entries), "pairs": len(dictionary.targets)}
    return dict(counts) | {
        "largest_block_share": largest,
        "share": counts["replaced"] / words,
        "dictionary_share": known / words,
        "drawn_share_of_dictionary_words": (counts["replaced"] + counts["dropped_by_cap"]) / known,
        "dictionary": about | {f"{kind}_left_out": number for kind, number in dictionary.left_out.items()},
    }


def main() -> None:
    """Read the command line and switch one text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True, help="tokenised text, one paragraph per line")
    parser.add_argument("--dictionary", type=Path, required=True, help="source<TAB>target[<TAB>quality]")
    parser.add_argument("--direction", choices=["forward", "backward"], required=True)
    case = "lower: convert the dictionary to lower case, for lower-case text; keep: use it as it is"
    parser.add_argument("--dictionary-case", choices=["lower", "keep"], default="lower", help=case)
    parser.add_argument("--keep", type=float, default=KEEP, help="probability that a dictionary word is kept")
    parser.add_argument("--cap", type=float, default=CAP, help="largest share of replaced words in a block")
    parser.add_argument("--block-words", type=positive, default=BLOCK_WORDS)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--processes", type=positive, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stats", type=Path, required=True)
    args = parser.parse_args()
    if not (0 <= args.keep <= 1 and 0 <= args.cap <= 1):
        raise XlingError(f"--keep {args.keep}, --cap {args.cap}: expected numbers from 0 to 1")
    dictionary = load_dictionary(args.dictionary, args.direction, args.dictionary_case == "lower")
    total, largest, progress = Counter[str](), 0.0, Progress(f"switching {args.input.name}", unit="words")
    hint = "is it for these two languages, with the source language in the first column?"
    with workers(args.processes) as share, write_text(args.out) as out:
        blocks = split_blocks(read_lines(args.input), args.block_words)
        for lines, counts in share(partial(switch_numbered, args), enumerate(blocks)):
            out.write("\n".join(lines) + "\n")
            total.update(counts)
            largest = max(largest, counts["replaced"] / max(counts["words"], 1))
            progress.add(counts["words"])
        if not total["words"]:
            raise InputError(args.input, "no words to switch", fix="check the stage that wrote this file")
        if not total["dictionary_words"]:
            problem = f"contains none of the {total['words']} words of {args.input}"
            raise InputError(args.dictionary, problem, fix=hint)
    write_json(args.stats, describe(total, largest, dictionary))
    progress.finish()
    log, known = log_to_stderr(__name__), total["dictionary_words"] / total["words"]
    if known < FEW:
        log.warning("only %.2f%% of the words of %s are in %s: %s", 100 * known, args.input, args.dictionary, hint)
    log.info("replaced %d of %d words, %s", total["replaced"], total["words"], dict(total))


if __name__ == "__main__":
    run(main)
