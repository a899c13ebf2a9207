"""Text of a corpus: python -m xling.data.extract --format wikipedia --input dump.xml.bz2 --out en.txt.zst

The output is one paragraph a line, the same byte for byte for any number of processes.
Formats: `wikipedia` (MediaWiki pages-articles dumps), `crawl` (documents parted by blank lines) and `text` (a paragraph
a line).
"""

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_json, write_text
from xling.core.log import Progress, log_to_stderr
from xling.core.pool import in_order
from xling.data import crawl, wikidump
from xling.data.wikinames import hidden_prefixes
from xling.data.wikitext import paragraphs

BATCH_CHARACTERS = 1 << 20  # of wikitext: large enough that handing it over costs little, small enough to hold several
BATCHES_WAITING = 3  # a process, so that none is idle while the reader works
LINES_BETWEEN_REPORTS = 5000
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # where the size says nothing of the content's


class Batch(NamedTuple):
    """Pages that are cleaned in one go, and what cleaning them takes."""

    wikitexts: list[str]
    hidden: frozenset[str]
    min_characters: int


class Meter:
    """Progress over the input files in bytes of content; the total follows from how far the files are read."""

    def __init__(self, paths: Iterable[Path], unit: str) -> None:
        self.progress = Progress("extract", unit=unit)
        self.size = sum(path.stat().st_size for path in paths)
        self.finished = 0

    def advance(self, content: int, position: int | None) -> None:
        """Count some more bytes of content, read up to a position of the current file, if that is known."""
        read = 0 if position is None else self.finished + position
        self.progress.total = (self.progress.done + content) * self.size / read if read else None
        self.progress.add(content)

    def next_file(self, path: Path) -> None:
        """Note that a file has been read to its end."""
        self.finished += path.stat().st_size


def extract_wikipedia(paths: list[Path], counts: Counter[str], processes: int, least: int) -> Iterator[str]:
    """Yield the paragraphs of the articles of some dumps, in order, cleaned by one or several processes."""
    batches = _batches(paths, counts, least)
    for cleaned in map(clean_batch, batches) if processes == 1 else _clean_apart(batches, processes):
        yield from cleaned


def clean_batch(batch: Batch) -> list[str]:
    """Return the paragraphs of the batch's pages."""
    return [plain for text in batch.wikitexts for plain in paragraphs(text, batch.hidden, batch.min_characters)]


def extract_text(paths: list[Path], counts: Counter[str], least: int) -> Iterator[str]:
    """Yield the clean paragraphs of some plain or crawled texts."""
    meter = Meter(paths, "bytes of text")
    for path in paths:
        held, told = crawl.Counts(), 0
        lines = crawl.read_text(path, held, least)
        while some := list(islice(lines, LINES_BETWEEN_REPORTS)):
            yield from some
            meter.advance(held.content_bytes - told, None if path.suffix in COMPRESSED else held.content_bytes)
            told = held.content_bytes
        meter.next_file(path)
        counts.update(documents=held.documents, lines=held.lines, input_bytes=held.content_bytes)
    meter.progress.finish()


def _batches(paths: list[Path], counts: Counter[str], least: int) -> Iterator[Batch]:
    meter = Meter(paths, "bytes of XML")
    for path in paths:
        held = wikidump.Counts()
        pages = wikidump.read_dump(path, held, meter.advance)
        for texts in _grouped(page.wikitext for page in pages):
            yield Batch(texts, hidden_prefixes(held.namespaces), least)
        if held.cut_after is not None:
            warning = "%s: no </mediawiki> after page %r: a part of a dump?"
            log_to_stderr(__name__).warning(warning, path, held.cut_after)
        meter.next_file(path)
        counts.update(pages=held.pages, redirects=held.redirects, other_namespaces=held.other_namespaces)
        counts.update(input_bytes=held.xml_bytes)
    meter.progress.finish()


def _grouped(texts: Iterable[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text)
        if size >= BATCH_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _clean_apart(batches: Iterator[Batch], processes: int) -> Iterator[list[str]]:
    """Clean the batches in several processes and yield the results in order, with only a few batches in memory."""
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield from in_order(pool, clean_batch, batches, processes * BATCHES_WAITING)
    except BrokenProcessPool:
        raise XlingError("a cleaning process was killed: out of memory? (use fewer --processes)") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _extracted(args: argparse.Namespace, counts: Counter[str]) -> Iterator[str]:
    if args.format == "wikipedia":
        return extract_wikipedia(args.input, counts, args.processes, args.min_characters)
    return extract_text(args.input, counts, args.min_characters)


def main() -> None:
    """Write the paragraphs of the inputs to one file, and what was counted to another."""
    args = parse_args()
    counts: Counter[str] = Counter()
    with write_text(args.out) as out:
        for paragraph in _extracted(args, counts):
            out.write(f"{paragraph}\n")
            counts["paragraphs"] += 1
            counts["characters"] += len(paragraph)
        if not counts["paragraphs"]:
            files = ", ".join(str(path) for path in args.input[1:])
            problem = f"no text found{' here, nor in ' + files if files else ''}: this language would be empty"
            raise InputError(args.input[0], problem, fix=f"is it the right file, and of format {args.format}?")
    if args.stats:
        write_json(args.stats, {**counts, "format": args.format, "inputs": [path.name for path in args.input]})


def parse_args() -> argparse.Namespace:
    """Return the command line's values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=("wikipedia", "crawl", "text"), required=True)
    parser.add_argument("--input", type=Path, nargs="+", required=True, help="files, read in this order")
    parser.add_argument("--out", type=Path, required=True, help="one paragraph a line, compressed by its suffix")
    parser.add_argument("--stats", type=Path, help="JSON file for the counts of pages, paragraphs and characters")
    parser.add_argument("--processes", type=positive, default=1, help="that clean pages, besides the one that reads")
    parser.add_argument("--min-characters", type=positive, default=1, help="drop shorter paragraphs")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
