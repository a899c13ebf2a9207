"""The words of parallel sentences, one file a side (`<code>.txt`), all of the same length.

python -m xling.tokenization.parallel --multiway xnli.15way.orig.tsv --languages en fr --tokeniser 'en={…}' --out-dir D
python -m xling.tokenization.parallel --multiway xnli.15way.orig.tsv --languages en --file en2=back.txt --out-dir DIR
python -m xling.tokenization.parallel --file en=a.txt --file fr=b.txt --out-dir DIR

A side without a tokeniser is taken as tokenised.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from xling.core.cli import named, named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.parallel import Sentences, read_aligned, read_both, read_multiway
from xling.tokenization.words import words_from

Words = Callable[[str], list[str]]


def write_sides(folder: Path, rows: Iterator[Sentences], words: Mapping[str, Words]) -> int:
    """Write the words of each side to its own file, in the order of `words`, and return how many rows there were."""
    number = 0
    with ExitStack() as stack:  # no file appears before all are whole
        handles = [stack.enter_context(write_text(folder / f"{code}.txt")) for code in words]
        for number, row in enumerate(rows, start=1):
            for code, text, handle in zip(words, row, handles, strict=True):
                line = " ".join(words[code](text))
                if not line:
                    raise InputError(folder / f"{code}.txt", f"nothing left of {text!r} after tokenising", line=number)
                handle.write(line + "\n")
    return number


def main() -> None:
    """Read parallel sentences and write their words."""
    args = parse_args()
    files = named_paths(args.file, "--file", "CODE=PATH")
    tokenisers = named(args.tokeniser, "--tokeniser", "CODE=JSON")
    codes = [*(args.languages if args.multiway else ()), *files]
    if len(codes) < 1 or len(set(codes)) < len(codes):
        raise XlingError(f"name each side once, with --multiway and --languages or --file (given: {codes})")
    paths = list(files.values())
    if args.multiway and files:
        rows = read_both(args.multiway, args.languages, paths)
    else:
        rows = read_multiway(args.multiway, args.languages) if args.multiway else read_aligned(paths)
    words = {code: words_from(tokenisers.get(code)).words for code in codes}
    count = write_sides(args.out_dir, rows, words)
    log_to_stderr(__name__).info("%d parallel sentences in %s", count, ", ".join(codes))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Write the words of parallel sentences, a file a language.")
    parser.add_argument("--multiway", type=Path, help="table with language codes in its header, as XNLI-15way")
    parser.add_argument("--languages", nargs="+", default=[], help="columns of --multiway to write")
    parser.add_argument("--file", action="append", default=[], metavar="CODE=PATH", help="a side a file, line by line")
    parser.add_argument("--tokeniser", action="append", default=[], metavar="CODE=JSON", help="options for a side")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
