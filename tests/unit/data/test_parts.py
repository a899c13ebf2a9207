"""Parts of files: one after the other they are the whole, however a file is compressed and wherever it is cut."""

import bz2
import gzip
import lzma
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_dump import dump_xml, page_xml

from xling.core.errors import InputError
from xling.core.io import read_json, read_lines
from xling.data import extract_text, parts
from xling.data.extract_text import extract_lines, extract_wikipedia
from xling.data.parts import Part


def streams(text: bytes) -> bytes:
    """Return a .bz2 of many streams, as a multistream dump is one."""
    return b"".join(bz2.compress(text[at : at + 9000]) for at in range(0, len(text), 9000))


def blocks(text: bytes) -> bytes:
    """Return a .bz2 of one stream with blocks of 100 kB, which begin at any bit."""
    return bz2.compress(text, 1)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".txt": bytes, ".bz2": blocks, "many.bz2": streams, ".xz": lzma.compress, ".gz": gzip.compress,
}  # fmt: skip
RANDOM = random.Random(5)
LINES = [" ".join(RANDOM.choices(["ab", "é", "дом", "房子", "."], k=RANDOM.randrange(60))) for _ in range(2500)]
PAGES = [page_xml(f"Seite {n}", f"Seite {n}: {RANDOM.randbytes(1500).hex()}.") for n in range(100)]
TEXTS = {"crawl": "\n".join(LINES) + "\n", "wikipedia": dump_xml(*PAGES)}


def extracted(form: str, paths: list[Path], count: int) -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    spans = [Part(number, count).spans(paths) for number in range(1, count + 1)]
    if form == "wikipedia":
        return [line for some in spans for line in extract_wikipedia(some, counts, 1, 1)], counts
    lines = [line for some in spans for line in extract_lines(some, counts, 1)]
    del counts["documents"]  # one that begins where a part does is not counted
    return lines, counts


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("packed", PACKED)
def test_parts_in_a_row_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, packed: str) -> None:
    monkeypatch.setattr(parts, "CHUNK", 9000)
    paths = [tmp_path / f"{number}{packed}" for number in range(2)]
    for path, text in zip(paths, (TEXTS[form], TEXTS[form].replace("é", "è").replace("Seite", "Blatt")), strict=True):
        path.write_bytes(PACKED[packed](text.encode()))
    whole = extracted(form, paths, 1)
    expected = [line for line in LINES if line] if form == "crawl" else [f"Seite {n}:" for n in range(100)]
    assert [line if form == "crawl" else line[: line.index(":") + 1] for line in whole[0]][: len(expected)] == expected
    for count in (2, 9):
        assert extracted(form, paths, count) == whole


PIECES = st.lists(st.sampled_from([b"<page>", b"<pa", b"ge>", b"<", b"a", b"\r", b" ", b"\n"]), max_size=30).map(
    b"".join
)


@settings(max_examples=150)
@given(PIECES, st.sampled_from([b"<page>", b"\n"]), st.integers(1, 9), st.sampled_from([1, 2, 3, 64]))
def test_any_records_in_any_number_of_parts(text: bytes, mark: bytes, count: int, chunk: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "CHUNK", chunk)
        path = Path(folder) / "a.txt"
        path.write_bytes(text)
        spans = [span for part in range(1, count + 1) for span in Part(part, count).spans([path])]
        records = text.split(mark)
        found = [record for span in spans for _, record in parts.read_records(span, mark)]
        assert found == (records if records[-1] else records[:-1])
        assert [line for span in spans for _, line in parts.span_lines(span)] == list(read_lines(path))


def test_a_magic_number_that_stands_in_a_block_by_chance_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.bz2"
    path.write_bytes(blocks(TEXTS["wikipedia"].encode()))
    whole, found = extracted("wikipedia", [path], 1), parts._magic_numbers

    def more(data: Any, start: int) -> Any:
        for bit, magic in found(data, start):
            yield from [(bit, magic), (bit + 999, parts.BLOCK)] if magic == parts.BLOCK else [(bit, magic)]

    monkeypatch.setattr(parts, "_magic_numbers", more)
    assert extracted("wikipedia", [path], 3) == whole


@pytest.mark.parametrize("form", TEXTS)
def test_a_damaged_block_is_told(tmp_path: Path, form: str) -> None:
    packed = bytearray(blocks(TEXTS[form].encode()))
    packed[len(packed) // 2] ^= 255
    (tmp_path / "a.bz2").write_bytes(packed)
    with pytest.raises(InputError, match=r"a\.bz2: truncated or damaged after .*block at byte [0-9,]+ is not whole"):
        extracted(form, [tmp_path / "a.bz2"], 2)


def test_bytes_that_are_no_text_are_told_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"eins\n" * 100 + b"schl\xfccht\n")
    with pytest.raises(InputError, match=r"a\.txt: not UTF-8 in line \d+ after byte 2\d\d of the file"):
        extracted("crawl", [tmp_path / "a.txt"], 2)


def test_the_command_reads_one_part_and_a_part_may_be_empty(tmp_path: Path, call: Callable[..., Any]) -> None:
    (tmp_path / "a.txt").write_text("eins\nzwei\n")
    (tmp_path / "b.txt").write_text("drei\n")
    found, counts = [], Counter[str]()
    for number in range(1, 21):
        out, flags = tmp_path / f"{number}.txt", ["--stats", tmp_path / "stats.json", "--part", f"{number}-of-20"]
        inputs = ["--input", tmp_path / "a.txt", tmp_path / "b.txt"]
        assert call(extract_text.main, "--format", "text", *inputs, "--out", out, *flags).code == 0
        found += list(read_lines(out))
        counts.update({key: value for key, value in read_json(tmp_path / "stats.json").items() if key == "paragraphs"})
    assert (found, counts) == (["eins", "zwei", "drei"], {"paragraphs": 3})
    for wrong in ("3", "0-of-2", "3-of-2"):
        assert "expected a part such as 3-of-16" in call(extract_text.main, "--part", wrong).said
