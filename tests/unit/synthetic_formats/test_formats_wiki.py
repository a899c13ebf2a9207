import bz2
import hashlib
import html
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xling.synthetic.formats.mediawiki import sha1_base36, write_dump
from xling.synthetic.formats.namespaces import wiki_names
from xling.synthetic.formats.wikitext import article, mark_up
from xling.synthetic.types import Document

NS = {"m": "http://www.mediawiki.org/xml/export-0.10/"}
VOID = ("File", "Image", "Category", "Fichier", "Catégorie", "Datei", "Kategorie", "Файл", "Категория")


def link_text(match: re.Match[str]) -> str:
    target, _, label = match[1].partition("|")
    return "" if target.split(":")[0] in VOID else label.rpartition("|")[2] or target


def until_stable(pattern: str, replacement: object, text: str) -> str:
    while (shorter := re.sub(pattern, replacement, text)) != text:
        text = shorter
    return text


def strip(wikitext: str) -> list[str]:
    """Take all markup away: an independent reader of the little wikitext that we write."""
    text = re.sub(r"<!--.*?-->|<ref[^>]*/>|<(ref|math|gallery)[^>]*>.*?</\1>", "", wikitext, flags=re.DOTALL)
    text = until_stable(r"\{\{[^{}]*\}\}", "", text)
    text = until_stable(r"\{\|(?:(?!\{\|).)*?\|\}", "", text.replace("\n", "\0")).replace("\0", "\n")
    text = until_stable(r"\[\[([^\[\]]*)\]\]", link_text, text)
    text = html.unescape(re.sub(r"<[^>]*>|'{2,}|__\w+__", "", text)).replace("\xa0", " ")
    return [line for line in text.split("\n") if line.strip(" :") and line[0] not in "=*#:;"]


def texts(path: Path) -> list[ET.Element]:
    return root_of(path).findall("m:page", NS)


def root_of(path: Path) -> ET.Element:
    return ET.fromstring(bz2.decompress(path.read_bytes()))  # noqa: S314 we have written it ourselves


@pytest.fixture
def dump(tmp_path: Path, documents: list[Document]) -> Path:
    path = tmp_path / "frwiki-20200101-pages-articles.xml.bz2"
    write_dump(path, documents, "fr", " ", seed=1)
    return path


def test_the_prose_of_articles_is_left_when_the_markup_is_stripped(dump: Path, documents: list[Document]) -> None:
    expected = [" ".join(paragraph.sentences) for document in documents for paragraph in document.paragraphs]
    found = []
    for page in texts(dump):
        if page.findtext("m:ns", "", NS) == "0" and page.find("m:redirect", NS) is None:
            found += strip(page.findtext("m:revision/m:text", "", NS))
    assert found == expected


def test_every_kind_of_markup_occurs(dump: Path) -> None:
    text = "".join(page.findtext("m:revision/m:text", "", NS) for page in texts(dump))
    wanted = ["'''", "[[", "|", "{{", "{{lc:", "{|", "<ref>", "/>", "<gallery>", "<math>", "<!--", "\n== ", "\n* ",
              "&nbsp;", "[[Fichier:", "[[Catégorie:", "[[Category:", "thumb", "{{Infobox", "<br />"]  # fmt: skip
    assert [mark for mark in wanted if mark not in text] == []


def test_pages_have_what_the_export_format_demands(dump: Path) -> None:
    pages = texts(dump)
    assert len({page.findtext("m:title", "", NS) for page in pages}) == len(pages)
    assert [page.findtext("m:id", "", NS) for page in pages] == [str(number + 1) for number in range(len(pages))]
    for page in pages:
        revision = page.find("m:revision", NS)
        text = revision.find("m:text", NS)
        assert int(text.get("bytes")) == len(text.text.encode())
        assert revision.findtext("m:sha1", "", NS) == sha1_base36(text.text)
        assert revision.findtext("m:model", "", NS) == "wikitext"
        assert revision.findtext("m:format", "", NS) == "text/x-wiki"
        assert re.fullmatch(r"20[01]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", revision.findtext("m:timestamp", "", NS))
        assert (
            revision.find("m:contributor/m:ip", NS) is not None
            or revision.find("m:contributor/m:username", NS) is not None
        )


def test_redirects_lead_to_a_page_that_exists(dump: Path) -> None:
    titles = {page.findtext("m:title", "", NS) for page in texts(dump)}
    redirects = [page for page in texts(dump) if page.find("m:redirect", NS) is not None]
    assert len(redirects) > 10
    for page in redirects:
        target = page.find("m:redirect", NS).get("title")
        assert target in titles
        assert re.match(
            rf"#(redirect|redirection) \[\[{re.escape(target)}\]\]", page.findtext("m:revision/m:text", "", NS), re.I
        )


def test_namespaces_of_pages_are_those_of_the_site(dump: Path) -> None:
    root = root_of(dump)
    names = {space.get("key"): space.text or "" for space in root.iterfind("m:siteinfo/m:namespaces/m:namespace", NS)}
    assert names["10"] == "Modèle"
    others = [(page.findtext("m:ns", "", NS), page.findtext("m:title", "", NS)) for page in root.iterfind("m:page", NS)]
    assert {space for space, _ in others} == {"0", "1", "10", "14"}
    assert all(title.startswith(f"{names[space]}:") for space, title in others if space != "0")


def test_sha1_as_mediawiki_writes_it() -> None:
    digits = sha1_base36("some text")
    assert len(digits) == 31
    assert int(digits, 36) == int(hashlib.sha1(b"some text", usedforsecurity=False).hexdigest(), 16)


WORDS = st.lists(
    st.from_regex(r"([a-zа-яé王明北]{1,6}'?[a-z]{0,3}|\d{1,3}|[A-Z][a-z]+,)", fullmatch=True), min_size=1, max_size=12
)


@given(WORDS, st.sampled_from([" ", ""]), st.integers(0, 10**6))
def test_inline_markup_only_adds(words: list[str], joiner: str, seed: int) -> None:
    paragraph = joiner.join(words) + "."
    marked = mark_up(paragraph, words[0], ["Berg", "Old Town"], random.Random(seed))
    assert strip("x" + marked) == ["x" + paragraph]


@pytest.mark.parametrize("code", ["en", "fr", "de", "ru", "zh", "xx"])
def test_articles_in_a_script_without_spaces(code: str) -> None:
    paragraphs = ["王明爱北京。他有3只猫。", "北京很大。"]
    for seed in range(50):
        text = article(paragraphs, "王明", ["北京", "上海"], wiki_names(code), random.Random(seed))
        assert strip(text) == paragraphs
        assert "'''王明'''爱" in text
