"""Extract the text of a corpus, one paragraph per line.

python -m xling.data.extract_text --format wikipedia --input dump.xml.bz2 --out en.txt.zst [--part 3-of-16]

Formats: `wikipedia` (MediaWiki pages-articles dumps, schema 0.10 and 0.11, also multistream), `crawl` (documents
separated by blank lines, such as CC-100) and `text` (one paragraph per line); the last two are plain or compressed as
.xz, .gz, .zst or .bz2. With --part only that part of the inputs is read; the concatenated output of all parts equals
the output without --part.
"""

import argparse
import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from xling.core.cli import positive
from xling.core.errors import InputError, run
from xling.core.io import COMPRESSED, write_json, write_text
from xling.core.log import Progress, log_to_stderr
from xling.data.lines import clean_line
from xling.data.parts import Part, Span, read_head, read_records, span_lines
from xling.data.plausible import add_flags, plausible
from xling.data.wikitext import hidden_prefixes, is_redirect, paragraphs

PAGE, END = b"<page>", b"</page>"  # in page text they would be escaped as &lt;page&gt;
AGAIN = "fetch the dump again"
# A file that was cut out of a dump may begin with a page.
DUMP = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<mediawiki\b|\Z)")
NAMESPACE = re.compile(r'<namespace key="(-?\d+)"[^>]*>([^<]+)</namespace>')
EXPORT = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<mediawiki\b|<page>\s*$)")  # <page>: start of a part of a dump
EXPORT_LINES = 2  # the first line may be the XML declaration alone


def read_namespaces(path: Path) -> dict[int, str]:
    """Return the names of the namespaces in the header of a dump by number; raise an error if the file is no dump."""
    head = read_head(path, PAGE)
    if not DUMP.match(head):
        start = head[:40].decode(errors="replace")
        problem = f"not a MediaWiki export: starts with {start!r}, expected <mediawiki> or <page>"
        raise InputError(path, problem, fix=f"{AGAIN}; plain text has format: text")
    names = NAMESPACE.findall(head.decode(errors="replace"))
    return {int(number): html.unescape(name) for number, name in names}


def read_pages(
    span: Span, counts: Counter[str], advance: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[str, str]]:
    """Yield (title, wikitext) of the articles (namespace 0, no redirects) that begin in a span.

    `counts` counts all pages by kind, and `advance` is called with the number of bytes read of the file on disk.
    A dump that ends between two pages without its closing tag is read to its end, with a warning.
    """
    counts.update(pages=0, redirects=0, other_namespaces=0, input_bytes=0)
    position, title, rest = span.start, "", b""
    for number, (place, record) in enumerate(read_records(span, PAGE)):
        advance(place - position)
        position = place
        counts["input_bytes"] += len(record)
        if number == 0 and span.start == 0:
            continue  # the header before the first page
        counts["input_bytes"] += len(PAGE)
        text, end, rest = record.partition(END)
        if not end:
            raise InputError(span.path, f"ends inside a page, {_after(title)}", fix=AGAIN)
        title, namespace, redirect, wikitext = _parse(span.path, text, title)
        kind = "other_namespaces" if namespace else "redirects" if redirect or is_redirect(wikitext) else "pages"
        counts[kind] += 1
        if kind == "pages":
            yield title, wikitext
    advance(span.stop - position)
    if span.last and title and b"</mediawiki>" not in rest:
        warning = "%s: no </mediawiki> after page %r: a part of a dump?"
        log_to_stderr(__name__).warning(warning, span.path, title)


def _parse(path: Path, text: bytes, before: str) -> tuple[str, int, bool, str]:
    """Return title, namespace, whether it is a redirect, and last revision of a page, given without its outer tags."""
    try:
        page = ElementTree.fromstring(PAGE + text + END)  # noqa: S314 - without a document type nothing expands
    except ElementTree.ParseError as error:
        raise InputError(path, f"malformed XML in a page, {_after(before)}: {error}", fix=AGAIN) from None
    found = {"title": page.findall("title"), "ns": page.findall("ns"), "text": page.findall("revision/text")}
    for name, elements in found.items():
        if not elements:
            raise InputError(path, f"a page without <{name}>, {_after(before)}", fix=AGAIN)
    title, namespace, wikitext = (elements[-1].text or "" for elements in found.values())
    return title, int(namespace), page.find("redirect") is not None, wikitext


def _after(title: str) -> str:
    return f"after page {title!r}" if title else "the first of the file"


def extract_wikipedia(spans: list[Span], counts: Counter[str], least: int) -> Iterator[str]:
    """Yield the clean paragraphs of the articles of dumps; progress is counted in bytes of the compressed files."""
    progress = Progress("extract", sum(span.stop - span.start for span in spans), unit="bytes of dump")
    for span in spans:
        hidden = hidden_prefixes(read_namespaces(span.path))
        for _, wikitext in read_pages(span, counts, progress.add):
            yield from paragraphs(wikitext, hidden, least)
    progress.finish()


def extract_lines(spans: list[Span], counts: Counter[str], least: int) -> Iterator[str]:
    """Yield the clean paragraphs of plain or crawled texts.

    Blank lines separate documents. Documents are counted, but blank lines are dropped, because the model reads lines.
    """
    compressed = any(span.path.suffix in COMPRESSED for span in spans)
    total = None if compressed else sum(span.stop - span.start for span in spans)
    progress = Progress("extract", total, unit="bytes of text")
    for span in spans:
        inside = span.start > 0  # a document belongs to the part in which it begins
        for number, line in span_lines(span):
            if number <= EXPORT_LINES and span.start == 0 and EXPORT.match(line):
                fix = "format: wikipedia reads it"
                raise InputError(span.path, "a MediaWiki export where plain text was expected", line=number, fix=fix)
            size = len(line.encode()) + 1
            progress.add(size)
            paragraph = clean_line(line)
            counts["lines"] += 1
            counts["input_bytes"] += size
            counts["documents"] += bool(paragraph) and not inside
            inside = bool(paragraph)
            if paragraph and len(paragraph) >= least:
                yield paragraph
    progress.finish()


def main() -> None:
    """Write the paragraphs of the inputs to one file, and the counts to another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=("wikipedia", "crawl", "text"), required=True)
    parser.add_argument("--input", type=Path, nargs="+", required=True, help="files, read in this order")
    parser.add_argument("--out", type=Path, required=True, help="one paragraph per line, compressed by its suffix")
    parser.add_argument("--stats", type=Path, help="JSON file for the counts of pages, paragraphs and characters")
    parser.add_argument("--min-characters", type=positive, default=1, help="drop shorter paragraphs")
    parser.add_argument("--part", type=Part.parse, default=Part(), help="read this part of the inputs, as 3-of-16")
    add_flags(parser)
    args = parser.parse_args()
    counts, spans = Counter[str](paragraphs=0, characters=0), args.part.spans(args.input)
    if args.format == "wikipedia":
        found = extract_wikipedia(spans, counts, args.min_characters)
    else:
        found = extract_lines(spans, counts, args.min_characters)
    with write_text(args.out) as out:
        for paragraph in plausible(args.input[0], found, args):
            out.write(f"{paragraph}\n")
            counts["paragraphs"] += 1
            counts["characters"] += len(paragraph)
        if not counts["paragraphs"] and args.part.of == 1:
            files = ", ".join(str(path) for path in args.input[1:])
            problem = f"no text found{' here, nor in ' + files if files else ''}: this language would be empty"
            raise InputError(args.input[0], problem, fix=f"is it the right file, and of format {args.format}?")
    if args.stats:
        write_json(args.stats, {**counts, "format": args.format, "inputs": [path.name for path in args.input]})


if __name__ == "__main__":
    run(main)
