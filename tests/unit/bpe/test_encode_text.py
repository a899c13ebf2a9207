"""Encoding against sentencepiece's own, line by line, and the command's outputs, errors and memory."""

import lzma
import multiprocessing
import shutil
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from tiny_models import made_up

from xling.bpe.encode_text import chunk_lines, encode_lines, encode_sentences, encoding, load_vocabulary, main
from xling.bpe.streams import END, TokenStream
from xling.core.errors import XlingError
from xling.core.io import read_json, write_json, write_text

Call = Callable[..., Any]
SPLITS = {"train": 600, "valid": 20, "test": 30}
# U+2581 is sentencepiece's own mark of a word start, which the vocabulary deals with
LINE = st.text(alphabet=st.characters(blacklist_characters="\n\u2581", blacklist_categories=["Cs"]), max_size=40)
KNOWN = st.lists(st.sampled_from(["bada", "ko", "ké", "<mask>", "</s>", "☃", "", "\u3000", "a\u0301"])).map(" ".join)


def by_sentencepiece(vocab: Path, lines: list[str]) -> list[list[int]]:
    processor = SentencePieceProcessor(model_file=str(vocab / "en.model"))
    ids = np.load(vocab / "en.ids.npy").tolist()
    return [[ids[i] for i in processor.encode(" ".join(line.split()))] for line in lines]


def unpack(vocab: Path, lines: list[str], characters: int) -> list[list[int]]:
    result = []
    for chunk in chunk_lines(lines, characters):
        encoded = encode_lines(load_vocabulary(vocab, "en"), "en", chunk)
        assert encoded.characters == sum(map(len, chunk))
        parts = np.split(encoded.ids, np.cumsum(encoded.lengths)[:-1])
        assert all(part[-1] == END for part in parts)
        result += [part[:-1].tolist() for part in parts]
    return result


@settings(max_examples=50)
@given(st.lists(LINE | KNOWN, min_size=1, max_size=6), st.integers(1, 60))
def test_the_ids_are_those_of_sentencepiece_for_the_whole_line(vocab: Path, lines: list[str], characters: int) -> None:
    assert unpack(vocab, lines, characters) == by_sentencepiece(vocab, lines)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["wiki.fr", "wiki.ru", "wiki.zh", "webdocs.en"])
def test_real_text_equals_sentencepiece(real_data: Path, vocab: Path, name: str) -> None:
    with lzma.open(real_data / "text" / f"{name}.txt.xz", "rt", encoding="utf-8", newline="\n") as handle:
        lines = [line.rstrip("\r\n") for line in islice(handle, 100)]
    assert unpack(vocab, lines, 10_000) == by_sentencepiece(vocab, lines)


@given(st.lists(LINE, max_size=12), st.integers(1, 50))
@settings(max_examples=50)
def test_chunks_are_whole_lines_of_about_the_size_asked_for(lines: list[str], characters: int) -> None:
    chunks = list(chunk_lines(lines, characters))
    assert [line for chunk in chunks for line in chunk] == lines
    assert all(sum(len(line) + 1 for line in chunk) >= characters for chunk in chunks[:-1])
    assert all(sum(len(line) + 1 for line in chunk[:-1]) < characters for chunk in chunks)


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["bada", "ko", ".", "!", "。", "...", "</s>"]), max_size=12))
def test_sentences_are_parted_and_nothing_else_changes(vocab: Path, words: list[str]) -> None:
    vocabulary = load_vocabulary(vocab, "en")
    found = encode_sentences(vocabulary, "en", " ".join(words))
    assert [number for number in found if number != END] == vocabulary.encode_words("en", words)
    ends = sum(word in (".", "!", "。") for word in words[:-1])
    assert found.count(END) == ends
    plain, marked = (encode_lines(vocabulary, "en", [" ".join(words)], marks) for marks in (False, True))
    assert marked.lengths[0] == plain.lengths[0] + ends


def write_raw(path: Path, raw: bytes) -> None:
    with write_text(path) as handle:
        handle.buffer.write(raw)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for split, number in SPLITS.items():
        lines = [*made_up("en", number, seed=number), "☃"]
        write_raw(tmp_path / f"{split}.txt.zst", "".join(f"{line}\n" for line in lines).encode())
    return tmp_path


def arguments(vocab: Path, texts: Path, out: str, processes: object = 1, language: str = "en") -> list[object]:
    splits = [x for name in SPLITS for x in ("--split", f"{name}={texts / name}.txt.zst")]
    return ["--vocab", vocab, "--language", language, *splits, "--out", texts / out, "--processes", processes]


def test_same_bytes_for_any_number_of_processes(
    vocab: Path, texts: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xling.bpe.encode_text.CHUNK_CHARACTERS", 3000)
    assert call(main, *arguments(vocab, texts, "one")).code == 0
    assert call(main, *arguments(vocab, texts, "two", processes=2)).code == 0
    names = sorted(path.name for path in (texts / "one").iterdir())
    assert names == ["meta.json", "test.bin", "test.idx", "train.bin", "train.idx", "valid.bin", "valid.idx"]
    assert all((texts / "one" / name).read_bytes() == (texts / "two" / name).read_bytes() for name in names)
    stream = TokenStream(texts / "one", "valid")
    expected = by_sentencepiece(vocab, [*made_up("en", 20, seed=20), "☃"])
    assert [stream.line(i).tolist() for i in range(stream.lines)] == expected
    assert stream.meta["splits"]["valid"]["unknown"] == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "valid.txt.zst: no such file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "truncated or damaged"),
        (lambda path: write_raw(path, b"fine\ncaf\xe9\n"), "line 2: not UTF-8 (byte 0xe9"),
        (lambda path: write_raw(path, b""), "valid.txt.zst: no text to encode"),
        (lambda path: write_raw(path, b"\n\n"), "valid.txt.zst: no text to encode"),
    ],
)
def test_one_clear_line_and_nothing_half_written(
    vocab: Path, texts: Path, call: Call, damage: Callable[[Path], object], message: str
) -> None:
    whole = (texts / "valid.txt.zst").read_bytes()
    damage(texts / "valid.txt.zst")
    code, error, _ = call(main, *arguments(vocab, texts, "out"))
    assert (code, error.count("\n")) == (2, 1)
    assert message in error
    assert list((texts / "out").iterdir()) == []
    (texts / "valid.txt.zst").write_bytes(whole)
    assert call(main, *arguments(vocab, texts, "out")).code == 0
    assert TokenStream(texts / "out", "test").lines == 31


def test_a_process_that_dies_and_an_error_while_processes_are_busy_are_one_line(
    vocab: Path, texts: Path, call: Call
) -> None:
    write_raw(texts / "test.txt.zst", b"fine\n" * 100 + b"caf\xe9\n")
    code, error, _ = call(main, *arguments(vocab, texts, "out", processes=2))
    assert (code, error.count("\n")) == (2, 1)
    assert "test.txt.zst, line 101: not UTF-8" in error
    assert list((texts / "out").iterdir()) == []
    with pytest.raises(XlingError, match="a worker process died"), encoding(vocab, "en", 2) as encode:  # noqa: PT012
        encoded = encode([line] for line in made_up("en", 50))
        next(encoded)
        for process in multiprocessing.active_children():
            process.kill()
        list(encoded)


def test_an_unknown_language_and_ids_outside_the_vocabulary_are_named(vocab: Path, texts: Path, call: Call) -> None:
    error = call(main, *arguments(vocab, texts, "out", language="de")).error
    assert "the vocabulary has no language 'de' (it has en, fr)" in error
    broken = shutil.copytree(vocab, texts / "broken")
    write_json(broken / "vocab.json", read_json(broken / "vocab.json") | {"size": 100})
    code, error, _ = call(main, *arguments(broken, texts, "out"))
    assert code == 2
    assert "vocab.json: en has ids from 0 to " in error
    assert "but only 100 are allowed (make the vocabulary again)" in error
    assert not (texts / "out").exists()


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--split", "dev=x.txt"),
        ("--split", "train="),
        ("--processes", "0"),
    ],
)
def test_a_malformed_flag_is_refused(vocab: Path, tmp_path: Path, call: Call, flag: str, value: str) -> None:
    common = ["--vocab", vocab, "--language", "en", "--split", "train=x.txt.zst", "--out", tmp_path / "out"]
    assert call(main, *common, flag, value).code == 2
    assert list(tmp_path.iterdir()) == []


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
