"""Reader of pages of a MediaWiki export (pages-articles.xml.bz2, schema 0.10 and 0.11, also multistream)."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from xling.core.errors import InputError
from xling.core.log import log_to_stderr
from xling.data.parts import Span, read_head, read_records
from xling.data.wikitext import is_redirect

PAGE, END = b"<page>", b"</page>"  # in page text they would be escaped as &lt;page&gt;
AGAIN = "fetch the dump again"
# A file that was cut out of a dump may begin with a page.
EXPORT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<mediawiki\b|\Z)")
NAMESPACE = re.compile(r'<namespace key="(-?\d+)"[^>]*>([^<]+)</namespace>')


def read_namespaces(path: Path) -> dict[int, str]:
    """Return the names of the namespaces in the header of a dump by number; raise an error if the file is no dump."""
    head = read_head(path, PAGE)
    if not EXPORT.match(head):
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
