"""Make the bilingual dictionary of the extra anchors (section 4.2), in the words of the pretraining text.

python -m xling.tokenization.dictionary --format panlex --input DUMP --source eng-000 --target fra-000 --out dict.tsv
python -m xling.tokenization.dictionary --format tsv --input en-fr.tsv --tokeniser source='{…}' --out dict.tsv

Entries go through the tokeniser of their language: lower-cased text has no `Paris`, simplified no 詞.
Entries that become the same keep their best quality. One of quality 0 is left out: it could never be drawn.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from xling.core.cli import named
from xling.core.errors import InputError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.dictionary import read_tsv
from xling.data.panlex import Translation, read_panlex
from xling.tokenization.words import Words, words_from

SIDES = ("source", "target")


def in_words(entries: Iterable[Translation], source: Words, target: Words) -> Iterator[Translation]:
    """Yield the entries as the text has them, words with single spaces between; what nothing is left of is dropped."""
    for entry in entries:
        left, right = " ".join(source.words(entry.source)), " ".join(target.words(entry.target))
        if left and right:
            yield Translation(left, right, entry.quality)


def merge(translations: Iterable[Translation]) -> Iterator[Translation]:
    """Yield each pair of sorted entries once, with its best quality; quality 0 is left out."""
    for (source, target), same in groupby(translations, key=_pair):
        best = max(entry.quality for entry in same)
        if best > 0:
            yield Translation(source, target, best)


def write_dictionary(path: Path, translations: Iterable[Translation]) -> int:
    """Write `source<TAB>target<TAB>quality` lines and return how many."""
    lines = 0
    with write_text(path) as handle:
        for entry in translations:
            handle.write(f"{entry.source}\t{entry.target}\t{entry.quality:g}\n")
            lines += 1
    return lines


def _pair(entry: Translation) -> tuple[str, str]:
    return entry.source, entry.target


def main() -> None:
    """Read a dictionary in either form and write ours."""
    args = parse_args()
    counts: Counter[str] = Counter()
    if args.format == "panlex":
        entries = read_panlex(args.input, args.source, args.target)
    else:
        entries = read_tsv(args.input, counts)
    options = named(args.tokeniser, "--tokeniser", "SIDE=JSON")
    source, target = (words_from(options.get(side)) for side in SIDES)
    merged = list(merge(sorted(in_words(entries, source, target), key=_pair)))
    if not merged:
        raise InputError(args.input, "no translation in it", fix="check --source and --target")
    lines = write_dictionary(args.out, merged)
    log_to_stderr(__name__).info("%d translations written, %d junk entries left out", lines, counts["junk"])


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Make a bilingual dictionary.")
    parser.add_argument("--format", choices=("panlex", "tsv"), required=True)
    parser.add_argument("--input", type=Path, required=True, help="a PanLex CSV dump (zip or folder), or a TSV file")
    parser.add_argument("--source", help="language variety of a PanLex dump, such as eng-000")
    parser.add_argument("--target", help="language variety of a PanLex dump, such as fra-000")
    parser.add_argument("--tokeniser", action="append", default=[], metavar="SIDE=JSON", help="source=… or target=…")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.format == "panlex" and not (args.source and args.target):
        parser.error("--format panlex needs --source and --target")
    return args


if __name__ == "__main__":
    run(main)
