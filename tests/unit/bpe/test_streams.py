"""Streams on disk: what is written is read back, under the numbers of any vocabulary, and a damaged file is named."""

import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe import streams
from xling.bpe.streams import END, TokenStream, TokenStreamWriter, pack
from xling.core.errors import InputError

VOCAB = 70_000  # ids of 17 bits
LINES = st.lists(st.lists(st.integers(0, VOCAB - 1), max_size=6), max_size=8)
RENUMBERED = np.concatenate([np.arange(4), np.arange(VOCAB + 9, 13, -1)])  # special tokens stay where they are


def write(folder, chunks, vocab_size=VOCAB):
    with TokenStreamWriter(folder, vocab_size, "en") as writer:
        for chunk in chunks:
            writer.add("train", *pack(chunk))
    return folder


@settings(max_examples=25)
@given(st.lists(LINES, min_size=1, max_size=4))
def test_lines_come_back_under_any_numbering_and_bytes_do_not_depend_on_the_chunks(chunks):
    lines = [line for chunk in chunks for line in chunk]
    flat = [token for line in lines for token in [*line, END]]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", 3)
        patch.setattr("os.fsync", lambda _: None)
        write(Path(folder) / "parts", chunks)
        for table in (None, np.arange(VOCAB), RENUMBERED):
            number = np.arange(VOCAB) if table is None else table
            stream = TokenStream(Path(folder) / "parts", "train", table)
            assert (stream.lines, stream.tokens, len(stream)) == (len(lines), len(flat), len(flat))
            assert [stream.line(i).tolist() for i in range(stream.lines)] == [number[line].tolist() for line in lines]
            middle, expected = len(flat) // 2, number[flat].astype(np.int64)
            assert [*stream.slice(0, middle), *stream.slice(middle, len(flat))] == expected.tolist()
            drawn = np.arange(2 * len(flat)).reshape(2, -1) // 2
            assert np.array_equal(stream.at(drawn), expected[drawn])
            assert np.array_equal(stream.counts(VOCAB + 10), np.bincount(expected, minlength=VOCAB + 10))
        whole = write(Path(folder) / "whole", [lines])
        for name in ("train.bin", "train.idx", "meta.json"):
            assert (whole / name).read_bytes() == (Path(folder) / "parts" / name).read_bytes()


@pytest.mark.parametrize(("size", "name", "width"), [(65_536, "uint16", 2), (131_073, "uint32", 4)])
def test_the_narrowest_type_that_holds_every_id(tmp_path, size, name, width):
    write(tmp_path, [[[1, size - 1, 1], [0]]], vocab_size=size)
    ids = b"".join(number.to_bytes(width, "little") for number in (1, size - 1, 1, END, 0, END))
    assert (tmp_path / "train.bin").read_bytes() == ids
    assert (tmp_path / "train.idx").read_bytes() == b"".join(start.to_bytes(8, "little") for start in (0, 4, 6))
    sizes = {"lines": 2, "tokens": 6, "unknown": 2, "sha256": hashlib.sha256(ids).hexdigest()}
    index = hashlib.sha256((tmp_path / "train.idx").read_bytes()).hexdigest()
    meta = {"dtype": name, "language": "en", "vocab_size": size, "splits": {"train": sizes}}
    assert json.loads((tmp_path / "meta.json").read_text()) == {**meta, "others": {"train.idx": index}}


def test_wrong_ids_are_refused_and_what_was_there_stays(tmp_path):
    files = {path: path.read_bytes() for path in write(tmp_path, [[[5]]]).iterdir()}
    for ids, message in (
        ([10, END], "but the model has 10 pieces"),
        ([-1, END], "but the model has 10 pieces"),
        ([5, END, 5], "must end with </s>"),
        ([5, 5], "must end with </s>"),
    ):
        writer = TokenStreamWriter(tmp_path, 10, "en")
        with pytest.raises(ValueError, match=message), writer:  # noqa: PT012 (the second call is the wrong one)
            writer.add("train", np.array([6, END]), np.array([2]))
            writer.add("train", np.array(ids), np.array([2]))
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files


def edit(name, change):
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def forge(old, new):
    """Return a change of meta.json that its seal does not betray."""

    def both(folder):
        edit("meta.json", lambda b: b.replace(old, new))(folder)
        (folder / ".meta.json.sha256").unlink()

    return both


DAMAGE = [
    (edit("train.bin", lambda b: b[:-1]), r"train\.bin: 11 bytes, but meta.json says 12: missing, truncated"),
    (edit("train.top", lambda b: b + b"x"), r"train\.top: 2 bytes, but meta.json says 1: missing, truncated"),
    (edit("train.idx", lambda b: b + b"x"), r"train\.idx: 25 bytes, but meta.json says 24: missing, truncated"),
    (lambda folder: (folder / "train.bin").unlink(), r"train\.bin: 0 bytes"),
    (lambda folder: (folder / "meta.json").unlink(), r"meta\.json: file not found"),
    (forge(b'"uint17"', b'"float32"'), "expected splits with lines, .* and one of the dtypes uint16, uint17, uint32"),
    (forge(b'"train"', b'"other"'), "no split 'train', only other"),
    (forge(b"70000", b"80001"), "encoded with 80001 pieces, but the vocabulary was built from 70000"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_a_damaged_stream_or_one_of_another_model_is_named(tmp_path, damage, message):
    damage(write(tmp_path, [[[5, 6, 7], [8]]]))
    with pytest.raises(InputError, match=message):
        TokenStream(tmp_path, "train", RENUMBERED).counts(VOCAB + 10)


def test_an_id_that_the_model_does_not_have_is_named_wherever_it_is_read(tmp_path):
    forge(b"70000", b"7")(write(tmp_path, [[[5, 6, 7], [8]]]))
    stream = TokenStream(tmp_path, "train", RENUMBERED[:7])
    for read in (lambda: stream.at(np.array([1, 2])), lambda: stream.line(0), lambda: stream.counts(VOCAB + 10)):
        with pytest.raises(InputError, match=r"train\.bin: contains an id beyond the model's 7 pieces"):
            read()


def test_reading_maps_the_file_and_positions_outside_are_refused(tmp_path):
    stream = TokenStream(write(tmp_path, [[[5, 6], [7]]], 100), "train")
    assert isinstance(stream.pieces.base, np.memmap)
    assert np.shares_memory(stream.slice(0, 3), stream.pieces)
    assert not stream.slice(0, 3).flags.writeable
    cut, line = stream.slice, stream.line
    for read, *bad in ((cut, -1, 2), (cut, 2, 1), (cut, 0, 6), (line, -1), (line, 2)):
        with pytest.raises(IndexError, match="out of range"):
            read(*bad)
