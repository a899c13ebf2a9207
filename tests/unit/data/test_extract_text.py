"""The command as the workflow calls it: same bytes for any number of processes, one line and no file when it fails."""

import bz2
import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_dump import dump_xml, page_xml, write_dump

from xling.core.errors import InputError
from xling.core.io import read_lines
from xling.data import extract_text
from xling.data.extract_text import extract_lines
from xling.data.lines import clean_line
from xling.data.parts import Part

Extract = Callable[..., Any]


@pytest.fixture
def extract(call: Callable[..., Any], tmp_path: Path) -> Extract:
    """Return a function that runs the command; what it writes is in `out`."""

    def command(form: str, *inputs: Path, processes: int = 1, least: int = 1) -> Any:
        arguments = ["--format", form, "--input", *inputs, "--processes", processes, "--min-characters", least]
        outputs = ["--out", tmp_path / "out/text.txt.zst", "--stats", tmp_path / "out/stats.json"]
        return call(extract_text.main, *arguments, *outputs)

    return command


@pytest.fixture(scope="module")
def two_dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    pages = [page_xml(f"Seite {n}", f"'''Seite''' {n} ist {{{{x}}}}hier. " * (1 + 997 * n % 400)) for n in range(100)]
    last = page_xml("Ende", "[[Bildnis:x]]Das Ende.\n\nKurz")
    small = [last, page_xml("Weg", "#REDIRECT [[x]]"), page_xml("T", "t", ns=1)]
    return [write_dump(tmp_path_factory.mktemp("dump"), dump_xml(*some)) for some in (pages, small)]


def test_wikipedia_in_one_and_in_several_processes(extract: Extract, tmp_path: Path, two_dumps: list[Path]) -> None:
    outputs = []
    for processes in (1, 2):
        assert extract("wikipedia", *two_dumps, processes=processes, least=5).code == 0
        outputs.append([(tmp_path / "out" / name).read_bytes() for name in ("text.txt.zst", "stats.json")])
    assert outputs[0] == outputs[1]
    lines = list(read_lines(tmp_path / "out/text.txt.zst"))
    assert [line.split(" ist hier.")[0] for line in lines[:100]] == [f"Seite {n}" for n in range(100)]
    assert lines[100:] == ["Das Ende."]
    assert json.loads(outputs[0][1]) == {
        "pages": 101,
        "redirects": 1,
        "other_namespaces": 1,
        "paragraphs": 101,
        "format": "wikipedia",
        "characters": sum(map(len, lines)),
        "input_bytes": sum(len(bz2.decompress(path.read_bytes())) for path in two_dumps),
        "inputs": [path.name for path in two_dumps],
    }


def test_crawl_counts_documents_and_cleans_lines(extract: Extract, tmp_path: Path) -> None:
    text = "Eins\tund\u00a0 zwei \r\n\u200b\n \nDrei\x07.\nVier\n\n\n"
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress(text.encode()))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("\n\nFünf\u2028sechs".encode()))
    assert extract("crawl", tmp_path / "a.txt.xz", tmp_path / "b.txt.gz").code == 0
    assert list(read_lines(tmp_path / "out/text.txt.zst")) == ["Eins und zwei", "Drei.", "Vier", "Fünf sechs"]
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    assert (stats["documents"], stats["lines"], stats["paragraphs"]) == (3, 10, 4)


NUMBERS = b"".join(b"%d\n" % (n * n) for n in range(9999))
EMPTY = dump_xml(page_xml("A", "{{x}}"), page_xml("B", "#REDIRECT [[A]]")).encode()
DUMP = dump_xml(page_xml("A", "Text.")).encode()
EXPORT = "a MediaWiki export where plain text was expected (format: wikipedia reads it)"
BROKEN = [
    ("wikipedia", "cut.xml.bz2", bz2.compress(DUMP)[:-30], ": truncated or damaged"),
    (
        "wikipedia",
        "a.xml",
        EMPTY,
        ": no text found: this language would be empty (is it the right file, and of format ",
    ),
    ("crawl", "half.txt.xz", lzma.compress(NUMBERS)[:-50], ": truncated or damaged after line"),
    ("text", "bad.txt", b"gut\nschl\xfccht\n", ", line 2: not UTF-8 (byte 0xfc at column 5)"),
    ("text", "absent.txt", None, ": no such file or directory"),
    ("text", "blank.txt", b"\n \n", ": no text found"),
    ("text", "dump.xml", DUMP, f", line 1: {EXPORT}"),
    ("crawl", "dump.xml", "\ufeff".encode() + DUMP, f", line 1: {EXPORT}"),
    ("crawl", "dump.xml", b"<?xml version='1.0'?>\n" + DUMP, f", line 2: {EXPORT}"),
    ("text", "dump.xml", b"<?xml version='1.0'?> " + DUMP, f", line 1: {EXPORT}"),
    ("text", "cut.xml", page_xml("A", "Text.").encode(), f", line 1: {EXPORT}"),  # a page cut out of a dump
]


@pytest.mark.parametrize(("form", "name", "body", "problem"), BROKEN)
def test_broken_inputs_are_one_line_and_leave_nothing(
    extract: Extract, tmp_path: Path, form: str, name: str, body: bytes | None, problem: str
) -> None:
    if body is not None:
        (tmp_path / name).write_bytes(body)
    code, error, _ = extract(form, tmp_path / name)
    assert (code, error.count("error: ")) == (2, 1)
    assert error.startswith(f"error: {tmp_path / name}{problem}")
    assert not list((tmp_path / "out").glob("*"))


def test_text_about_dumps_is_text(tmp_path: Path) -> None:
    lines = ["Ein <mediawiki> am Anfang.", "<page> Seite", "<mediawikis>", "<mediawiki>"]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    assert list(extract_lines(Part().spans([tmp_path / "a.txt"]), Counter(), 1)) == lines


@pytest.mark.real_data
def test_real_text_keeps_every_line_and_no_real_dump_is_text(real_data: Path) -> None:
    path = real_data / "text/crawl.zh.txt.xz"
    lines = [clean for line in read_lines(path) if (clean := clean_line(line))]
    for count in (1, 5):
        spans = [span for number in range(1, count + 1) for span in Part(number, count).spans([path])]
        assert list(extract_lines(spans, Counter(), 1)) == lines
    assert lines
    for dump in (real_data / "wikidump").glob("*.bz2"):
        with pytest.raises(InputError, match="a MediaWiki export"):
            list(extract_lines(Part().spans([dump]), Counter(), 1))


@given(st.text())
def test_a_clean_line_is_one_line_and_stays_so(text: str) -> None:
    line = clean_line(text)
    assert clean_line(line) == line == " ".join(line.split())
    assert len(line.splitlines()) <= 1
    assert [c for c in line if c.isalnum()] == [c for c in text if c.isalnum()]
