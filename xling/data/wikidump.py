"""Pages of a MediaWiki export (pages-articles.xml.bz2, schema 0.10 and 0.11, multistream too), read as a stream."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from xling.core.errors import InputError
from xling.core.io import BROKEN_ARCHIVE
from xling.data.parts import CHUNK, Span, read_head, read_span
from xling.data.wikitext import is_redirect

PAGE = b"<page>"
FETCH_AGAIN = "fetch the dump again"
CUT_UP = re.compile(rb"\s*<page>")  # a part of a dump, without what stands before the pages


class Page(NamedTuple):
    """An article: its title and its wikitext."""

    title: str
    wikitext: str


class Dump:
    """The articles of a dump: namespace 0, no redirects; `counts` says what else it held.

    `namespaces` are the names seen so far. A dump that ends between two pages without its closing tag is read as far as
    it goes; then `cut_after` is the title of its last page.
    """

    def __init__(self, path: Path, counts: Counter[str] | None = None, span: Span | None = None) -> None:
        self.path, self.counts = path, Counter[str]() if counts is None else counts
        self.span = span or Span(path, 0, path.stat().st_size)
        self.counts.update(pages=0, redirects=0, other_namespaces=0, input_bytes=0)
        self.namespaces: dict[int, str] = {}
        self.cut_after: str | None = None
        self._title = ""  # of the page that was met last
        self._found: list[Page] = []
        self._page: dict[str, str] = {}  # values of its elements
        self._open: list[str] = []  # names of the open elements
        self._text: list[str] = []  # since the last tag
        self._key = ""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text, self._parser.buffer_size = True, CHUNK
        self._parser.CharacterDataHandler = self._text.append
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end

    def pages(self, advance: Callable[[int], None] = lambda _: None) -> Iterator[Page]:
        """Yield the articles; `advance` is told how many bytes of the file, compressed or not, were read for them."""
        position = self.span.start
        try:
            if position:  # what precedes the pages names the namespaces
                head = read_head(self.path, PAGE)
                self._read(head)
                self.counts["input_bytes"] -= len(head)
            for place, chunk in read_span(self.span, PAGE):
                advance(place - position)
                position = place
                yield from self._read(chunk)
        except (*BROKEN_ARCHIVE, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # bz2 has no number for a damaged block
                raise
            raise self._problem(f"truncated or damaged {self._where()}: {str(error).rstrip('.')}") from None
        advance(self.span.stop - position)
        if "page" in self._open:
            raise self._problem(f"the XML ends inside a page, {self._where()}")
        seen = self._title or self.span.whole  # the last part may hold no page
        self.cut_after = self._title if self._open and self.span.last and seen else None

    def _read(self, chunk: bytes) -> list[Page]:
        """Return the articles that end in the next chunk of the file."""
        if not self._open and CUT_UP.match(chunk):
            self._parser.Parse(b"<mediawiki>")
        self.counts["input_bytes"] += len(chunk)
        self._found = []
        try:
            self._parser.Parse(chunk)
        except expat.ExpatError as error:
            problem = f"malformed XML {self._where()}: {expat.errors.messages[error.code]}"
            raise self._problem(problem, error.lineno) from None
        return self._found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open and name != "mediawiki":
            raise InputError(self.path, f"not a MediaWiki export: starts with <{name}>, expected <mediawiki> or <page>")
        if name == "page":
            self._page = {}
        elif name == "redirect":
            self._page[name] = ""
        self._key = attributes.get("key", "")
        self._open.append(name)
        self._text.clear()

    def _end(self, name: str) -> None:
        self._open.pop()
        if name == "page":
            self._add_page()
        elif name == "namespace" and self._text:
            self.namespaces[int(self._key)] = "".join(self._text)
        elif (*self._open[-1:], name) in (("page", "title"), ("page", "ns"), ("revision", "text")):
            self._page[name] = "".join(self._text)  # the newest revision comes last
            self._title = self._page.get("title", "")
        self._text.clear()

    def _add_page(self) -> None:
        if missing := {"title", "ns", "text"} - self._page.keys():
            raise self._problem(f"a page without <{min(missing)}> {self._where()}", self._parser.CurrentLineNumber)
        if int(self._page["ns"]) != 0:
            self.counts["other_namespaces"] += 1
        elif "redirect" in self._page or is_redirect(self._page["text"]):
            self.counts["redirects"] += 1
        else:
            self.counts["pages"] += 1
            self._found.append(Page(self._page["title"], self._page["text"]))

    def _where(self) -> str:
        return f"after the start of page {self._title!r}" if self._title else "before the first page"

    def _problem(self, problem: str, line: int | None = None) -> InputError:
        fix = FETCH_AGAIN if self._title else f"{FETCH_AGAIN}; plain text has format: text"
        return InputError(self.path, problem, line=line if self.span.start == 0 else None, fix=fix)
