"""Pages out of MediaWiki exports: the right ones, rightly unescaped, and clear words where the file is not whole."""

import bz2
import tracemalloc
from pathlib import Path

import pytest
from small_dump import dump_xml, page_xml, write_dump

from xling.core.errors import InputError
from xling.data.parts import CHUNK
from xling.data.wikidump import Dump, Page


def problem_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(Dump(path).pages())
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def test_only_articles_that_are_no_redirects_are_read(tmp_path: Path) -> None:
    pages = [
        page_xml("Haus & Hof", 'a < b & "c" &nbsp; &lt;i&gt;'),
        page_xml("Diskussion:Haus", "talk", ns=1),
        page_xml("Heim", "", redirect='    <redirect title="Haus &amp; Hof" />\n'),
        *(
            page_xml(word, f"{word} [[Haus]]")
            for word in ("#REDIRECT", "#Weiterleitung", "#REDIRECTION:", "#重定向", " #перенаправление")
        ),
        page_xml("Leer", "").replace('<text bytes="9" sha1="x" xml:space="preserve"></text>', '<text bytes="0" />'),
    ]
    dump, read = Dump(write_dump(tmp_path, dump_xml(*pages))), list[int]()
    assert list(dump.pages(read.append)) == [Page("Haus & Hof", 'a < b & "c" &nbsp; &lt;i&gt;'), Page("Leer", "")]
    assert sum(read) == dump.path.stat().st_size
    del dump.counts["input_bytes"]
    assert (dump.counts, dump.cut_after) == ({"pages": 2, "redirects": 6, "other_namespaces": 1}, None)
    assert dump.namespaces == {6: "Bildnis", 14: "Schublade"}


def test_the_newest_revision_and_its_main_text_are_read(tmp_path: Path) -> None:
    page = page_xml("A", "new").replace("    <revision>", "    <revision><text>old</text></revision><revision>", 1)
    page = page.replace("</text>\n    </revision>", "</text><content><text>slot</text></content></revision>")
    assert [p.wikitext for p in Dump(write_dump(tmp_path, dump_xml(page))).pages()] == ["new"]


@pytest.mark.real_data
def test_a_dump_that_ends_between_pages_says_so(real_data: Path) -> None:
    dump = Dump(*real_data.glob("wikidump/*corus*"))
    assert [page.title for page in dump.pages()] == ["Литва"]
    assert dump.cut_after == "Литва"


def test_a_truncated_file_names_the_page(tmp_path: Path) -> None:
    path = write_dump(tmp_path, dump_xml(*(page_xml(f"Seite {n}", f"{n * 7919} Text ä") for n in range(3000))))
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:400] + bytes(40) + whole[440:], b""):
        path.write_bytes(damaged)
        assert problem_of(path).startswith(": truncated or damaged before the first page: ")
    path.write_bytes(bz2.compress(dump_xml(X).replace("</mediawiki>", "").encode()) + bz2.compress(b"<page>")[:-9])
    assert "truncated or damaged after the start of page 'X'" in problem_of(path)


X = page_xml("X", "a")
MALFORMED = [
    (X[:-12], "the XML ends inside a page, after the start of page 'X'"),
    (X.replace("</page>", "") + page_xml("Y", "b"), "the XML ends inside a page, after the start of page 'Y'"),
    (X.replace("<title>X</title>", ""), ", line 32: a page without <title>"),
    (X.replace("<ns>0</ns>", ""), ", line 32: a page without <ns> after the start of page 'X'"),
    (X.replace(">a<", ">a<b>c<"), ", line 30: malformed XML after the start of page 'X': mismatched tag"),
    (page_xml("X", "1\n2\n3").replace("3<", "AT&T<"), ", line 32: malformed XML after the start of page 'X'"),
    (page_xml("X", "eins\nzw\udcff"), ", line 31: malformed XML after the start of page 'X': not well-formed"),
]


@pytest.mark.parametrize(("bad", "problem"), MALFORMED)
def test_malformed_xml_names_line_and_page(tmp_path: Path, bad: str, problem: str) -> None:
    xml = dump_xml(page_xml("Gut", "eins\nzwei"), bad).replace("</mediawiki>\n", "")
    path = tmp_path / "dump.xml"
    path.write_bytes(xml.encode(errors="surrogateescape"))
    assert problem in problem_of(path)


def test_something_else_is_not_a_dump_but_a_piece_of_one_is(tmp_path: Path) -> None:
    assert "not a MediaWiki export" in problem_of(write_dump(tmp_path, "<html><body>404</body></html>"))
    assert list(Dump(write_dump(tmp_path, dump_xml())).pages()) == []
    assert [page.title for page in Dump(write_dump(tmp_path, X + page_xml("Y", "b"))).pages()] == ["X", "Y"]


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(dump_xml(*[page_xml("X", "Ein Satz. " * 2000)] * 800))  # 16 MB
    tracemalloc.start()
    try:
        assert sum(1 for _ in Dump(path).pages()) == 800
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * CHUNK
