"""Tokenise parallel sentences into one file per side (`<code>.txt`), all of the same length.

python -m xling.tokenization.prepare_parallel --multiway 15way.tsv --languages en fr --tokeniser en=en.json --out-dir D
python -m xling.tokenization.prepare_parallel --multiway 15way.tsv --languages en --file en2=back.txt --out-dir DIR
python -m xling.tokenization.prepare_parallel --file en=a.txt --file fr=b.txt --out-dir DIR

A side without a tokeniser must be tokenised already.
"""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from xling.core.cli import named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_text
from xling.core.log import log_to_stderr
from xling.data.parallel import Sentences, read_multiway, read_side, side_by_side
from xling.tokenization.tokeniser import Tokeniser, tokeniser_from


def write_sides(folder: Path, rows: Iterator[Sentences], sides: Mapping[str, Tokeniser]) -> int:
    """Write the words of each side to its own file, in the order of `sides`, and return the number of rows."""
    number = 0
    with ExitStack() as stack:  # the files appear only after all are complete
        handles = [stack.enter_context(write_text(folder / f"{code}.txt", sealed=True)) for code in sides]
        for number, row in enumerate(rows, start=1):
            for (code, tokeniser), text, handle in zip(sides.items(), row, handles, strict=True):
                line = " ".join(tokeniser.words(text))
                if not line:
                    raise InputError(folder / f"{code}.txt", f"nothing left of {text!r} after tokenising", line=number)
                handle.write(line + "\n")
    return number


def main() -> None:
    """Read parallel sentences and write their words."""
    parser = argparse.ArgumentParser(description="Write the words of parallel sentences, one file per language.")
    parser.add_argument("--multiway", type=Path, help="table with language codes in its header, as XNLI-15way")
    parser.add_argument("--languages", nargs="+", default=[], help="columns of --multiway to write")
    parser.add_argument("--file", action="append", default=[], metavar="CODE=PATH", help="one side, line by line")
    parser.add_argument("--tokeniser", action="append", default=[], metavar="CODE=FILE", help="JSON options of a side")
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    files = named_paths(args.file, "--file", "CODE=PATH")
    options = named_paths(args.tokeniser, "--tokeniser", "CODE=FILE")
    codes = [*(args.languages if args.multiway else ()), *files]
    if len(codes) < 1 or len(set(codes)) < len(codes):
        raise XlingError(f"name each side once, with --multiway and --languages or --file (given: {codes})")
    sides = [(path, read_side(path)) for path in files.values()]
    if args.multiway:
        sides.insert(0, (args.multiway, read_multiway(args.multiway, args.languages)))
    tokenisers = {code: tokeniser_from(options.get(code)) for code in codes}
    count = write_sides(args.out_dir, side_by_side(sides), tokenisers)
    log_to_stderr(__name__).info("%d parallel sentences in %s", count, ", ".join(codes))


if __name__ == "__main__":
    run(main)
