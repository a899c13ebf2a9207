"""A MediaWiki `pages-articles` dump (export format 0.10): articles, redirects and pages of other namespaces.

The prose of an article has wiki markup, as in real dumps; if a reader strips it, exactly the paragraphs remain. Inline
markup encloses words or is inserted between characters. All other markup is on separate lines.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.synthetic.corpus import Document

REDIRECT_SHARE = 0.25  # redirects per article; large Wikipedias have more redirects than articles
OTHER_SHARE = 0.15
RECENT_TITLES = 50  # an article links only to this many articles before it
WORD = re.compile(r"(?<![\w'’])[^\W\d_]{2,}(?![\w'’])")
SPACE_AFTER_NUMBER = re.compile(r"(?<=\d) (?=\w)")
LONGEST_LABEL_WITHOUT_SPACES = 3  # in characters; without spaces, a run of letters is a whole clause
LINKS_PER_PARAGRAPH = 3
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
USER, FILE, CATEGORY = 2, 6, 14  # numbers of three namespaces

Namespaces = dict[int, str]  # names of a language edition's namespaces, by number
Page = tuple[str, int, str, str]  # title, namespace, wikitext, and the target title of a redirect
Edit = tuple[int, int, str]  # start, end, replacement


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
            handle.write(_page(number, rng, *page))
        handle.write("</mediawiki>\n")


def _pages(documents: Iterable[Document], code: str, joiner: str, rng: Random) -> Iterator[Page]:
    """Yield an article for each document, and now and then a redirect or a page of another namespace."""
    spaces, redirect = wiki_names(code)
    recent: list[str] = []
    for document in documents:
        title = document.title
        recent = [*recent[-RECENT_TITLES:], title]
        paragraphs = [joiner.join(paragraph) for paragraph in document.paragraphs]
        yield title, 0, article(paragraphs, title, recent, spaces, rng), ""
        if rng.random() < REDIRECT_SHARE:
            word = rng.choice((redirect, "#REDIRECT", "#redirect"))
            shell = "\n\n{{Redirect category shell|\n{{R from move}}\n}}"
            extra = rng.choice(("", "\n\n{{R from alternative name}}", shell))
            yield f"{title} – {rng.randint(2, 99)}", 0, f"{word} [[{title}]]{extra}", title
        if rng.random() < OTHER_SHARE:  # prose that readers must leave out of the corpus
            prose, talk, template = paragraphs[0], 1, 10
            signed = f"{prose} --[[{spaces[USER]}:X|X]] 12:00, 1 May 2019 (UTC)"
            table = f'{{| class="infobox"\n! {{{{{{name|{title}}}}}}}\n|}}'
            texts = {
                talk: f"{{{{talk header}}}}\n== {title} ==\n{signed}\n:{prose}",
                template: f"<includeonly>{table}</includeonly><noinclude>{prose}</noinclude>",
                CATEGORY: f"{prose}\n\n[[{spaces[CATEGORY]}:{title}]]",
            }
            space = rng.choice(tuple(texts))
            yield f"{spaces[space]}:{title}", space, texts[space], ""


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


def _page(number: int, rng: Random, title: str, namespace: int, wikitext: str, target: str) -> str:
    """Return a page as XML; its revision has a random date before that of the dump."""
    revision = 900_000_000 + 7 * number
    redirect = f"    <redirect title={quoteattr(target)} />\n" if target else ""
    parent = f"      <parentid>{revision - rng.randint(1, 6)}</parentid>\n" if rng.random() < 0.8 else ""
    day = f"{rng.randint(2004, 2019)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    time = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:00"
    editor = rng.randint(1, 99)
    contributor = f"        <username>Editor {editor}</username>\n        <id>{1000 + editor}</id>\n"
    if rng.random() < 0.2:
        contributor = f"        <ip>192.0.2.{editor}</ip>\n"
    minor = "      <minor />\n" if rng.random() < 0.2 else ""
    comment = "      <comment>/* [[x]] */ &lt;ref&gt; &amp; links</comment>\n" if rng.random() < 0.5 else ""
    text = escape(wikitext, {'"': "&quot;"})
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{number}</id>\n"
        f"{redirect}    <revision>\n      <id>{revision}</id>\n{parent}      <timestamp>{day}T{time}Z</timestamp>\n"
        f"      <contributor>\n{contributor}      </contributor>\n{minor}{comment}"
        "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(wikitext.encode())}" xml:space="preserve">{text}</text>\n'
        f"      <sha1>{sha1_base36(wikitext)}</sha1>\n    </revision>\n  </page>\n"
    )


def sha1_base36(text: str) -> str:
    """Return the SHA-1 of a revision's text as MediaWiki writes it: 31 digits in base 36."""
    value = int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(), 16)
    return np.base_repr(value, 36).lower().zfill(31)


def article(paragraphs: Sequence[str], title: str, others: Sequence[str], names: Namespaces, rng: Random) -> str:
    """Return the wikitext of one article; `others` are the titles of pages to which it may link."""
    blocks = [_top(title, others, names, rng)]
    for number, paragraph in enumerate(paragraphs):
        if number and rng.random() < 0.4:
            marks = "=" * rng.choice((2, 2, 3))
            word = WORD.search(paragraph)
            blocks.append(f"{marks} {word.group()[:12].capitalize() if word else paragraph[:2]} {marks}")
        blocks.append(mark_up(paragraph, title if number == 0 else "", others, rng))
        if rng.random() < 0.35:
            blocks.append(_block(others, names, rng))
    blocks.append(_bottom(others, names, rng))
    return "\n\n".join(blocks)


def mark_up(paragraph: str, title: str, others: Sequence[str], rng: Random) -> str:
    """Return a paragraph with links, emphasis, notes and entities; if `title` is given, it is made bold."""
    edits = _bold(paragraph, title) if title else []
    free_from = edits[0][1] if edits else 0
    words = [match for match in WORD.finditer(paragraph) if match.start() >= free_from]
    for match in rng.sample(words, min(len(words), rng.randint(1, LINKS_PER_PARAGRAPH))):
        edits.append(_link(match, others, rng))
    if (space := SPACE_AFTER_NUMBER.search(paragraph)) and rng.random() < 0.3:
        edits.append((space.start(), space.end(), "&nbsp;"))
    if words and rng.random() < 0.3:
        edits.append((words[-1].end(), words[-1].end(), _note(others, rng)))
    if rng.random() < 0.3:
        edits.append((len(paragraph), len(paragraph), _note(others, rng)))
    parts: list[str] = []
    done = 0
    for start, end, replacement in sorted(edits):
        if start >= done:  # an edit that overlaps an earlier one is left out
            parts += [paragraph[done:start], replacement]
            done = end
    return "".join(parts) + paragraph[done:]


def _bold(paragraph: str, title: str) -> list[Edit]:
    """Make the title bold if it occurs as a word, otherwise the first word; "Name (kind)" is "Name" in prose."""
    name = title.partition(" (")[0].strip("'’")  # beside the three of bold type, an apostrophe would be markup
    start = paragraph.find(name)
    end = start + len(name)
    around = paragraph[max(0, start - 1) : start] + paragraph[end : end + 1]
    if start < 0 or "'" in around or "’" in around or (" " in paragraph and any(map(str.isalnum, around))):
        first = WORD.search(paragraph)
        start, end = first.span() if first else (0, 0)
    return [(start, end, f"'''{paragraph[start:end]}'''")] if end else []


def _link(match: re.Match[str], others: Sequence[str], rng: Random) -> Edit:
    start, end = match.span()
    if " " not in match.string:
        start = rng.randrange(start, end - 1)
        end = min(end, start + rng.randint(1, LONGEST_LABEL_WITHOUT_SPACES))
    label = match.string[start:end]
    target = rng.choice(others)
    forms = (
        f"[[{label}]]",
        f"[[{target}|{label}]]",
        f"[[{target}#{label}|''{label}'']]",
        f"''{label}''",
        f'<span style="color:#333">{label}</span>',
    )
    return start, end, rng.choices(forms, weights=(4, 4, 1, 1, 1))[0]


def _note(others: Sequence[str], rng: Random) -> str:
    """Return inline markup that is not prose, such as a reference or a comment."""
    title, number = rng.choice(others), rng.randint(1900, 2019)
    return rng.choice(
        (
            f"<ref>{{{{cite book |title={title} |year={number} |author=[[{title}]]}}}}</ref>",
            f"<ref name=\"n{number}\">{title}, ''{number}''.</ref>",
            f"<ref name=n{number} />",
            f"<!-- {title} {number} -->",
            f"{{{{fact|date={{{{date|{number}}}}}}}}}",
            f'<ref group="note">[http://example.org/{number} {title}]</ref><ref name="n{number}"/>',
        )
    )


def _top(title: str, others: Sequence[str], names: Namespaces, rng: Random) -> str:
    first, second = rng.choice(others), rng.choice(others)
    infobox = (
        f"{{{{Infobox\n| name = {title}\n| image = {title}.jpg\n| born = {{{{date|{rng.randint(1800, 1999)}|1|1}}}}\n"
        f"| place = [[{first}|{second}]]<br />{{{{flag|{{{{lc:{first}}}}}}}}}\n}}}}"
    )
    notice = f"{{{{about|{first}|{second}}}}}\n__NOTOC__"
    picture = f"[[{names[FILE]}:{title}.jpg|thumb|200px|{first} ([[{second}]])]]"
    return rng.choices((infobox, notice, picture, f"{notice}\n{infobox}"), weights=(4, 1, 2, 1))[0]


def _bottom(others: Sequence[str], names: Namespaces, rng: Random) -> str:
    space = rng.choice((names[CATEGORY], "Category"))  # every wiki understands the English names too
    references = rng.choice(("<references />", "{{reflist|2}}", "{{Reflist|refs=\n{{cite|x}}\n}}"))
    links = "\n".join(f"* [[{title}]]" for title in rng.sample(others, min(2, len(others))))
    first, second = rng.choice(others), rng.choice(others)
    category = f"[[{space}:{first}]]\n[[{space}:{second}| ]]"
    return f"== {first} ==\n{links}\n\n== {second} ==\n{references}\n\n{{{{stub}}}}\n{category}"


def _block(others: Sequence[str], names: Namespaces, rng: Random) -> str:
    """Return a block between paragraphs: a picture, table, gallery, list or formula."""
    first, second, number, file = rng.choice(others), rng.choice(others), rng.randint(2, 99), names[FILE]
    inner = f"{{|\n| {first} || {number}\n|}}"
    return rng.choice(
        (
            f"[[{file}:{first}.png|thumb|left|{first}: [[{second}|''{second}'']] & [[{first}]]]]",
            f"[[Image:{first}.svg|{number}px|{first}]]",
            f'{{| class="wikitable"\n|+ {first}\n! {first} !! {second}\n|-\n| [[{second}]] || {number}\n|}}',
            f'{{|\n|-\n| colspan="2" |\n{inner}\n|}}',
            f"<gallery>\n{file}:{first}.jpg|[[{second}]]\n{file}:{second}.jpg|{first}\n</gallery>",
            f"* [[{first}]] {number}\n** [[{second}]]",
            f"# {first}\n## [[{second}|{number}]]",
            f"; {first}\n: {second} ({number})",
            f":<math>x^{number} + \\frac{{y}}{{z}} < {number}</math>",
        )
    )
