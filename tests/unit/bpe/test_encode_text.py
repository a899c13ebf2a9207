"""Encoding against sentencepiece's own, line by line, and the command's outputs, errors and memory."""

import multiprocessing
import shutil
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from tiny_models import made_up

from xling.bpe.encode_text import encode_chunk, encode_sentences, load_pieces, main
from xling.bpe.streams import END, TokenStream
from xling.core.errors import XlingError
from xling.core.io import read_json, write_json, write_text
from xling.core.pool import workers
from xling.data.lines import chunk_lines

Call = Callable[..., Any]
SPLITS = {"train": 600, "valid": 20, "test": 30}
# U+2581 is sentencepiece's own mark of a word start, which the vocabulary deals with
LINE = st.text(alphabet=st.characters(blacklist_characters="\n\u2581", blacklist_categories=["Cs"]), max_size=40)
KNOWN = st.lists(st.sampled_from(["bada", "ko", "ké", "<mask>", "</s>", "☃", "", "\u3000", "a\u0301"])).map(" ".join)


def by_sentencepiece(vocab: Path, lines: list[str]) -> list[list[int]]:
    processor = SentencePieceProcessor(model_file=str(vocab / "en.model"))
    return [processor.encode(" ".join(line.split())) for line in lines]


def by_chunks(vocab: Path, lines: list[str], characters: int) -> list[list[int]]:
    """Return what is encoded of each line, cut into chunks of whole lines that are about as long as asked."""
    result, chunks = [], list(chunk_lines(lines, characters))
    assert [line for chunk in chunks for line in chunk] == lines
    assert all(sum(len(line) + 1 for line in chunk) >= characters for chunk in chunks[:-1])
    assert all(sum(len(line) + 1 for line in chunk[:-1]) < characters for chunk in chunks)
    for chunk in chunks:
        ids, lengths = encode_chunk(vocab, "en", False, chunk)
        parts = np.split(ids, np.cumsum(lengths)[:-1])
        assert {int(part[-1]) for part in parts} == {END}
        result += [part[:-1].tolist() for part in parts]
    return result


@settings(max_examples=50)
@given(st.lists(LINE | KNOWN, min_size=1, max_size=6), st.integers(1, 60))
def test_the_ids_are_those_of_sentencepiece_for_the_whole_line(vocab: Path, lines: list[str], characters: int) -> None:
    assert by_chunks(vocab, lines, characters) == by_sentencepiece(vocab, lines)


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["bada", "ko", ".", "!", "。", "...", "</s>"]), max_size=12))
def test_sentences_are_parted_and_nothing_else_changes(vocab: Path, words: list[str]) -> None:
    vocabulary = load_pieces(vocab, "en")
    found = encode_sentences(vocabulary, "en", " ".join(words))
    assert [number for number in found if number != END] == vocabulary.encode_words("en", words)
    ends = sum(word in (".", "!", "。") for word in words[:-1])
    assert found.count(END) == ends
    plain, marked = (encode_chunk(vocab, "en", marks, [" ".join(words)]) for marks in (False, True))
    assert marked[1][0] == plain[1][0] + ends


def write_raw(path: Path, raw: bytes) -> None:
    with write_text(path) as handle:
        handle.buffer.write(raw)


@pytest.fixture
def encode(vocab: Path, tmp_path: Path, call: Call) -> Callable[..., Any]:
    """Return a function that encodes three texts into a folder; more flags replace the usual ones."""
    for split, number in SPLITS.items():
        lines = [*made_up("en", number, seed=number), "☃"]
        write_raw(tmp_path / f"{split}.txt.zst", "".join(f"{line}\n" for line in lines).encode())
    splits = [x for name in SPLITS for x in ("--split", f"{name}={tmp_path / name}.txt.zst")]
    return lambda out, *more: call(main, "--vocab", vocab, "--language", "en", *splits, "--out", tmp_path / out, *more)


def test_same_bytes_for_any_number_of_processes(
    vocab: Path, tmp_path: Path, encode: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xling.bpe.encode_text.CHUNK_CHARACTERS", 3000)
    assert encode("one").code == encode("two", "--processes", 2).code == 0
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / out).iterdir()} for out in ("one", "two"))
    assert one == two
    files = {f"{split}.{suffix}" for split in SPLITS for suffix in ("bin", "idx")}
    assert one.keys() == files | {"meta.json", ".meta.json.sha256"}
    stream = TokenStream(tmp_path / "one", "valid")
    expected = by_sentencepiece(vocab, [*made_up("en", 20, seed=20), "☃"])
    assert [stream.line(i).tolist() for i in range(stream.lines)] == expected
    assert stream.meta["splits"]["valid"]["unknown"] == 1


@pytest.mark.parametrize(
    ("damage", "message", "processes"),
    [
        (lambda path: path.unlink(), "valid.txt.zst: no such file", 1),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "truncated or damaged", 1),
        (lambda path: write_raw(path, b"fine\ncaf\xe9\n"), "line 2: not UTF-8 (byte 0xe9", 2),
        (lambda path: write_raw(path, b"\n\n"), "valid.txt.zst: no text to encode", 1),
    ],
)
def test_one_clear_line_and_nothing_half_written(
    tmp_path: Path, encode: Call, damage: Callable[[Path], object], message: str, processes: int
) -> None:
    whole = (tmp_path / "valid.txt.zst").read_bytes()
    damage(tmp_path / "valid.txt.zst")
    code, error, _ = encode("out", "--processes", processes)
    assert (code, error.count("\n")) == (2, 1)
    assert message in error
    assert list((tmp_path / "out").iterdir()) == []
    (tmp_path / "valid.txt.zst").write_bytes(whole)
    assert encode("out").code == 0
    assert TokenStream(tmp_path / "out", "test").lines == 31


def test_a_process_that_dies_is_one_line(vocab: Path) -> None:
    with pytest.raises(XlingError, match="a worker process died"), workers(2) as share:  # noqa: PT012
        chunks = ([line] for line in made_up("en", 50))
        encoded = share(partial(encode_chunk, vocab, "en", False), chunks)
        next(encoded)
        for process in multiprocessing.active_children():
            process.kill()
        list(encoded)


def test_wrong_flags_and_ids_outside_the_vocabulary_are_refused(vocab: Path, tmp_path: Path, encode: Call) -> None:
    broken = shutil.copytree(vocab, tmp_path / "broken")
    write_json(broken / "vocab.json", read_json(broken / "vocab.json") | {"size": 100})
    for flags, problem in (
        (["--language", "de"], "the vocabulary has no language 'de' (it has en, fr)"),
        (["--vocab", broken], "vocab.json: en has ids from 0 to "),
        (["--vocab", broken], "but only 100 are allowed (make the vocabulary again)"),
        (["--split", "dev=x.txt"], "--split dev: expected train=PATH"),
        (["--split", "train="], "expected SPLIT=PATH"),
    ):
        code, error, _ = encode("out", *flags)
        assert (code, problem in error) == (2, True), error
    assert encode("out", "--processes", 0).code == 2
    assert not (tmp_path / "out").exists()


def test_eight_times_the_text_needs_no_more_memory(
    vocab: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xling.bpe.encode_text.CHUNK_CHARACTERS", 1 << 13)
    block = "".join(f"{line}\n" for line in made_up("en", 1_000)).encode()
    peaks = []
    for times in (1, 8):
        write_raw(tmp_path / "text.txt.zst", block * times)
        split = ["--split", f"train={tmp_path / 'text.txt.zst'}"]
        tracemalloc.start()
        assert call(main, "--vocab", vocab, "--language", "en", *split, "--out", tmp_path / str(times)).code == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (tmp_path / "8" / "train.bin").stat().st_size == 8 * (tmp_path / "1" / "train.bin").stat().st_size
    assert peaks[1] < 1.2 * peaks[0]
