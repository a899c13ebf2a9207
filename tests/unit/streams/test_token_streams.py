"""Streams on disk: what is written is read back, and a damaged file is named."""

import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe.streams import END, TokenStream, TokenStreamWriter, dtype_name, pack
from xling.core.errors import InputError

VOCAB = 70_000
IDS = st.integers(0, VOCAB - 1)
LINES = st.lists(st.lists(IDS, max_size=6), max_size=8)


def write(folder: Path, chunks: list[list[list[int]]], vocab_size: int = VOCAB, split: str = "train") -> Path:
    with TokenStreamWriter(folder, vocab_size, "en") as writer:
        for chunk in chunks:
            writer.add(split, *pack(chunk))
    return folder


@settings(max_examples=30)  # each waits for the disk
@given(st.lists(LINES, min_size=1, max_size=4))
def test_lines_and_slices_come_back(chunks: list[list[list[int]]]) -> None:
    lines = [line for chunk in chunks for line in chunk]
    flat = [token for line in lines for token in [*line, END]]
    with tempfile.TemporaryDirectory() as folder:
        stream = TokenStream(write(Path(folder), chunks), "train")
        assert (stream.lines, stream.tokens, len(stream)) == (len(lines), len(flat), len(flat))
        assert [stream.line(i).tolist() for i in range(stream.lines)] == lines
        middle = len(flat) // 2
        assert stream.slice(0, middle).tolist() + stream.slice(middle, len(flat)).tolist() == flat


@settings(max_examples=20)
@given(LINES, st.integers(1, 5))
def test_bytes_do_not_depend_on_the_chunks(lines: list[list[int]], size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = write(Path(folder) / "whole", [lines])
        parts = write(Path(folder) / "parts", [lines[i : i + size] for i in range(0, len(lines), size)] or [[]])
        for name in ("train.bin", "train.idx", "meta.json"):
            assert (whole / name).read_bytes() == (parts / name).read_bytes()


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
def test_wrong_ids_are_refused_and_nothing_is_written(
    tmp_path: Path, ids: list[int], lengths: list[int], message: str
) -> None:
    def write_good_then_bad() -> None:
        with TokenStreamWriter(tmp_path, 10, "en") as writer:
            writer.add("train", np.array([5, END]), np.array([2]))
            writer.add("train", np.array(ids), np.array(lengths))

    with pytest.raises(ValueError, match=message):
        write_good_then_bad()
    assert list(tmp_path.iterdir()) == []


def test_a_failed_rewrite_leaves_the_old_streams(tmp_path: Path) -> None:
    write(tmp_path, [[[5]]])
    with pytest.raises(ValueError, match="do not fit"):
        write(tmp_path, [[[6]], [[VOCAB]]])
    assert TokenStream(tmp_path, "train").line(0).tolist() == [5]


@pytest.mark.parametrize("name", ["train.bin", "train.idx"])
@pytest.mark.parametrize("damage", [-1, -8, 1])
def test_a_file_of_another_size_is_named(tmp_path: Path, name: str, damage: int) -> None:
    path = write(tmp_path, [[[5, 6, 7], [8]]]) / name
    path.write_bytes(path.read_bytes()[:damage] if damage < 0 else path.read_bytes() + b"x")
    with pytest.raises(InputError, match=rf"{name}: \d+ bytes, but meta.json says \d+: truncated or replaced"):
        TokenStream(tmp_path, "train")


def test_missing_files_splits_and_odd_metadata_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"meta\.json: no such file"):
        TokenStream(tmp_path, "train")
    write(tmp_path, [[[5]]])
    with pytest.raises(InputError, match="no split 'valid', only train"):
        TokenStream(tmp_path, "valid")
    (tmp_path / "train.bin").unlink()
    with pytest.raises(InputError, match=r"train\.bin: 0 bytes"):
        TokenStream(tmp_path, "train")
    (tmp_path / "meta.json").write_text('{"dtype": "float32", "splits": {}}')
    with pytest.raises(InputError, match="expected splits and a dtype out of uint16, uint32"):
        TokenStream(tmp_path, "train")


def test_an_index_of_another_stream_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a", [[[5, 6], [7]]])
    write(tmp_path / "b", [[[5, 6], [7, 8]]])
    (tmp_path / "b" / "train.idx").replace(tmp_path / "a" / "train.idx")
    with pytest.raises(InputError, match=r"train\.idx: runs from 0 to 6, not to 5"):
        TokenStream(tmp_path / "a", "train")


@pytest.mark.parametrize("bad", [(-1, 2), (2, 1), (0, 6)])
def test_positions_outside_are_refused(tmp_path: Path, bad: tuple[int, int]) -> None:
    stream = TokenStream(write(tmp_path, [[[5, 6], [7]]]), "train")
    with pytest.raises(IndexError):
        stream.slice(*bad)
    for line in (-1, 2):
        with pytest.raises(IndexError):
            stream.line(line)


def test_reading_maps_the_file_instead_of_loading_it(tmp_path: Path) -> None:
    stream = TokenStream(write(tmp_path, [[[5, 6], [7]]]), "train")
    assert isinstance(stream.ids.base, np.memmap)
    assert np.shares_memory(stream.slice(0, 3), stream.ids)
    assert not stream.slice(0, 3).flags.writeable
