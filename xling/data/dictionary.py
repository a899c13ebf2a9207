"""Make a bilingual dictionary for the extra anchors (section 4.2 of the paper).

python -m xling.data.dictionary --format panlex --input DUMP --source eng-000 --target fra-000 --out dict.tsv
python -m xling.data.dictionary --format tsv --input en-fr.tsv --out dict.tsv

The simple form is `source<TAB>target[<TAB>quality]`, quality 1 where it is not given. Files made from Wiktionary have
backslashes where markup stood: at the ends of an entry they are taken off, an entry with nothing else or with one in
the middle (two translations run together) is left out and counted. Other noise is kept: guessing would lose words.
A translation of quality 0 is left out too: it could never be drawn.
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from xling.core.errors import InputError, run
from xling.core.io import numbered_lines, write_text
from xling.core.log import log_to_stderr
from xling.data.panlex import Translation, read_panlex

JUNK = "\\"


def read_tsv(path: Path, counts: Counter[str] | None = None) -> Iterator[Translation]:
    """Yield the entries of the simple form; those left out are counted as junk."""
    number = 0
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if not 2 <= len(fields) <= 3:
            problem = "no tab" if len(fields) == 1 else f"{len(fields)} columns"
            raise InputError(path, f"{problem} where source<TAB>target[<TAB>quality] was expected", line=number)
        source, target = clean(fields[0]), clean(fields[1])
        quality = _quality(path, number, fields[2]) if len(fields) == 3 else 1.0
        if source and target:
            yield Translation(source, target, quality)
        elif counts is not None:
            counts["junk"] += 1
    if number == 0:
        raise InputError(path, "empty where a dictionary was expected", fix="fetch or make the file again")


def clean(entry: str) -> str:
    """Return an entry without junk and with single spaces, or nothing if it cannot be used."""
    text = " ".join(entry.strip(JUNK + " \u00a0").split())
    return "" if JUNK in text else text


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


def _quality(path: Path, number: int, text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        quality = math.nan
    if not math.isfinite(quality) or quality < 0:
        raise InputError(path, f"quality {text!r} is not a number from 0", line=number)
    return quality


def main() -> None:
    """Read a dictionary in either form and write ours."""
    args = parse_args()
    counts: Counter[str] = Counter()
    if args.format == "panlex":
        entries = read_panlex(args.input, args.source, args.target)  # comes sorted: it may not fit in a list
    else:
        entries = iter(sorted(read_tsv(args.input, counts), key=_pair))
    lines = write_dictionary(args.out, merge(entries))
    log_to_stderr(__name__).info("%d translations written, %d junk entries left out", lines, counts["junk"])


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Make a bilingual dictionary.")
    parser.add_argument("--format", choices=("panlex", "tsv"), required=True)
    parser.add_argument("--input", type=Path, required=True, help="a PanLex CSV dump (zip or folder), or a TSV file")
    parser.add_argument("--source", help="language variety of a PanLex dump, such as eng-000")
    parser.add_argument("--target", help="language variety of a PanLex dump, such as fra-000")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.format == "panlex" and not (args.source and args.target):
        parser.error("--format panlex needs --source and --target")
    return args


if __name__ == "__main__":
    run(main)
