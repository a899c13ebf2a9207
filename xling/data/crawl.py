"""Plain and crawled text (.xz, .gz, .zst, .bz2 or not compressed): a paragraph a line, a blank line ends a document."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xling.core.errors import InputError
from xling.core.io import numbered_lines
from xling.data.textclean import clean_line

EXPORT = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<mediawiki\b|<page>\s*$)")  # <page>: of a dump that was cut up
EXPORT_LINES = 2  # the XML declaration may have the first line to itself


@dataclass
class Counts:
    """What a text held."""

    documents: int = 0
    lines: int = 0
    content_bytes: int = 0


def read_text(path: Path, counts: Counts, min_characters: int = 1) -> Iterator[str]:
    """Yield the clean paragraphs of a text; `counts` says how many documents and lines it had.

    CC-100 writes its documents this way. The breaks are counted but not kept: the model reads a stream of lines.
    """
    inside = False
    for number, line in numbered_lines(path):
        if number <= EXPORT_LINES and EXPORT.match(line):
            fix = "format: wikipedia reads it"
            raise InputError(path, "a MediaWiki export where plain text was expected", line=number, fix=fix)
        counts.lines += 1
        counts.content_bytes += len(line.encode()) + 1
        paragraph = clean_line(line)
        counts.documents += bool(paragraph) and not inside
        inside = bool(paragraph)
        if paragraph and len(paragraph) >= min_characters:
            yield paragraph
