"""A MediaWiki `pages-articles` dump (export format 0.10): articles, redirects and pages of other namespaces."""

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape, quoteattr

from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.synthetic.formats.namespaces import WikiNames, wiki_names
from xling.synthetic.formats.wikitext import article
from xling.synthetic.types import Document

REDIRECT_SHARE = 0.25  # of the articles; in large Wikipedias there are more redirects than articles
OTHER_SHARE = 0.15
RECENT_TITLES = 50  # how far back a page links
BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"
XMLNS = "http://www.mediawiki.org/xml/export-0.10/"


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it has ids and a date."""

    title: str
    namespace: int
    text: str
    redirect: str = ""  # the title it leads to


def write_dump(path: Path, documents: Iterable[Document], code: str, joiner: str, seed: int) -> None:
    """Write documents as a language edition's dump; the sentences of a paragraph are held together by `joiner`."""
    rng = python_rng(seed, "mediawiki", code)
    names = wiki_names(code)
    with write_text(path) as handle:
        handle.write(header(code, names))
        for number, page in enumerate(pages(documents, names, joiner, rng), start=1):
            _write_page(handle, page, number, rng)
        handle.write("</mediawiki>\n")


def pages(documents: Iterable[Document], names: WikiNames, joiner: str, rng: random.Random) -> Iterator[Page]:
    """Yield each document as an article, with redirects and other pages among them."""
    seen: dict[str, int] = {}
    recent: list[str] = []
    for document in documents:
        title = _free_title(document.title, seen)
        recent = [*recent[-RECENT_TITLES:], title]
        paragraphs = [joiner.join(paragraph.sentences) for paragraph in document.paragraphs]
        yield Page(title, 0, article(paragraphs, document.title, recent, names, rng))
        if rng.random() < REDIRECT_SHARE:
            yield _redirect(title, seen, names, rng)
        if rng.random() < OTHER_SHARE:
            yield _other_page(title, paragraphs[0], seen, names, rng)


def header(code: str, names: WikiNames) -> str:
    """Return what stands before the first page."""
    spaces = "".join(
        f'      <namespace key="{key}" case="first-letter"' + (f">{escape(name)}</namespace>\n" if name else " />\n")
        for key, name in sorted(names.spaces.items())
    )
    return (
        f'<mediawiki xmlns="{XMLNS}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        f' xsi:schemaLocation="{XMLNS} http://www.mediawiki.org/xml/export-0.10.xsd"'
        f' version="0.10" xml:lang="{code}">\n'
        f"  <siteinfo>\n    <sitename>{names.spaces[4]}</sitename>\n    <dbname>{code}wiki</dbname>\n"
        f"    <base>https://{code}.wikipedia.org/wiki/Main_Page</base>\n"
        "    <generator>MediaWiki 1.35.0-wmf.11</generator>\n"
        f"    <case>first-letter</case>\n    <namespaces>\n{spaces}    </namespaces>\n  </siteinfo>\n"
    )


def _redirect(title: str, seen: dict[str, int], names: WikiNames, rng: random.Random) -> Page:
    word = rng.choice((names.redirect, "#REDIRECT", "#redirect"))
    extra = rng.choice(("", "\n\n{{R from alternative name}}", "\n\n{{Redirect category shell|\n{{R from move}}\n}}"))
    return Page(_free_title(f"{title} – {rng.randint(2, 99)}", seen), 0, f"{word} [[{title}]]{extra}", title)


def _other_page(title: str, prose: str, seen: dict[str, int], names: WikiNames, rng: random.Random) -> Page:
    """Return a page outside the article namespace; its prose is not part of the corpus."""
    space = rng.choice((1, 10, 14))
    table = f'{{| class="infobox"\n! {{{{{{name|{title}}}}}}}\n|}}'
    texts = {
        1: f"{{{{talk header}}}}\n== {title} ==\n{prose} --[[{names.spaces[2]}:X|X]] 12:00, 1 May 2019 (UTC)\n:{prose}",
        10: f"<includeonly>{table}</includeonly><noinclude>{prose}</noinclude>",
        14: f"{prose}\n\n[[{names.spaces[14]}:{title}]]",
    }
    return Page(_free_title(f"{names.spaces[space]}:{title}", seen), space, texts[space])


def _free_title(title: str, seen: dict[str, int]) -> str:
    """Return the title with a capital first letter, numbered if the wiki has it already."""
    title = title[:1].upper() + title[1:]
    seen[title] = seen.get(title, 0) + 1
    return title if seen[title] == 1 else f"{title} ({seen[title]})"


def _write_page(handle: IO[str], page: Page, number: int, rng: random.Random) -> None:
    revision = 900_000_000 + 7 * number
    redirect = f"    <redirect title={quoteattr(page.redirect)} />\n" if page.redirect else ""
    parent = f"      <parentid>{revision - rng.randint(1, 6)}</parentid>\n" if rng.random() < 0.8 else ""
    handle.write(
        f"  <page>\n    <title>{escape(page.title)}</title>\n    <ns>{page.namespace}</ns>\n    <id>{number}</id>\n"
        f"{redirect}    <revision>\n      <id>{revision}</id>\n{parent}      <timestamp>{_timestamp(rng)}</timestamp>\n"
        f"      <contributor>\n{_contributor(rng)}      </contributor>\n{_remarks(rng)}"
        "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(page.text.encode())}" xml:space="preserve">{_xml_text(page.text)}</text>\n'
        f"      <sha1>{sha1_base36(page.text)}</sha1>\n    </revision>\n  </page>\n"
    )


def _xml_text(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def _timestamp(rng: random.Random) -> str:
    """Return a moment before the dump's date."""
    year, month, day = rng.randint(2004, 2019), rng.randint(1, 12), rng.randint(1, 28)
    return f"{year}-{month:02d}-{day:02d}T{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:00Z"


def _contributor(rng: random.Random) -> str:
    number = rng.randint(1, 99)
    if rng.random() < 0.2:
        return f"        <ip>192.0.2.{number}</ip>\n"
    return f"        <username>Editor {number}</username>\n        <id>{1000 + number}</id>\n"


def _remarks(rng: random.Random) -> str:
    minor = "      <minor />\n" if rng.random() < 0.2 else ""
    return minor + ("      <comment>/* [[x]] */ &lt;ref&gt; &amp; links</comment>\n" if rng.random() < 0.5 else "")


def sha1_base36(text: str) -> str:
    """Return the sha1 of a revision's text as MediaWiki writes it: 31 digits to the base 36."""
    value = int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(), 16)
    digits = ""
    for _ in range(31):
        value, digit = divmod(value, 36)
        digits = BASE_36[digit] + digits
    return digits
