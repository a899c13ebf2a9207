"""A MediaWiki `pages-articles` dump (export format 0.10): articles, redirects and pages of other namespaces."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.synthetic.corpus import Document
from xling.synthetic.formats.wikitext import Namespaces, article

REDIRECT_SHARE = 0.25  # redirects per article; large Wikipedias have more redirects than articles
OTHER_SHARE = 0.15
RECENT_TITLES = 50  # an article links only to this many articles before it
XMLNS = "http://www.mediawiki.org/xml/export-0.10/"
NAMESPACES = (-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 100, 101)
ENGLISH = (
    "Media|Special||Talk|User|User talk|Wikipedia|Wikipedia talk|File|File talk|MediaWiki|MediaWiki talk|Template|"
    "Template talk|Help|Help talk|Category|Category talk|Portal|Portal talk"
)
OWN_NAMES = {  # names of the namespaces, and the redirect word, of language editions
    "fr": (
        "Média|Spécial||Discussion|Utilisateur|Discussion utilisateur|Wikipédia|Discussion Wikipédia|Fichier|"
        "Discussion fichier|MediaWiki|Discussion MediaWiki|Modèle|Discussion modèle|Aide|Discussion aide|Catégorie|"
        "Discussion catégorie|Portail|Discussion Portail",
        "#REDIRECTION",
    ),
    "de": (
        "Medium|Spezial||Diskussion|Benutzer|Benutzer Diskussion|Wikipedia|Wikipedia Diskussion|Datei|"
        "Datei Diskussion|MediaWiki|MediaWiki Diskussion|Vorlage|Vorlage Diskussion|Hilfe|Hilfe Diskussion|Kategorie|"
        "Kategorie Diskussion|Portal|Portal Diskussion",
        "#WEITERLEITUNG",
    ),
    "ru": (
        "Медиа|Служебная||Обсуждение|Участник|Обсуждение участника|Википедия|Обсуждение Википедии|Файл|"
        "Обсуждение файла|MediaWiki|Обсуждение MediaWiki|Шаблон|Обсуждение шаблона|Справка|Обсуждение справки|"
        "Категория|Обсуждение категории|Портал|Обсуждение портала",
        "#перенаправление",
    ),
    "zh": (ENGLISH, "#重定向"),
}


class Page(NamedTuple):
    """A page without ids and date."""

    title: str
    namespace: int
    text: str
    redirect: str = ""  # target title, if the page is a redirect


def wiki_names(code: str) -> tuple[Namespaces, str]:
    """Return the names of a language edition's namespaces and its redirect word; the default is English."""
    names, redirect = OWN_NAMES.get(code, (ENGLISH, "#REDIRECT"))
    return dict(zip(NAMESPACES, names.split("|"), strict=True)), redirect


def write_dump(path: Path, documents: Iterable[Document], code: str, joiner: str, seed: int) -> None:
    """Write documents as the dump of a language edition; `joiner` separates the sentences of a paragraph."""
    rng = python_rng(seed, "mediawiki", code)
    with write_text(path) as handle:
        handle.write(_header(code))
        for number, page in enumerate(_pages(documents, code, joiner, rng), start=1):
            handle.write(_page(page, number, rng))
        handle.write("</mediawiki>\n")


def _pages(documents: Iterable[Document], code: str, joiner: str, rng: Random) -> Iterator[Page]:
    """Yield an article for each document, and now and then a redirect or a page of another namespace."""
    spaces, redirect = wiki_names(code)
    seen: Counter[str] = Counter()
    recent: list[str] = []

    def free(title: str) -> str:
        """Return the title with a capital first letter, and with a number if it is already used."""
        title = title[:1].upper() + title[1:]
        seen[title] += 1
        return title if seen[title] == 1 else f"{title} ({seen[title]})"

    for document in documents:
        title = free(document.title)
        recent = [*recent[-RECENT_TITLES:], title]
        paragraphs = [joiner.join(paragraph) for paragraph in document.paragraphs]
        yield Page(title, 0, article(paragraphs, document.title, recent, spaces, rng))
        if rng.random() < REDIRECT_SHARE:
            word = rng.choice((redirect, "#REDIRECT", "#redirect"))
            shell = "\n\n{{Redirect category shell|\n{{R from move}}\n}}"
            extra = rng.choice(("", "\n\n{{R from alternative name}}", shell))
            yield Page(free(f"{title} – {rng.randint(2, 99)}"), 0, f"{word} [[{title}]]{extra}", title)
        if rng.random() < OTHER_SHARE:  # prose that readers must leave out of the corpus
            space, prose = rng.choice((1, 10, 14)), paragraphs[0]
            signed = f"{prose} --[[{spaces[2]}:X|X]] 12:00, 1 May 2019 (UTC)"
            table = f'{{| class="infobox"\n! {{{{{{name|{title}}}}}}}\n|}}'
            texts = {
                1: f"{{{{talk header}}}}\n== {title} ==\n{signed}\n:{prose}",
                10: f"<includeonly>{table}</includeonly><noinclude>{prose}</noinclude>",
                14: f"{prose}\n\n[[{spaces[14]}:{title}]]",
            }
            yield Page(free(f"{spaces[space]}:{title}"), space, texts[space])


def _header(code: str) -> str:
    names, _ = wiki_names(code)
    spaces = "".join(
        f'      <namespace key="{key}" case="first-letter"' + (f">{escape(name)}</namespace>\n" if name else " />\n")
        for key, name in names.items()
    )
    return (
        f'<mediawiki xmlns="{XMLNS}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        f' xsi:schemaLocation="{XMLNS} http://www.mediawiki.org/xml/export-0.10.xsd"'
        f' version="0.10" xml:lang="{code}">\n'
        f"  <siteinfo>\n    <sitename>{names[4]}</sitename>\n    <dbname>{code}wiki</dbname>\n"
        f"    <base>https://{code}.wikipedia.org/wiki/Main_Page</base>\n"
        "    <generator>MediaWiki 1.35.0-wmf.11</generator>\n"
        f"    <case>first-letter</case>\n    <namespaces>\n{spaces}    </namespaces>\n  </siteinfo>\n"
    )


def _page(page: Page, number: int, rng: Random) -> str:
    """Return a page as XML; its revision has a random date before that of the dump."""
    revision = 900_000_000 + 7 * number
    redirect = f"    <redirect title={quoteattr(page.redirect)} />\n" if page.redirect else ""
    parent = f"      <parentid>{revision - rng.randint(1, 6)}</parentid>\n" if rng.random() < 0.8 else ""
    day = f"{rng.randint(2004, 2019)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    time = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:00"
    editor = rng.randint(1, 99)
    contributor = f"        <username>Editor {editor}</username>\n        <id>{1000 + editor}</id>\n"
    if rng.random() < 0.2:
        contributor = f"        <ip>192.0.2.{editor}</ip>\n"
    minor = "      <minor />\n" if rng.random() < 0.2 else ""
    comment = "      <comment>/* [[x]] */ &lt;ref&gt; &amp; links</comment>\n" if rng.random() < 0.5 else ""
    text = escape(page.text, {'"': "&quot;"})
    return (
        f"  <page>\n    <title>{escape(page.title)}</title>\n    <ns>{page.namespace}</ns>\n    <id>{number}</id>\n"
        f"{redirect}    <revision>\n      <id>{revision}</id>\n{parent}      <timestamp>{day}T{time}Z</timestamp>\n"
        f"      <contributor>\n{contributor}      </contributor>\n{minor}{comment}"
        "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(page.text.encode())}" xml:space="preserve">{text}</text>\n'
        f"      <sha1>{sha1_base36(page.text)}</sha1>\n    </revision>\n  </page>\n"
    )


def sha1_base36(text: str) -> str:
    """Return the SHA-1 of a revision's text as MediaWiki writes it: 31 digits in base 36."""
    value = int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(), 16)
    return np.base_repr(value, 36).lower().zfill(31)
