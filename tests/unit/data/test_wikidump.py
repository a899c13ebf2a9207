"""Pages out of MediaWiki exports: the right ones, rightly unescaped, and clear words where the file is not whole."""

import bz2
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from small_dump import dump_xml, page_xml, write_dump

from xling.core.errors import InputError
from xling.data.parts import CHUNK, Part
from xling.data.wikidump import read_namespaces, read_pages

X = page_xml("X", "a")


def pages(path: Path) -> list[tuple[str, str]]:
    read_namespaces(path)
    return list(read_pages(*Part().spans([path]), Counter()))


def problem_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        pages(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def test_only_articles_that_are_no_redirects_are_read(tmp_path: Path) -> None:
    given = [
        page_xml("Haus & Hof", 'a < b & "c" &nbsp; &lt;i&gt;'),
        page_xml("Diskussion:Haus", "talk", ns=1),
        page_xml("Heim", "", redirect='    <redirect title="Haus &amp; Hof" />\n'),
        *(
            page_xml(word, f"{word} [[Haus]]")
            for word in ("#REDIRECT", "#Weiterleitung", "#REDIRECTION:", "#重定向", " #перенаправление")
        ),
        page_xml("Leer", "").replace('<text bytes="9" sha1="x" xml:space="preserve"></text>', '<text bytes="0" />'),
    ]
    path, counts, read = write_dump(tmp_path, dump_xml(*given)), Counter[str](), list[int]()
    found = list(read_pages(*Part().spans([path]), counts, read.append))
    assert found == [("Haus & Hof", 'a < b & "c" &nbsp; &lt;i&gt;'), ("Leer", "")]
    assert sum(read) == path.stat().st_size
    assert counts.pop("input_bytes") == len(dump_xml(*given).encode())
    assert counts == {"pages": 2, "redirects": 6, "other_namespaces": 1}
    assert read_namespaces(path) == {6: "Bildnis", 14: "Schublade"}


def test_the_newest_revision_and_its_main_text_are_read(tmp_path: Path) -> None:
    page = page_xml("A", "new").replace("    <revision>", "    <revision><text>old</text></revision><revision>", 1)
    page = page.replace("</text>\n    </revision>", "</text><content><text>slot</text></content></revision>")
    assert pages(write_dump(tmp_path, dump_xml(page))) == [("A", "new")]


@pytest.mark.real_data
def test_a_dump_that_ends_between_pages_says_so(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = real_data.glob("wikidump/*corus*")
    assert [title for title, _ in pages(path)] == ["Литва"]
    assert f"{path}: no </mediawiki> after page 'Литва': a part of a dump?" in capsys.readouterr().err


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = write_dump(tmp_path, dump_xml(*(page_xml(f"Seite {n}", f"{n * 7919} Text ä") for n in range(3000))))
    whole = path.read_bytes()
    cut = bz2.compress(dump_xml(X).replace("</mediawiki>", "").encode()) + bz2.compress(b"<page>")[:-9]
    for damaged in (whole[: len(whole) // 2], whole[:400] + bytes(40) + whole[440:], b"", cut):
        path.write_bytes(damaged)
        assert problem_of(path).startswith(": truncated or damaged after byte ")


MALFORMED = [
    (X[:-12], ": ends inside a page, after page 'Gut' (fetch the dump again)"),
    (X.replace("</page>", "") + page_xml("Y", "b"), "ends inside a page, after page 'Gut'"),
    (X.replace("<title>X</title>", ""), ": a page without <title>, after page 'Gut'"),
    (X.replace("<ns>0</ns>", ""), ": a page without <ns>, after page 'Gut'"),
    (X.replace(">a<", ">a<b>c<"), ": malformed XML in a page, after page 'Gut': mismatched tag: line 9, column"),
    (page_xml("X", "1\n2\n3").replace("3<", "AT&T<"), "malformed XML in a page, after page 'Gut': not well-formed"),
    (
        page_xml("X", "eins\nzw\udcff"),
        "malformed XML in a page, after page 'Gut': not well-formed (invalid token): line 10",
    ),
]


@pytest.mark.parametrize(("bad", "problem"), MALFORMED)
def test_malformed_xml_names_line_and_page(tmp_path: Path, bad: str, problem: str) -> None:
    xml = dump_xml(page_xml("Gut", "eins\nzwei"), bad).replace("</mediawiki>\n", "")
    path = tmp_path / "dump.xml"
    path.write_bytes(xml.encode(errors="surrogateescape"))
    assert problem in problem_of(path)


def test_something_else_is_not_a_dump_but_a_piece_of_one_is(tmp_path: Path) -> None:
    for other in ("<html><body>404</body></html>", "Ein Text."):
        problem = problem_of(write_dump(tmp_path, other))
        assert problem.startswith(f": not a MediaWiki export: starts with {other!r}, expected <mediawiki> or <page>")
    assert pages(write_dump(tmp_path, dump_xml())) == []
    assert pages(write_dump(tmp_path, X + page_xml("Y", "b"))) == [("X", "a"), ("Y", "b")]


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(dump_xml(*[page_xml("X", "Ein Satz. " * 2000)] * 800))  # 16 MB
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_pages(*Part().spans([path]), Counter())) == 800
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * CHUNK
