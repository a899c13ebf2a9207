"""Pages of a MediaWiki export (pages-articles.xml.bz2, schema 0.10 and 0.11, multistream too), read as a stream."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from xling.core.errors import InputError
from xling.core.io import BROKEN_ARCHIVE, COMPRESSED
from xling.data.wikitext import is_redirect

CHUNK = 1 << 20
Advance = Callable[[int], None]
FETCH_AGAIN = "fetch the dump again"
CUT_UP = re.compile(rb"\s*<page>")  # a part of a dump, without what stands before the pages


class Page(NamedTuple):
    """An article: its title and its wikitext."""

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
    reader, position = _Reader(path, counts), 0
    opener = COMPRESSED.get(path.suffix)
    with path.open("rb") as raw, opener(raw) if opener else raw as stream:
        try:
            while chunk := stream.read1(CHUNK):  # what is there at once: a later break then loses no page
                counts.xml_bytes += len(chunk)
                if advance is not None:
                    advance(raw.tell() - position)
                    position = raw.tell()
                yield from reader.read(chunk)
        except (*BROKEN_ARCHIVE, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # bz2 has no number for a damaged block
                raise
            problem = f"truncated or damaged {reader.where()}: {str(error).rstrip('.')}"
            raise InputError(path, problem, fix=FETCH_AGAIN) from None
    reader.finish()


class _Reader:
    """Collects the pages while Expat goes through the file."""

    def __init__(self, path: Path, counts: Counts) -> None:
        self.path, self.counts, self.title, self.found = path, counts, "", list[Page]()
        self.open: list[str] = []  # names of the open elements
        self.text: list[str] = []  # since the last tag
        self.page: dict[str, str] = {}  # values of its elements
        self.key = ""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text, self.parser.buffer_size = True, CHUNK
        self.parser.CharacterDataHandler = self.text.append
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end

    def read(self, chunk: bytes) -> list[Page]:
        """Return the articles that end in the next chunk of the file."""
        self.found = []
        if not self.counts.xml_bytes > len(chunk) and CUT_UP.match(chunk):
            self.parser.Parse(b"<mediawiki>")
        try:
            self.parser.Parse(chunk)
        except expat.ExpatError as error:
            problem = f"malformed XML {self.where()}: {expat.errors.messages[error.code]}"
            raise InputError(self.path, problem, line=error.lineno, fix=FETCH_AGAIN) from None
        return self.found

    def finish(self) -> None:
        """Refuse a file that ends inside a page, and note one that ends after a page."""
        if "page" in self.open:
            raise InputError(self.path, f"the XML ends inside a page, {self.where()}", fix=FETCH_AGAIN)
        if self.open:
            self.counts.cut_after = self.title

    def where(self) -> str:
        """Return words for the place that has been reached."""
        return f"after the start of page {self.title!r}" if self.title else "before the first page"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.open and name != "mediawiki":
            raise InputError(self.path, f"not a MediaWiki export: starts with <{name}>, expected <mediawiki>")
        if name == "page":
            self.page = {}
        elif name == "redirect":
            self.page[name] = ""
        self.key = attributes.get("key", "")
        self.open.append(name)
        self.text.clear()

    def _end(self, name: str) -> None:
        self.open.pop()
        if name == "page":
            self._add_page()
        elif name == "namespace" and self.text:
            self.counts.namespaces[int(self.key)] = "".join(self.text)
        elif (*self.open[-1:], name) in (
            ("page", "title"),
            ("page", "ns"),
            ("revision", "text"),
        ):  # the newest comes last
            self.page[name] = "".join(self.text)
            self.title = self.page.get("title", "")
        self.text.clear()

    def _add_page(self) -> None:
        if missing := {"title", "ns", "text"} - self.page.keys():
            problem = f"a page without <{min(missing)}> {self.where()}"
            raise InputError(self.path, problem, line=self.parser.CurrentLineNumber, fix=FETCH_AGAIN)
        if int(self.page["ns"]) != 0:
            self.counts.other_namespaces += 1
        elif "redirect" in self.page or is_redirect(self.page["text"]):
            self.counts.redirects += 1
        else:
            self.counts.pages += 1
            self.found.append(Page(self.page["title"], self.page["text"]))
