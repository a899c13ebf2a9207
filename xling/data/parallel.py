"""Parallel sentences: XNLI-15way, further versions of it such as en', and any files aligned line by line.

python -m xling.data.parallel --multiway xnli.15way.orig.tsv --languages en fr --tokeniser 'en={…}' --out-dir DIR
python -m xling.data.parallel --multiway xnli.15way.orig.tsv --languages en --file en2=back.txt --out-dir DIR
python -m xling.data.parallel --file en=a.txt --file fr=b.txt --out-dir DIR

Writes the words of every sentence with spaces between them, one file a side (`<code>.txt`), all of the same length.
A side without a tokeniser is taken as tokenised.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from xling.core.errors import InputError, XlingError, run
from xling.core.io import numbered_lines, write_text
from xling.core.log import log_to_stderr
from xling.data.lines import table_rows
from xling.data.words import words_from

Sentences = tuple[str, ...]
Words = Callable[[str], list[str]]


def read_multiway(path: Path, languages: Sequence[str]) -> Iterator[Sentences]:
    """Yield the sentences of these languages, row by row of a table with language codes in its header."""
    for number, row in table_rows(path, languages):
        for language, text in zip(languages, row, strict=True):
            if not text.strip():
                raise InputError(path, f"no sentence in column {language}", line=number)
        yield tuple(row)


def read_aligned(paths: Sequence[Path]) -> Iterator[Sentences]:
    """Yield the lines of files side by side; they must be equally long and hold no blank line."""
    number = 0
    for number, row in enumerate(zip_longest(*(numbered_lines(path) for path in paths)), start=1):
        for path, cell in zip(paths, row, strict=True):
            if cell is None:
                longer = next(other for other, there in zip(paths, row, strict=True) if there)
                raise InputError(path, f"ends after {number - 1} lines, {longer} goes on", fix="they must be aligned")
            if not cell[1].strip():
                raise InputError(path, "a blank line where a sentence was expected", line=number)
        yield tuple(text for _, text in row)
    if number == 0:
        raise InputError(paths[0], "empty where sentences were expected", fix="fetch or make the file again")


def read_both(multiway: Path, languages: Sequence[str], files: Sequence[Path]) -> Iterator[Sentences]:
    """Yield the rows of a multi-way table with the lines of further files beside them, equally many."""
    rows, lines = read_multiway(multiway, languages), read_aligned(files)
    for number, (row, line) in enumerate(zip_longest(rows, lines), start=1):
        if row is None or line is None:
            short, long = (multiway, files[0]) if row is None else (files[0], multiway)
            raise InputError(short, f"ends after {number - 1} sentences, {long} goes on", fix="they must be aligned")
        yield row + line


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


def named(values: Sequence[str], what: str) -> dict[str, str]:
    """Return the parts of CODE=VALUE arguments."""
    parts = [value.partition("=") for value in values]
    for code, equals, value in parts:
        if not (code and equals and value):
            raise XlingError(f"{what}: {code + equals + value!r} is not CODE=VALUE")
    return {code: value for code, _, value in parts}


def main() -> None:
    """Read parallel sentences and write their words."""
    args = parse_args()
    files = {code: Path(path) for code, path in named(args.file, "--file").items()}
    tokenisers = named(args.tokeniser, "--tokeniser")
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
