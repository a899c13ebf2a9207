"""Build the bilingual dictionary of the extra anchors (section 4.2), tokenised like the pretraining text.

python -m xling.codeswitch.build_dictionary --format panlex --input DUMP --source eng-000 --target fra-000 --out D.tsv
python -m xling.codeswitch.build_dictionary --format tsv --input en-fr.tsv --tokeniser source=en.json --out D.tsv

Entries are tokenised by the tokeniser of their language: lower-cased text has no `Paris`, simplified Chinese no 詞.
Entries that become identical keep the best quality. Entries of quality 0 are dropped: they could never be drawn.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from xling.core.cli import named_paths
from xling.core.errors import InputError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.dictionary import Translation, read_tsv
from xling.data.panlex import read_panlex
from xling.tokenization.tokeniser import Tokeniser, tokeniser_from


def in_words(entries: Iterable[Translation], source: Tokeniser, target: Tokeniser) -> list[Translation]:
    """Return the tokenised entries in sorted order, each pair once with its best quality."""
    best: dict[tuple[str, str], float] = {}
    for entry in entries:
        pair = " ".join(source.words(entry.source)), " ".join(target.words(entry.target))
        if all(pair) and entry.quality > best.get(pair, 0.0):
            best[pair] = entry.quality
    return [Translation(*pair, best[pair]) for pair in sorted(best)]


def main() -> None:
    """Read a dictionary in either format and write it as `source<TAB>target<TAB>quality`."""
    parser = argparse.ArgumentParser(description="Build a bilingual dictionary.")
    parser.add_argument("--format", choices=("panlex", "tsv"), required=True)
    parser.add_argument("--input", type=Path, required=True, help="the folder of a PanLex CSV dump, or a TSV file")
    parser.add_argument("--source", help="language variety of a PanLex dump, such as eng-000")
    parser.add_argument("--target", help="language variety of a PanLex dump, such as fra-000")
    parser.add_argument("--tokeniser", action="append", default=[], metavar="SIDE=FILE", help="source=… or target=…")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.format == "panlex" and not (args.source and args.target):
        parser.error("--format panlex needs --source and --target")
    counts: Counter[str] = Counter()
    if args.format == "panlex":
        entries = read_panlex(args.input, args.source, args.target)
    else:
        entries = read_tsv(args.input, counts)
    options = named_paths(args.tokeniser, "--tokeniser", "SIDE=FILE")
    found = in_words(entries, *(tokeniser_from(options.get(side)) for side in ("source", "target")))
    if not found:
        raise InputError(args.input, "no translation in it", fix="check --source and --target")
    with write_text(args.out, sealed=True) as handle:
        handle.writelines(f"{source}\t{target}\t{quality:g}\n" for source, target, quality in found)
    log_to_stderr(__name__).info("%d translations written, %d junk entries left out", len(found), counts["junk"])


if __name__ == "__main__":
    run(main)
