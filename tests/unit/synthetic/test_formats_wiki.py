"""Wiki dumps: well-formed pages, and exactly the prose when the reader of real dumps strips the markup."""

import bz2
import hashlib
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xling.data.wikinames import hidden_prefixes
from xling.data.wikitext import paragraphs as strip
from xling.synthetic.formats.mediawiki import wiki_names, write_dump
from xling.synthetic.formats.wikitext import article, mark_up
from xling.synthetic.types import Document

NS = {"m": "http://www.mediawiki.org/xml/export-0.10/"}


@pytest.fixture
def dump(tmp_path: Path, pages: list[Document]) -> ET.Element:
    path = tmp_path / "frwiki-20200101-pages-articles.xml.bz2"
    write_dump(path, pages, "fr", " ", seed=1)
    return ET.fromstring(bz2.decompress(path.read_bytes()))  # noqa: S314 we have written it ourselves


def test_every_kind_of_markup_occurs(dump: ET.Element) -> None:
    text = "".join(page.findtext("m:revision/m:text", "", NS) for page in dump.iterfind("m:page", NS))
    wanted = ["'''", "[[", "|", "{{", "{{lc:", "{|", "<ref>", "/>", "<gallery>", "<math>", "<!--", "\n== ", "\n* ",
              "&nbsp;", "[[Fichier:", "[[Catégorie:", "[[Category:", "thumb", "{{Infobox", "<br />"]  # fmt: skip
    assert [mark for mark in wanted if mark not in text] == []


def test_pages_have_what_the_export_format_demands(dump: ET.Element) -> None:
    names = {space.get("key"): space.text or "" for space in dump.iterfind("m:siteinfo/m:namespaces/m:namespace", NS)}
    assert names["10"] == "Modèle"
    found = dump.findall("m:page", NS)
    titles = {page.findtext("m:title", "", NS) for page in found}
    assert len(titles) == len(found)
    assert {page.findtext("m:ns", "", NS) for page in found} == {"0", "1", "10", "14"}
    for number, page in enumerate(found, start=1):
        space, title = page.findtext("m:ns", "", NS), page.findtext("m:title", "", NS)
        assert space == "0" or title.startswith(f"{names[space]}:")
        assert page.findtext("m:id", "", NS) == str(number)
        revision = page.find("m:revision", NS)
        text = revision.find("m:text", NS)
        assert int(text.get("bytes")) == len(text.text.encode())
        sha1 = revision.findtext("m:sha1", "", NS)
        assert len(sha1) == 31
        assert int(sha1, 36) == int(hashlib.sha1(text.text.encode(), usedforsecurity=False).hexdigest(), 16)
        assert revision.findtext("m:model", "", NS) == "wikitext"
        assert revision.findtext("m:format", "", NS) == "text/x-wiki"
        assert re.fullmatch(r"20[01]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", revision.findtext("m:timestamp", "", NS))
        assert any(revision.find(f"m:contributor/m:{who}", NS) is not None for who in ("ip", "username"))
        if (redirect := page.find("m:redirect", NS)) is not None:
            target = redirect.get("title")
            assert target in titles
            assert re.match(rf"#(redirect|redirection) \[\[{re.escape(target)}\]\]", text.text, re.IGNORECASE)
    assert sum(page.find("m:redirect", NS) is not None for page in found) > 10


LETTERS = st.text("abkzаяé王明北", min_size=1, max_size=6)
ENDINGS = st.sampled_from(["", "", "'", "'s", "ab"])
WORDS = st.lists(
    st.builds("{}{}".format, LETTERS, ENDINGS) | st.integers(0, 999).map(str) | st.sampled_from(["Anna,", "Berg,"]),
    min_size=1,
    max_size=12,
)


@given(WORDS, st.sampled_from([" ", ""]), st.integers(0, 10**6))
def test_inline_markup_only_adds(words: list[str], joiner: str, seed: int) -> None:
    paragraph = joiner.join(words) + "."
    marked = mark_up(paragraph, words[0], ["Berg", "Old Town"], random.Random(seed))
    assert strip("x" + marked, frozenset()) == ["x" + paragraph]


@pytest.mark.parametrize("code", ["en", "fr", "de", "ru", "zh", "xx"])
def test_articles_in_a_script_without_spaces(code: str) -> None:
    paragraphs = ["王明爱北京。他有3只猫。", "北京很大。"]
    for seed in range(50):
        names = wiki_names(code)[0]
        text = article(paragraphs, "王明", ["北京", "上海"], names, random.Random(seed))
        assert strip(text, hidden_prefixes(names)) == paragraphs
        assert "'''王明'''爱" in text
