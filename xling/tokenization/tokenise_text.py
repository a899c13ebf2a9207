"""Tokenise a text: python -m xling.tokenization.tokenise_text --input text.txt.zst --options en.json --out words.zst"""

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from xling.core.cli import positive
from xling.core.errors import InputError, run
from xling.core.io import read_lines, write_json, write_text
from xling.core.log import Progress, log_to_stderr
from xling.core.pool import workers
from xling.tokenization.tokeniser import Tokeniser, make_tokeniser, read_options

SHARD_LINES = 1000
_worker: list[Tokeniser] = []  # each process has one tokeniser of its own


def tokenise_shards(lines: Iterable[str], options: dict[str, Any], processes: int) -> Iterator[list[str]]:
    """Yield shards of tokenised lines in the order of the input, without lines that came out empty."""
    if processes > 1:
        _start(options)  # in this process too: a missing program or word list would only break the pool
    with workers(processes, partial(_start, options)) as share:
        yield from share(_tokenise, shards(lines))


def shards(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lists of a fixed number of lines."""
    iterator = iter(lines)
    while shard := list(islice(iterator, SHARD_LINES)):
        yield shard


def tokenise_file(source: Path, options: dict[str, Any], out: Path, processes: int) -> dict[str, int]:
    """Tokenise a file into another and return how many lines, words and characters of words it has."""
    counts = {"lines": 0, "words": 0, "characters": 0}
    progress = Progress(f"tokenising {source.name}")
    with write_text(out) as handle:
        for shard in tokenise_shards(read_lines(source), options, processes):
            handle.writelines(f"{line}\n" for line in shard)
            spaces = sum(line.count(" ") for line in shard)
            counts["lines"] += len(shard)
            counts["words"] += spaces + len(shard)
            counts["characters"] += sum(map(len, shard)) - spaces
            progress.add(len(shard))
        if counts["lines"] == 0:
            raise InputError(source, "no words in it", fix="an empty language: check the source it was made from")
    progress.finish()
    return counts


def _start(options: dict[str, Any]) -> None:
    _worker[:] = [make_tokeniser(options)]


def _tokenise(lines: list[str]) -> list[str]:
    return [line for line in _worker[0].lines(lines) if line]


def main() -> None:
    """Tokenise one file as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", type=Path, required=True, help="text, one paragraph per line, compressed by suffix")
    parser.add_argument("--options", type=Path, required=True, help="JSON file of tokeniser options")
    parser.add_argument("--out", type=Path, required=True, help="words joined by spaces, one paragraph per line")
    parser.add_argument("--stats", type=Path, required=True, help="counts of lines, words and characters (JSON)")
    parser.add_argument("--processes", type=positive, default=1)
    args = parser.parse_args()
    counts = tokenise_file(args.input, read_options(args.options), args.out, args.processes)
    write_json(args.stats, counts)
    log_to_stderr(__name__).info("%(lines)d lines, %(words)d words", counts)


if __name__ == "__main__":
    run(main)
