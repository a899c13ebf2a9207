"""Parts of text files, so that several jobs can share the work on a language.

Parts are equal byte ranges of the files on disk. A record (a line, or a page of a dump) begins with a mark and belongs
to the part in which its mark begins, so all parts together are the files. A plain file is read from the start of the
part, and a .bz2 from its next block, because blocks can be decompressed one by one. Every other compressed file is
decompressed from its start and the text before the part is discarded: that costs far less than cleaning it.
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
# 48-bit magic numbers, which may begin at any bit: the first begins a block of a .bz2, the second ends a bz2 stream.
BLOCK, END = 0x314159265359, 0x177245385090
LARGEST_BLOCK = 1_000_000  # bytes of a block with 900 kB of incompressible text


class Span(NamedTuple):
    """A range of bytes in a file on disk."""

    path: Path
    start: int
    stop: int

    @property
    def whole(self) -> bool:
        """Whether the span is the whole file."""
        return self.start == 0 and self.last

    @property
    def last(self) -> bool:
        """Whether the span extends to the end of the file."""
        return self.stop == self.path.stat().st_size


class Part(NamedTuple):
    """Part `number` (counted from 1) of `of` parts."""

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
        """Return the spans of the files that make up this part."""
        sizes = [path.stat().st_size for path in paths]
        first, end = (sum(sizes) * number // self.of for number in (self.number - 1, self.number))
        begins = [sum(sizes[:number]) for number in range(len(paths))]
        spans = [
            Span(path, max(first - begin, 0), min(end - begin, size))
            for path, begin, size in zip(paths, begins, sizes, strict=True)
        ]
        return [span for span in spans if span.start < span.stop or self.of == 1]


def read_records(span: Span, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (position on disk, record without its mark) for the records that begin in a span.

    At the start of a file, the first record is the text before the first mark. A mark that ends a file has no record.
    """
    started, held, ours = span.start == 0, b"", 0
    for place, piece in _pieces(span):
        text, begin = held + piece, 0  # the held text may end with the beginning of a mark
        ours = len(text) if place < span.stop else ours  # number of bytes of the text that belong to the span
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
    """Return the text before the first mark of a file, or the start of the file if no mark is near."""
    head = b""
    for _, piece in _pieces(Span(path, 0, path.stat().st_size)):
        head += piece
        if mark in head or len(head) > CHUNK:
            break
    return head.partition(mark)[0]


def span_lines(span: Span) -> Iterator[tuple[int, str]]:
    """Yield the lines of a span with their numbers, counted from the first line of the span."""
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
    """Yield (position on disk, chunk of text) from the start of a span to the end of the file, beyond the span."""
    place = span.start
    try:
        for place, text in _blocks(span) if span.path.suffix == ".bz2" and not span.whole else _stream(span):
            yield place, text
    except BROKEN_ARCHIVE as error:
        if isinstance(error, OSError) and error.errno is not None:  # a damaged bz2 block has no errno
            raise
        problem = f"truncated or damaged after byte {place:,}: {str(error).rstrip('.')}"
        raise InputError(span.path, problem, fix="fetch the file again") from None


def _stream(span: Span) -> Iterator[tuple[int, bytes]]:
    opener, size = COMPRESSED.get(span.path.suffix), span.path.stat().st_size
    with span.path.open("rb") as raw, opener(raw) if opener else raw as stream:
        if not opener:
            raw.seek(span.start)
        while True:
            place = min(raw.tell(), size - 1)  # the file may be fully read before it is fully decompressed
            most = min(CHUNK, span.stop - place) if not opener and place < span.stop else CHUNK
            if not (text := stream.read1(most)):  # only available data, so later damage loses no page
                return
            if place >= span.start:
                yield place, text


def _blocks(span: Span) -> Iterator[tuple[int, bytes]]:
    """Yield (position, text) of the blocks of a .bz2 from the start of a span on, also in a file of several streams."""
    with span.path.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begun: int | None = None
        for bit, magic in _magic_numbers(data, span.start):
            if begun is not None:
                text = _unpack(data, begun, bit)
                if text is None and bit - begun < 8 * LARGEST_BLOCK:
                    continue  # a magic number inside the block by chance
                if text is None:
                    break
                yield begun // 8, text
            begun = bit if magic == BLOCK else None
        if begun is not None:
            raise EOFError(f"the block at byte {begun // 8:,} is not whole")


def _magic_numbers(data: mmap.mmap, start: int) -> Iterator[tuple[int, int]]:
    """Yield (bit position, magic number) for the magic numbers of a .bz2 from the byte `start` on."""
    shapes = [(magic, shift, (magic << 8 - shift).to_bytes(7)[1:6]) for magic in (BLOCK, END) for shift in range(8)]
    for begin in range(start, len(data), CHUNK):
        window, found = data[begin : begin + CHUNK + 7], []
        for magic, shift, inner in shapes:  # find the five full bytes, then check the bits around them
            at = window.find(inner, 1)
            while at >= 0:
                seven = int.from_bytes(window[at - 1 : at + 6].ljust(7, b"\0"))
                if at <= CHUNK and seven >> 8 - shift & 0xFFFFFFFFFFFF == magic:
                    found.append((8 * (begin + at - 1) + shift, magic))
                at = window.find(inner, at + 1)
        yield from sorted(found)


def _unpack(data: mmap.mmap, begun: int, end: int) -> bytes | None:
    """Return the text of the block between two bit positions, decompressed as a separate .bz2; None if invalid."""
    first, last, size = begun // 8, -(-end // 8), end - begun
    bits = int.from_bytes(data[first:last]) >> 8 * last - end & (1 << size) - 1
    stream = bits << 80 | END << 32 | bits >> size - 80 & 0xFFFFFFFF  # one block: its checksum is that of the file
    padding = -(size + 80) % 8
    try:
        return bz2.decompress(b"BZh9" + (stream << padding).to_bytes((size + 80 + padding) // 8))
    except (OSError, ValueError):
        return None
