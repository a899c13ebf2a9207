"""The command as the workflow calls it: same bytes for any number of processes, one line and no file when it fails."""

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_dump import dump_xml, page_xml, write_dump

from xling.core.errors import InputError
from xling.core.io import read_lines
from xling.data.crawl import Counts, read_text
from xling.data.extract import Meter
from xling.data.textclean import clean_line


def run(folder: Path, form: str, *inputs: Path, **flags: object) -> subprocess.CompletedProcess[str]:
    extra = [part for name, value in flags.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "xling.data.extract", "--format", form, "--input", *map(str, inputs)]
    return subprocess.run(
        [
            *command,
            "--out",
            str(folder / "out" / "text.txt.zst"),
            "--stats",
            str(folder / "out" / "stats.json"),
            *extra,
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def error_of(folder: Path, form: str, *inputs: Path, **flags: object) -> str:
    done = run(folder, form, *inputs, **flags)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert not list((folder / "out").glob("*"))
    return line.removeprefix("error: ")


@pytest.fixture(scope="module")
def two_dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    first, second = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")
    pages = [page_xml(f"Seite {n}", f"'''Seite''' {n} ist {{{{x}}}}hier. " * (1 + 997 * n % 400)) for n in range(300)]
    small = [
        page_xml("Ende", "[[Bildnis:x]]Das Ende.\n\nKurz"),
        page_xml("Weg", "#REDIRECT [[x]]"),
        page_xml("T", "t", ns=1),
    ]
    return [write_dump(first, dump_xml(*pages)), write_dump(second, dump_xml(*small))]


def test_wikipedia_in_one_and_in_several_processes(tmp_path: Path, two_dumps: list[Path]) -> None:
    outputs = []
    for processes in (1, 3):
        done = run(tmp_path, "wikipedia", *two_dumps, processes=processes, min_characters=5)
        assert done.returncode == 0, done.stderr
        outputs.append([(tmp_path / "out" / name).read_bytes() for name in ("text.txt.zst", "stats.json")])
    assert outputs[0] == outputs[1]
    lines = list(read_lines(tmp_path / "out" / "text.txt.zst"))
    assert [line.split(" ist hier.")[0] for line in lines[:300]] == [f"Seite {n}" for n in range(300)]
    assert lines[300:] == ["Das Ende."]
    stats = json.loads(outputs[0][1])
    assert (stats["pages"], stats["redirects"], stats["other_namespaces"], stats["paragraphs"]) == (301, 1, 1, 301)
    assert stats["characters"] == sum(map(len, lines))
    assert stats["input_bytes"] == sum(len(bz2.decompress(path.read_bytes())) for path in two_dumps)


def test_crawl_counts_documents_and_cleans_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt.xz").write_bytes(
        lzma.compress("Eins\tund\u00a0 zwei \r\n\u200b\n \nDrei\x07.\nVier\n\n\n".encode())
    )
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("\n\nFünf\u2028sechs".encode()))
    done = run(tmp_path, "crawl", tmp_path / "a.txt.xz", tmp_path / "b.txt.gz")
    assert done.returncode == 0, done.stderr
    assert list(read_lines(tmp_path / "out" / "text.txt.zst")) == ["Eins und zwei", "Drei.", "Vier", "Fünf sechs"]
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert (stats["documents"], stats["lines"], stats["paragraphs"]) == (3, 10, 4)


def test_broken_inputs_are_one_line_and_leave_nothing(tmp_path: Path, two_dumps: list[Path]) -> None:
    cut = tmp_path / "cut.xml.bz2"
    cut.write_bytes(two_dumps[0].read_bytes()[:-30])
    assert error_of(tmp_path, "wikipedia", two_dumps[1], cut, processes=2).startswith(f"{cut}: truncated or damaged")
    half = tmp_path / "half.txt.xz"
    half.write_bytes(lzma.compress(b"".join(b"%d\n" % (n * n) for n in range(9999)))[:-50])
    assert error_of(tmp_path, "crawl", half).startswith(f"{half}: truncated or damaged after line")
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"gut\nschl\xfccht\n")
    assert error_of(tmp_path, "text", bad).startswith(f"{bad}, line 2: not UTF-8 (byte 0xfc at column 5)")
    assert error_of(tmp_path, "text", tmp_path / "absent.txt").endswith("absent.txt: no such file or directory")


@pytest.mark.parametrize("form", ["text", "crawl"])
@pytest.mark.parametrize(
    ("before", "line"), [("", 1), ("\ufeff", 1), ("<?xml version='1.0'?>\n", 2), ("<?xml version='1.0'?> ", 1)]
)
def test_a_dump_is_no_plain_text(tmp_path: Path, form: str, before: str, line: int) -> None:
    dump = write_dump(tmp_path, before + dump_xml(page_xml("A", "Text.")))
    told = f"{dump}, line {line}: a MediaWiki export where plain text was expected (format: wikipedia reads it)"
    assert error_of(tmp_path, form, dump) == told


def test_a_page_that_was_cut_out_of_a_dump_is_no_plain_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: a MediaWiki export"):
        list(read_text(write_dump(tmp_path, page_xml("A", "Text.")), Counts()))


def test_text_about_dumps_is_text(tmp_path: Path) -> None:
    lines = ["Ein <mediawiki> am Anfang.", "<page> Seite", "<mediawikis>", "<mediawiki>"]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    assert list(read_text(tmp_path / "a.txt", Counts())) == lines


@pytest.mark.real_data
def test_no_real_dump_is_plain_text(real_data: Path) -> None:
    for dump in sorted((real_data / "wikidump").glob("*.bz2")):
        with pytest.raises(InputError, match="a MediaWiki export"):
            list(read_text(dump, Counts()))


def test_an_empty_language_is_an_error(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, dump_xml(page_xml("A", "{{x}}"), page_xml("B", "#REDIRECT [[A]]")))
    assert error_of(tmp_path, "wikipedia", dump) == (
        f"{dump}: no text found: this language would be empty (is it the right file, and of format wikipedia?)"
    )
    blank = tmp_path / "blank.txt"
    blank.write_text("\n \n")
    assert "no text found" in error_of(tmp_path, "text", blank)


@pytest.mark.real_data
def test_real_crawl_text_keeps_every_line(real_data: Path) -> None:
    path = real_data / "text" / "crawl.zh.txt.xz"
    lines = [line for line in read_lines(path) if clean_line(line)]
    assert list(read_text(path, Counts())) == [clean_line(line) for line in lines]
    assert lines


@given(st.text())
def test_a_clean_line_is_one_line_and_stays_so(text: str) -> None:
    line = clean_line(text)
    assert clean_line(line) == line == " ".join(line.split())
    assert len(line.splitlines()) <= 1
    assert [c for c in line if c.isalnum()] == [c for c in text if c.isalnum()]


def test_progress_estimates_the_total_from_the_position(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_bytes(bytes(100))
    meter = Meter(files, "bytes")
    meter.advance(500, 50)
    assert meter.progress.total == 2000
    meter.next_file(files[0])
    meter.advance(1000, 50)
    assert meter.progress.total == 2000
    meter.advance(1, None)
    assert meter.progress.total is None
