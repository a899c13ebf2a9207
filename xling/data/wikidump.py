"""Pages of a MediaWiki export (pages-articles.xml.bz2, schema 0.10 and 0.11, multistream too), read as a stream.

Wikitext is escaped inside the XML, so a tag in the file is always the export's own: pages are found by searching bytes,
which is many times faster than a general parser, and what a parser would refuse is refused here too.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import unescape

from xling.core.errors import InputError
from xling.core.io import BROKEN_ARCHIVE, COMPRESSED
from xling.data.wikinames import is_redirect

CHUNK = 1 << 20
Advance = Callable[[int], None]
FETCH_AGAIN = "fetch the dump again"
_NAMESPACE = re.compile(rb'<namespace key="(-?\d+)"[^>]*>([^<]*)</namespace>')
_BETWEEN = re.compile(rb"\s*(?:</mediawiki>\s*)?(?:(?:\xef\xbb\xbf)?(?:<\?xml[^>]*\?>)?\s*<mediawiki\b.*)?", re.DOTALL)
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NS = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_TEXT = re.compile(rb"<text\b[^<>]*?(?:/>|>([^<]*)</text>)")
_BARE_AMPERSAND = re.compile(r"&(?!(?:lt|gt|amp|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#x([0-9a-fA-F]{1,6})|#([0-9]{1,7}));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class Page(NamedTuple):
    """An article: its title and its wikitext, no longer escaped."""

    title: str
    wikitext: str


@dataclass
class Counts:
    """What a dump held besides the articles that were read."""

    pages: int = 0
    redirects: int = 0
    other_namespaces: int = 0
    namespaces: dict[int, str] = field(default_factory=dict)
    xml_bytes: int = 0
    cut_after: str | None = None  # title of the last page of a dump without an end


def read_dump(path: Path, counts: Counts, advance: Advance | None = None) -> Iterator[Page]:
    """Yield the articles of a dump: namespace 0, no redirects; `counts` says what else it held.

    `advance` is called with the number of bytes of the file, compressed or not, that were read since the last call. A
    dump that ends between two pages without its closing tag is read as far as it goes; `counts.cut_after` says so.
    """
    line, title, closed = 1, "", False
    for gap, raw in _pages(path, counts, advance):
        _check_between(path, gap, line, title)
        for key, name in _NAMESPACE.findall(gap):
            counts.namespaces[int(key)] = unescape_xml(name.decode(errors="replace"))
        closed = b"</mediawiki>" in gap
        line += gap.count(b"\n")
        if raw is None:
            break
        found = _TITLE.search(raw)
        if found is None:
            raise InputError(path, "a page without <title>", line=line, fix=FETCH_AGAIN)
        title = _decoded(path, found[1], raw, found.start(1), line, "a title")
        page = _article(path, raw, line, title, counts)
        line += raw.count(b"\n")
        if page is not None:
            yield page
    counts.cut_after = None if closed else title


def unescape_xml(text: str) -> str:
    """Return character data with the five entities and the numeric references of XML resolved."""
    return _REFERENCE.sub(_character, text) if "&#" in text else unescape(text, {"&quot;": '"', "&apos;": "'"})


def _pages(path: Path, counts: Counts, advance: Advance | None) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield (what stands before the page, the page) and at the end (the rest, None)."""
    buffer, searched = b"", 0
    for chunk in _chunks(path, counts, advance):
        buffer += chunk
        start = 0
        while (end := buffer.find(b"</page>", max(start, searched))) >= 0:
            end += len(b"</page>")
            gap, tag, raw = buffer[start:end].partition(b"<page>")
            yield gap, tag + raw
            start = searched = end
        buffer = buffer[start:]
        searched = max(0, len(buffer) - len(b"</page>"))
    if b"<page>" in buffer:
        title = _TITLE.search(buffer)
        name = f" {title[1].decode(errors='replace')!r}" if title else ""
        raise InputError(path, f"the XML ends inside the page{name}", fix=FETCH_AGAIN)
    yield buffer, None


def _chunks(path: Path, counts: Counts, advance: Advance | None) -> Iterator[bytes]:
    last, position = b"", 0
    opener = COMPRESSED.get(path.suffix)
    with path.open("rb") as raw, opener(raw) if opener else raw as stream:
        try:
            while chunk := stream.read1(CHUNK):  # what is there at once: a later break then loses no page
                counts.xml_bytes += len(chunk)
                if advance is not None:
                    advance(raw.tell() - position)
                    position = raw.tell()
                yield chunk
                last = chunk if b"<title>" in chunk else last
        except (*BROKEN_ARCHIVE, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # bz2 has no number for a damaged block
                raise
            titles = [title.decode(errors="replace") for title in _TITLE.findall(last)]
            where = f"after the start of page {titles[-1]!r}" if titles else "before the first page"
            problem = f"truncated or damaged {where}: {str(error).rstrip('.')}"
            raise InputError(path, problem, fix=FETCH_AGAIN) from None


def _check_between(path: Path, gap: bytes, line: int, title: str) -> None:
    if _BETWEEN.fullmatch(gap) is None or (not title and not gap.strip()):
        where = f"after page {title!r}" if title else "at its start"
        found = gap.strip()[:40].decode(errors="replace")
        raise InputError(path, f"not a MediaWiki export: {found!r} {where}, expected <mediawiki> or <page>", line=line)


def _article(path: Path, raw: bytes, line: int, title: str, counts: Counts) -> Page | None:
    namespace, text = _NS.search(raw), _TEXT.search(raw, raw.rfind(b"<revision>") + 1)  # the newest revision comes last
    if namespace is None or text is None or raw.count(b"<page>") != 1:
        problem = "has no <ns>" if namespace is None else "has no readable <text>" if text is None else "is not closed"
        raise InputError(path, f"malformed XML: page {title!r} {problem}", line=line, fix=FETCH_AGAIN)
    if int(namespace[1]) != 0:
        counts.other_namespaces += 1
        return None
    wikitext = _decoded(path, text[1] or b"", raw, text.start(1), line, f"page {title!r}")
    if b"<redirect " in raw or is_redirect(wikitext):
        counts.redirects += 1
        return None
    counts.pages += 1
    return Page(title, wikitext)


def _decoded(path: Path, value: bytes, raw: bytes, offset: int, line: int, what: str) -> str:
    def fail(problem: str, at: int) -> InputError:
        return InputError(path, f"{problem} in {what}", line=line + raw.count(b"\n", 0, offset + at), fix=FETCH_AGAIN)

    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise fail(f"not UTF-8 (byte {value[error.start]:#04x})", error.start) from None
    if "&" in text and (bare := _BARE_AMPERSAND.search(text)) is not None:
        raise fail("malformed XML: a bare & or an unknown entity", len(text[: bare.start()].encode()))
    return unescape_xml(text)


def _character(reference: re.Match[str]) -> str:
    if reference[1]:
        return _NAMED[reference[1]]
    code = int(reference[2], 16) if reference[2] else int(reference[3])
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
