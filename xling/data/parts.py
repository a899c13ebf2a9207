"""Parts of text files: jobs that each read one part share the work on a language.

A record (a line, or a page of a dump) begins with a mark and belongs to the part in which its mark begins, so that the
parts one after the other are the files. Parts are equal stretches of the files on disk. A plain file is entered where a
part begins, and a .bz2 at the next of its blocks, which can be unpacked one by one. Every other compressed file is
unpacked from its start, and what comes before the part is thrown away: that costs far less than cleaning it.
"""

import argparse
import bz2
import mmap
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from xling.core.errors import InputError
from xling.core.io import BROKEN_ARCHIVE, COMPRESSED, numbered_lines, to_utf8

CHUNK = 1 << 20
# A block of a .bz2 begins with the first of these numbers of 48 bits, at any bit; the second ends a stream of blocks.
BLOCK, END = 0x314159265359, 0x177245385090
LARGEST_BLOCK = 1_000_000  # bytes that 900 kB of text take if they cannot be compressed


class Span(NamedTuple):
    """A stretch of a file on disk, in bytes."""

    path: Path
    start: int
    stop: int

    @property
    def whole(self) -> bool:
        """Whether it is all of the file."""
        return self.start == 0 and self.last

    @property
    def last(self) -> bool:
        """Whether it ends with the file."""
        return self.stop == self.path.stat().st_size


class Part(NamedTuple):
    """Which part of how many, counted from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Part":
        """Read the value of a flag, such as 3-of-16."""
        found = re.fullmatch(r"(\d+)-of-(\d+)", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise argparse.ArgumentTypeError(f"expected a part such as 3-of-16, found {text!r}")
        return cls(int(found[1]), int(found[2]))

    def spans(self, paths: Sequence[Path]) -> list[Span]:
        """Return the stretches of the files that make up this part."""
        sizes = [path.stat().st_size for path in paths]
        first, end = (sum(sizes) * number // self.of for number in (self.number - 1, self.number))
        begins = [sum(sizes[:number]) for number in range(len(paths))]
        spans = [
            Span(path, max(first - begin, 0), min(end - begin, size))
            for path, begin, size in zip(paths, begins, sizes, strict=True)
        ]
        return [span for span in spans if span.start < span.stop or self.of == 1]


def read_records(span: Span, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (place on disk, record without its mark) of a span; at the start of a file first what precedes the marks.

    A mark that ends the file has no record.
    """
    started, held, ours = span.start == 0, b"", 0
    for place, piece in _pieces(span):
        text, begin = held + piece, 0  # what was held back may end with the beginning of a mark
        ours = len(text) if place < span.stop else ours  # so many bytes of it are of the span
        while (at := text.find(mark, begin)) >= 0:
            if started:
                yield place, text[begin:at]
            if at >= ours:
                return
            started, begin = True, at + len(mark)
        kept = begin if started else max(0, len(text) - len(mark) + 1)
        held, ours = text[kept:], max(0, ours - kept)
        if not (started or ours) and place >= span.stop:
            return
    if started and held:
        yield span.path.stat().st_size, held


def read_head(path: Path, mark: bytes) -> bytes:
    """Return what stands before the first mark of a file, or some of its start if no mark is near."""
    head = b""
    for _, piece in _pieces(Span(path, 0, path.stat().st_size)):
        head += piece
        if mark in head or len(head) > CHUNK:
            break
    return head.partition(mark)[0]


def span_lines(span: Span) -> Iterator[tuple[int, str]]:
    """Yield the lines of a span with their numbers, which count from its first line."""
    if span.whole:
        yield from numbered_lines(span.path)
        return
    number = 0
    try:
        for number, (_, line) in enumerate(read_records(span, b"\n"), start=1):
            yield number, line.rstrip(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 in line {number:,} after byte {span.start:,} of the file: {error.reason}"
        raise InputError(span.path, problem, fix=to_utf8(error.object)) from None


def _pieces(span: Span) -> Iterator[tuple[int, bytes]]:
    """Yield the text of a file from the start of a span on, beyond its end, each piece with its place on disk."""
    place = span.start
    try:
        for place, text in _blocks(span) if span.path.suffix == ".bz2" and not span.whole else _stream(span):
            yield place, text
    except BROKEN_ARCHIVE as error:
        if isinstance(error, OSError) and error.errno is not None:  # bz2 has no number for a damaged block
            raise
        problem = f"truncated or damaged after byte {place:,}: {str(error).rstrip('.')}"
        raise InputError(span.path, problem, fix="fetch the file again") from None


def _stream(span: Span) -> Iterator[tuple[int, bytes]]:
    opener, size = COMPRESSED.get(span.path.suffix), span.path.stat().st_size
    with span.path.open("rb") as raw, opener(raw) if opener else raw as stream:
        if not opener:
            raw.seek(span.start)
        while True:
            place = min(raw.tell(), size - 1)  # all may have been read before all is unpacked
            most = min(CHUNK, span.stop - place) if not opener and place < span.stop else CHUNK
            if not (text := stream.read1(most)):  # what is there at once: a later break then loses no page
                return
            if place >= span.start:
                yield place, text


def _blocks(span: Span) -> Iterator[tuple[int, bytes]]:
    """Yield the text of the blocks of a .bz2 that begin where a span does or later, in one stream or many."""
    with span.path.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begun: int | None = None
        for bit, magic in _magic_numbers(data, span.start):
            if begun is not None:
                text = _unpack(data, begun, bit)
                if text is None and bit - begun < 8 * LARGEST_BLOCK:
                    continue  # a number that stands inside the block by chance
                if text is None:
                    break
                yield begun // 8, text
            begun = bit if magic == BLOCK else None
        if begun is not None:
            raise EOFError(f"the block at byte {begun // 8:,} is not whole")


def _magic_numbers(data: mmap.mmap, start: int) -> Iterator[tuple[int, int]]:
    """Yield (bit, number) of the magic numbers of a .bz2 that begin at a byte or later."""
    shapes = [(magic, shift, (magic << 8 - shift).to_bytes(7)[1:6]) for magic in (BLOCK, END) for shift in range(8)]
    for begin in range(start, len(data), CHUNK):
        window, found = data[begin : begin + CHUNK + 7], []
        for magic, shift, inner in shapes:  # the five bytes that it fills, then the bits around them
            at = window.find(inner, 1)
            while at >= 0:
                seven = int.from_bytes(window[at - 1 : at + 6].ljust(7, b"\0"))
                if at <= CHUNK and seven >> 8 - shift & 0xFFFFFFFFFFFF == magic:
                    found.append((8 * (begin + at - 1) + shift, magic))
                at = window.find(inner, at + 1)
        yield from sorted(found)


def _unpack(data: mmap.mmap, begun: int, end: int) -> bytes | None:
    """Return the text of the block between two bits: it becomes a .bz2 of its own, whose checksum is the block's."""
    first, last, size = begun // 8, -(-end // 8), end - begun
    bits = int.from_bytes(data[first:last]) >> 8 * last - end & (1 << size) - 1
    stream = bits << 80 | END << 32 | bits >> size - 80 & 0xFFFFFFFF
    padding = -(size + 80) % 8
    try:
        return bz2.decompress(b"BZh9" + (stream << padding).to_bytes((size + 80 + padding) // 8))
    except (OSError, ValueError):
        return None
