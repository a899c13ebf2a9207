"""Streams on disk: what is written is read back, and a damaged file is named."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe.streams import END, TokenStream, TokenStreamWriter, dtype_name, pack
from xling.core.errors import InputError

VOCAB = 70_000
LINES = st.lists(st.lists(st.integers(0, VOCAB - 1), max_size=6), max_size=8)


def write(folder: Path, chunks: list[list[list[int]]], vocab_size: int = VOCAB) -> Path:
    with TokenStreamWriter(folder, vocab_size, "en") as writer:
        for chunk in chunks:
            writer.add("train", *pack(chunk))
    return folder


@settings(max_examples=25)  # each waits for the disk
@given(st.lists(LINES, min_size=1, max_size=4))
def test_lines_and_slices_come_back_and_bytes_do_not_depend_on_the_chunks(chunks: list[list[list[int]]]) -> None:
    lines = [line for chunk in chunks for line in chunk]
    flat = [token for line in lines for token in [*line, END]]
    with tempfile.TemporaryDirectory() as folder:
        stream = TokenStream(write(Path(folder) / "parts", chunks), "train")
        assert (stream.lines, stream.tokens, len(stream)) == (len(lines), len(flat), len(flat))
        assert [stream.line(i).tolist() for i in range(stream.lines)] == lines
        middle = len(flat) // 2
        assert stream.slice(0, middle).tolist() + stream.slice(middle, len(flat)).tolist() == flat
        whole = write(Path(folder) / "whole", [lines])
        for name in ("train.bin", "train.idx", "meta.json"):
            assert (whole / name).read_bytes() == (Path(folder) / "parts" / name).read_bytes()


@pytest.mark.parametrize(("size", "name", "width"), [(65_536, "uint16", 2), (65_537, "uint32", 4)])
def test_the_narrowest_type_that_holds_every_id(tmp_path: Path, size: int, name: str, width: int) -> None:
    assert dtype_name(size) == name
    write(tmp_path, [[[size - 1, 0]]], vocab_size=size)
    expected = b"".join(number.to_bytes(width, "little") for number in (size - 1, 0, END))
    assert (tmp_path / "train.bin").read_bytes() == expected
    assert (tmp_path / "train.idx").read_bytes() == (0).to_bytes(8, "little") + (3).to_bytes(8, "little")


def test_meta_says_what_there_is(tmp_path: Path) -> None:
    write(tmp_path, [[[1, 7, 1], [9]]], vocab_size=10)
    sha256 = hashlib.sha256((tmp_path / "train.bin").read_bytes()).hexdigest()
    assert json.loads((tmp_path / "meta.json").read_text()) == {
        "dtype": "uint16",
        "language": "en",
        "splits": {"train": {"lines": 2, "tokens": 6, "unknown": 2, "sha256": sha256}},
        "vocab_size": 10,
    }


@pytest.mark.parametrize(
    ("ids", "lengths", "message"),
    [
        ([10, END], [2], "do not fit a vocabulary of 10"),
        ([-1, END], [2], "do not fit a vocabulary of 10"),
        ([5, END, 5], [2], "must end with </s>"),
        ([5, 5], [2], "must end with </s>"),
    ],
)
@pytest.mark.parametrize("before", [[], [[[5]]]])
def test_wrong_ids_are_refused_and_what_was_there_stays(
    tmp_path: Path, before: list[list[list[int]]], ids: list[int], lengths: list[int], message: str
) -> None:
    if before:
        write(tmp_path, before)
    files = {path: path.read_bytes() for path in tmp_path.iterdir()}
    writer = TokenStreamWriter(tmp_path, 10, "en")
    with pytest.raises(ValueError, match=message), writer:  # noqa: PT012 (the second call is the wrong one)
        writer.add("train", np.array([6, END]), np.array([2]))
        writer.add("train", np.array(ids), np.array(lengths))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files


def edit(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


ODD_META = b'{"dtype": "float32", "splits": {}}'


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *(
            (edit(f"train.{kind}", lambda b, n=n: b[:n]), f"train.{kind}: ")
            for kind in ("bin", "idx")
            for n in (-1, -8)
        ),
        *(
            (edit(f"train.{kind}", lambda b: b + b"x"), r"bytes, but meta.json says \d+: trunc")
            for kind in ("bin", "idx")
        ),
        (edit("train.idx", lambda b: b[:-8] + (7).to_bytes(8, "little")), r"train\.idx: runs from 0 to 7, not to 6"),
        (lambda folder: (folder / "train.bin").unlink(), r"train\.bin: 0 bytes"),
        (lambda folder: (folder / "meta.json").unlink(), r"meta\.json: no such file"),
        (edit("meta.json", lambda b: b.replace(b'"train"', b'"other"')), "no split 'train', only other"),
        (edit("meta.json", lambda _: ODD_META), "expected splits and a dtype out of uint16, uint32"),
    ],
)
def test_a_damaged_stream_is_named(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(write(tmp_path, [[[5, 6, 7], [8]]]))
    with pytest.raises(InputError, match=message):
        TokenStream(tmp_path, "train")


def test_reading_maps_the_file_and_positions_outside_are_refused(tmp_path: Path) -> None:
    stream = TokenStream(write(tmp_path, [[[5, 6], [7]]]), "train")
    assert isinstance(stream.ids.base, np.memmap)
    assert np.shares_memory(stream.slice(0, 3), stream.ids)
    assert not stream.slice(0, 3).flags.writeable
    for bad in ((-1, 2), (2, 1), (0, 6)):
        with pytest.raises(IndexError):
            stream.slice(*bad)
    for line in (-1, 2):
        with pytest.raises(IndexError):
            stream.line(line)
