"""Text out of dumps and crawls: the right pages, the same lines in any number of parts, one line on failure."""

import bz2
import gzip
import json
import lzma
import random
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError
from xling.core.io import read_json, read_lines
from xling.data import extract_text, parts
from xling.data.extract_text import extract_lines, extract_wikipedia, read_namespaces, read_pages
from xling.data.lines import clean_line
from xling.data.parts import Part

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo><namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Bildnis</namespace>
      <namespace key="14" case="first-letter">Schublade</namespace>
  </namespaces></siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>{ns}</ns>
{redirect}    <revision>
      <comment>&lt;page&gt; [[x]] &amp;</comment>
      <text bytes="9" xml:space="preserve">{text}</text>
    </revision>
  </page>
"""


def page_xml(title, wikitext, ns=0, redirect=""):
    return PAGE.format(title=escape(title), ns=ns, redirect=redirect, text=escape(wikitext, {'"': "&quot;"}))


def dump_xml(*pages):
    return HEADER + "".join(pages) + "</mediawiki>\n"


def write(path, body):
    path.write_bytes(body.encode(errors="surrogateescape") if isinstance(body, str) else body)
    return path


@pytest.fixture
def extract(call, tmp_path):
    """Return a function that runs the command; what it writes is in `out`."""

    def command(form, *inputs, more=()):
        outputs = ["--out", tmp_path / "out/text.txt.zst", "--stats", tmp_path / "out/stats.json"]
        return call(extract_text.main, "--format", form, "--input", *inputs, *outputs, *more)

    return command


def test_only_the_newest_text_of_articles_that_are_no_redirects_is_read(tmp_path):
    twice = page_xml("A", "new").replace("    <revision>", "    <revision><text>old</text></revision><revision>", 1)
    given = [
        page_xml("Haus & Hof", 'a < b & "c" &nbsp; &lt;i&gt;'),
        page_xml("Diskussion:Haus", "talk", ns=1),
        page_xml("Heim", "", redirect='    <redirect title="Haus &amp; Hof" />\n'),
        *(page_xml(word, f"{word} [[Haus]]") for word in ("#REDIRECT", "#Weiterleitung", "#REDIRECTION:", "#重定向")),
        page_xml("Leer", "").replace('<text bytes="9" xml:space="preserve"></text>', '<text bytes="0" />'),
        twice.replace("</text>\n    </revision>", "</text><content><text>slot</text></content></revision>"),
    ]
    path, counts, read = write(tmp_path / "a.bz2", bz2.compress(dump_xml(*given).encode())), Counter[str](), list[int]()
    found = list(read_pages(*Part().spans([path]), counts, read.append))
    assert found == [("Haus & Hof", 'a < b & "c" &nbsp; &lt;i&gt;'), ("Leer", ""), ("A", "new")]
    assert sum(read) == path.stat().st_size
    assert counts.pop("input_bytes") == len(dump_xml(*given).encode())
    assert counts == {"pages": 3, "redirects": 5, "other_namespaces": 1}
    assert read_namespaces(path) == {6: "Bildnis", 14: "Schublade"}


def test_wikipedia_from_two_dumps(extract, tmp_path):
    pages = [page_xml(f"Seite {n}", f"'''Seite''' {n} ist {{{{x}}}}hier. " * (1 + 997 * n % 400)) for n in range(100)]
    pages += [page_xml("Bild", "[[Bildnis:x]]Ein Bild.")]  # the dump names its namespaces
    piece = page_xml("Ende", "Das Ende.\n\nKurz") + page_xml("Weg", "#REDIRECT [[x]]") + page_xml("T", "t", ns=1)
    texts = [dump_xml(*pages), piece]
    dumps = [write(tmp_path / f"{n}.xml.bz2", bz2.compress(text.encode())) for n, text in enumerate(texts)]
    code, _, said = extract("wikipedia", *dumps, more=("--min-characters", 5))
    assert (code, "1.xml.bz2: no </mediawiki> after page 'T': a part of a dump?" in said) == (0, True)
    lines = list(read_lines(tmp_path / "out/text.txt.zst"))
    assert [line.split(" ist hier.")[0] for line in lines[:100]] == [f"Seite {n}" for n in range(100)]
    assert lines[100:] == ["Ein Bild.", "Das Ende."]
    kinds = {"pages": 102, "redirects": 1, "other_namespaces": 1, "paragraphs": 102, "characters": sum(map(len, lines))}
    inputs = {"format": "wikipedia", "input_bytes": len("".join(texts).encode()), "inputs": ["0.xml.bz2", "1.xml.bz2"]}
    assert json.loads((tmp_path / "out/stats.json").read_bytes()) == kinds | inputs


def test_crawl_counts_documents_and_cleans_lines(extract, tmp_path):
    text = "Eins\tund\u00a0 zwei \r\n\u200b\n \nDrei\x07.\nVier\n\n\n"
    about = "\n\nFünf\u2028sechs\nEin <mediawiki> am Anfang.\n<mediawiki>"  # text about dumps is text
    paths = [write(tmp_path / "a.txt.xz", lzma.compress(text.encode()))]
    paths += [write(tmp_path / "b.txt.gz", gzip.compress(about.encode()))]
    assert extract("crawl", *paths).code == 0
    expected = ["Eins und zwei", "Drei.", "Vier", "Fünf sechs", "Ein <mediawiki> am Anfang.", "<mediawiki>"]
    assert list(read_lines(tmp_path / "out/text.txt.zst")) == expected
    stats = read_json(tmp_path / "out/stats.json")
    assert (stats["documents"], stats["lines"], stats["paragraphs"]) == (3, 12, 6)


NUMBERS = b"".join(b"%d\n" % (n * n) for n in range(9999))
X, GOOD = page_xml("X", "a"), page_xml("Gut", "eins\nzwei")
MANY = bz2.compress(dump_xml(*(page_xml(f"Seite {n}", f"{n * 7919} Text ä") for n in range(3000))).encode())
EXPORT = "a MediaWiki export where plain text was expected (format: wikipedia reads it)"
OTHER = ": not a MediaWiki export: starts with {!r}, expected <mediawiki> or <page>"
XML = ": malformed XML in a page, after page 'Gut': "
BROKEN: list[tuple[str, str, bytes | str | None, str]] = [
    ("wikipedia", "half.bz2", MANY[: len(MANY) // 2], ": truncated or damaged after byte "),
    ("wikipedia", "holed.bz2", MANY[:400] + bytes(40) + MANY[440:], ": truncated or damaged after byte "),
    ("wikipedia", "empty.bz2", b"", ": truncated or damaged after byte "),
    ("wikipedia", "two.bz2", bz2.compress((HEADER + X).encode()) + bz2.compress(b"<page>")[:-9], ": truncated or damaged"),
    *(("wikipedia", "a.xml", text, OTHER.format(text)) for text in ("<html><body>404</body></html>", "Ein Text.")),
    ("wikipedia", "a.xml", dump_xml(page_xml("A", "{{x}}"), page_xml("B", "#REDIRECT [[A]]")),
     ": no text found: this language would be empty (is it the right file, and of format "),
    ("wikipedia", "a.xml", dump_xml(), ": no text found"),
    ("wikipedia", "a.xml", HEADER + GOOD + X[:-12], ": ends inside a page, after page 'Gut' (fetch the dump again)"),
    ("wikipedia", "a.xml", HEADER + GOOD + X.replace("</page>", "") + X, ": ends inside a page, after page 'Gut'"),
    ("wikipedia", "a.xml", HEADER + GOOD + X.replace("<title>X</title>", ""), ": a page without <title>, after page 'Gut'"),
    ("wikipedia", "a.xml", HEADER + X.replace("<ns>0</ns>", ""), ": a page without <ns>, the first of the file"),
    ("wikipedia", "a.xml", HEADER + GOOD + X.replace(">a<", ">a<b>c<"), f"{XML}mismatched tag: line 6, column"),
    ("wikipedia", "a.xml", HEADER + GOOD + X.replace(">a<", ">\nAT&T<"), f"{XML}not well-formed (invalid token): line 7"),
    ("wikipedia", "a.xml", HEADER + GOOD + X.replace(">a<", ">\n\udcff<"), f"{XML}not well-formed (invalid token): line 7"),
    ("crawl", "half.txt.xz", lzma.compress(NUMBERS)[:-50], ": truncated or damaged after line"),
    ("text", "bad.txt", b"gut\nschl\xfccht\n", ", line 2: not UTF-8 (byte 0xfc at column 5)"),
    ("text", "absent.txt", None, ": no such file or directory"),
    ("text", "blank.txt", b"\n \n", ": no text found"),
    ("text", "dump.xml", dump_xml(X), f", line 1: {EXPORT}"),
    ("crawl", "dump.xml", f"\ufeff{dump_xml(X)}", f", line 1: {EXPORT}"),
    ("crawl", "dump.xml", f"<?xml version='1.0'?>\n{dump_xml(X)}", f", line 2: {EXPORT}"),
    ("text", "cut.xml", X, f", line 1: {EXPORT}"),  # a page cut out of a dump
]  # fmt: skip


@pytest.mark.parametrize(("form", "name", "body", "problem"), BROKEN)
def test_broken_inputs_are_one_line_and_leave_nothing(extract, tmp_path, form, name, body, problem):
    if body is not None:
        write(tmp_path / name, body)
    code, error, _ = extract(form, tmp_path / name)
    assert (code, error.count("error: ")) == (2, 1)
    assert error.startswith(f"error: {tmp_path / name}{problem}")
    assert not list((tmp_path / "out").glob("*"))


def test_memory_stays_flat(tmp_path):
    path = write(tmp_path / "dump.xml", dump_xml(*[page_xml("X", "Ein Satz. " * 2000)] * 800))  # 16 MB
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_pages(*Part().spans([path]), Counter())) == 800
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * parts.CHUNK


@settings(max_examples=50)
@given(st.text())
def test_a_clean_line_is_one_line_and_stays_so(text):
    line = clean_line(text)
    assert clean_line(line) == line == " ".join(line.split())
    assert len(line.splitlines()) <= 1
    assert [c for c in line if c.isalnum()] == [c for c in text if c.isalnum()]


def streams(text):
    """Return a .bz2 of many streams, as a multistream dump is one."""
    return b"".join(bz2.compress(text[at : at + 9000]) for at in range(0, len(text), 9000))


def blocks(text):
    """Return a .bz2 of one stream with blocks of 100 kB, which begin at any bit."""
    return bz2.compress(text, 1)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".txt": bytes, ".bz2": blocks, "many.bz2": streams, ".xz": lzma.compress, ".gz": gzip.compress,
}  # fmt: skip
RANDOM = random.Random(5)
LINES = [" ".join(RANDOM.choices(["ab", "é", "дом", "房子", "."], k=RANDOM.randrange(60))) for _ in range(2500)]
PAGES = [page_xml(f"Seite {n}", f"Seite {n}: {RANDOM.randbytes(1500).hex()}.") for n in range(100)]
TEXTS = {"crawl": "\n".join(LINES) + "\n", "wikipedia": dump_xml(*PAGES)}


def extracted(form, paths, count):
    counts: Counter[str] = Counter()
    spans = [Part(number, count).spans(paths) for number in range(1, count + 1)]
    if form == "wikipedia":
        return [line for some in spans for line in extract_wikipedia(some, counts, 1)], counts
    lines = [line for some in spans for line in extract_lines(some, counts, 1)]
    del counts["documents"]  # one that begins where a part does is not counted
    return lines, counts


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("packed", PACKED)
def test_parts_in_a_row_are_the_whole(tmp_path, monkeypatch, form, packed):
    monkeypatch.setattr(parts, "CHUNK", 9000)
    texts = [TEXTS[form], TEXTS[form].replace("é", "è").replace("Seite", "Blatt")]
    paths = [write(tmp_path / f"{n}{packed}", PACKED[packed](text.encode())) for n, text in enumerate(texts)]
    whole = extracted(form, paths, 1)
    expected = [line for line in LINES if line] if form == "crawl" else [f"Seite {n}:" for n in range(100)]
    assert [line if form == "crawl" else line[: line.index(":") + 1] for line in whole[0]][: len(expected)] == expected
    for count in (2, 9):
        assert extracted(form, paths, count) == whole


PIECES = st.lists(st.sampled_from([b"<page>", b"<pa", b"ge>", b"<", b"a", b"\r", b" ", b"\n"]), max_size=30)


@settings(max_examples=100)
@given(PIECES.map(b"".join), st.sampled_from([b"<page>", b"\n"]), st.integers(1, 9), st.sampled_from([1, 2, 3, 64]))
def test_any_records_in_any_number_of_parts(text, mark, count, chunk):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "CHUNK", chunk)
        path = write(Path(folder) / "a.txt", text)
        spans = [span for part in range(1, count + 1) for span in Part(part, count).spans([path])]
        records = text.split(mark)
        found = [record for span in spans for _, record in parts.read_records(span, mark)]
        assert found == (records if records[-1] else records[:-1])
        assert [line for span in spans for _, line in parts.span_lines(span)] == list(read_lines(path))


def test_a_magic_number_that_stands_in_a_block_by_chance_does_not_end_it(tmp_path, monkeypatch):
    path = write(tmp_path / "a.bz2", blocks(TEXTS["wikipedia"].encode()))
    whole, found = extracted("wikipedia", [path], 1), parts._magic_numbers

    def more(data, start):
        for bit, magic in found(data, start):
            yield from [(bit, magic), (bit + 999, parts.BLOCK)] if magic == parts.BLOCK else [(bit, magic)]

    monkeypatch.setattr(parts, "_magic_numbers", more)
    assert extracted("wikipedia", [path], 3) == whole


def test_damage_in_a_part_is_told_with_its_place(tmp_path):
    for form, text in TEXTS.items():
        packed = bytearray(blocks(text.encode()))
        packed[len(packed) // 2] ^= 255
        path = write(tmp_path / "a.bz2", bytes(packed))
        with pytest.raises(
            InputError, match=r"a\.bz2: truncated or damaged after .*block at byte [0-9,]+ is not whole"
        ):
            extracted(form, [path], 2)
    path = write(tmp_path / "a.txt", b"eins\n" * 100 + b"schl\xfccht\n")
    with pytest.raises(InputError, match=r"a\.txt: not UTF-8 in line \d+ after byte 2\d\d of the file"):
        extracted("crawl", [path], 2)


def test_the_command_reads_one_part_and_a_part_may_be_empty(extract, tmp_path):
    paths, found = [write(tmp_path / "a.txt", "eins\nzwei\n"), write(tmp_path / "b.txt", "drei\n")], list[str]()
    documents = 0
    for number in range(1, 21):
        assert extract("text", *paths, more=("--part", f"{number}-of-20")).code == 0
        lines = list(read_lines(tmp_path / "out/text.txt.zst"))
        stats = read_json(tmp_path / "out/stats.json")
        assert stats["paragraphs"] == len(lines)
        found += lines
        documents += stats.get("documents", 0)
    assert (found, documents) == (["eins", "zwei", "drei"], 2)  # a document belongs to the part in which it begins
    for wrong in ("3", "0-of-2", "3-of-2"):
        assert "expected a part such as 3-of-16" in extract("text", *paths, more=("--part", wrong)).said
