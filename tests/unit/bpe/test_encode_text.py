"""Encoding against sentencepiece's own, line by line, and the command's outputs, errors and memory."""

import multiprocessing
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from tiny_models import made_up, write_vocab

from xling.bpe.encode_text import chunk_lines, encode_chunk, encode_sentences, load_pieces, main
from xling.bpe.streams import END, TokenStream
from xling.core.errors import XlingError
from xling.core.io import write_text
from xling.core.pool import workers

SPLITS = {"train": 600, "valid": 20, "test": 30}
# U+2581 is sentencepiece's own mark of a word start, which the vocabulary deals with
LINE = st.text(alphabet=st.characters(blacklist_characters="\n\u2581", blacklist_categories=["Cs"]), max_size=40)
KNOWN = st.lists(st.sampled_from(["bada", "ko", "ké", "<mask>", "</s>", "☃", "", "\u3000", "a\u0301"])).map(" ".join)


@pytest.fixture(scope="session")
def vocab(tmp_path_factory):
    """Return a vocabulary of two languages, en second, so that its ids differ from sentencepiece's."""
    texts = {"fr": made_up("fr", 300), "en": made_up("en", 600)}
    return write_vocab(tmp_path_factory.mktemp("vocabulary"), "prefixed", texts, merges=120)


def by_sentencepiece(vocab, lines):
    processor = SentencePieceProcessor(model_file=str(vocab / "en.model"))
    return [processor.encode(" ".join(line.split())) for line in lines]


@settings(max_examples=50)
@given(st.lists(LINE | KNOWN, min_size=1, max_size=6), st.integers(1, 60))
def test_the_ids_are_those_of_sentencepiece_for_the_whole_line(vocab, lines, characters):
    found, chunks = [], list(chunk_lines(lines, characters))
    assert [line for chunk in chunks for line in chunk] == lines
    assert all(sum(len(line) + 1 for line in chunk) >= characters for chunk in chunks[:-1])
    assert all(sum(len(line) + 1 for line in chunk[:-1]) < characters for chunk in chunks)
    for chunk in chunks:
        ids, lengths = encode_chunk(vocab, "en", False, chunk)
        found += [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]
    assert found == [[*ids, END] for ids in by_sentencepiece(vocab, lines)]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["bada", "ko", ".", "!", "。", "...", "</s>"]), max_size=12))
def test_sentences_are_parted_and_nothing_else_changes(vocab, words):
    vocabulary = load_pieces(vocab, "en")
    found = encode_sentences(vocabulary, "en", " ".join(words))
    assert [number for number in found if number != END] == vocabulary.encode_words("en", words)
    assert found.count(END) == sum(word in (".", "!", "。") for word in words[:-1])
    assert encode_chunk(vocab, "en", True, [" ".join(words)])[0].tolist() == [*found, END]


def write_raw(path, raw):
    with write_text(path) as handle:
        handle.buffer.write(raw)


@pytest.fixture
def encode(vocab, tmp_path, call):
    """Return a function that encodes three texts into a folder; more flags replace the usual ones."""
    for split, number in SPLITS.items():
        lines = [*made_up("en", number, seed=number), "☃"]
        write_raw(tmp_path / f"{split}.txt.zst", "".join(f"{line}\n" for line in lines).encode())
    splits = [x for name in SPLITS for x in ("--split", f"{name}={tmp_path / name}.txt.zst")]
    return lambda out, *more: call(main, "--vocab", vocab, "--language", "en", *splits, "--out", tmp_path / out, *more)


def test_same_bytes_for_any_number_of_processes(vocab, tmp_path, encode, monkeypatch):
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


WRONG: list[tuple[Callable[[Path], object], list[str], str]] = [
    (lambda path: path.unlink(), [], "valid.txt.zst: no such file"),
    (lambda path: path.write_bytes(path.read_bytes()[:-9]), [], "truncated or damaged"),
    (lambda path: write_raw(path, b"fine\ncaf\xe9\n"), ["--processes", "2"], "line 2: not UTF-8 (byte 0xe9"),
    (lambda path: write_raw(path, b"\n\n"), [], "valid.txt.zst: no text to encode"),
    (Path.touch, ["--language", "de"], "the vocabulary has no language 'de' (it has en, fr)"),
    (Path.touch, ["--split", "dev=x.txt"], "--split dev: expected train=PATH"),
    (Path.touch, ["--split", "train="], "expected SPLIT=PATH"),
]


@pytest.mark.parametrize(("damage", "flags", "message"), WRONG)
def test_one_clear_line_and_nothing_half_written(tmp_path, encode, damage, flags, message):
    whole = (tmp_path / "valid.txt.zst").read_bytes()
    damage(tmp_path / "valid.txt.zst")
    code, error, _ = encode("out", *flags)
    assert (code, error.count("\n"), message in error) == (2, 1, True), error
    assert list((tmp_path / "out").glob("*")) == []
    (tmp_path / "valid.txt.zst").write_bytes(whole)
    assert encode("out").code == 0
    assert TokenStream(tmp_path / "out", "test").lines == 31


def test_a_process_that_dies_is_one_line(vocab):
    with pytest.raises(XlingError, match="a worker process died"), workers(2) as share:  # noqa: PT012
        encoded = share(partial(encode_chunk, vocab, "en", False), ([line] for line in made_up("en", 50)))
        next(encoded)
        for process in multiprocessing.active_children():
            process.kill()
        list(encoded)


def test_eight_times_the_text_needs_no_more_memory(tmp_path, encode, monkeypatch):
    monkeypatch.setattr("xling.bpe.encode_text.CHUNK_CHARACTERS", 1 << 13)
    block = "".join(f"{line}\n" for line in made_up("en", 1_000)).encode()
    peaks = []
    for times in (1, 8):
        write_raw(tmp_path / "train.txt.zst", block * times)
        tracemalloc.start()
        assert encode(str(times)).code == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (tmp_path / "8" / "train.bin").stat().st_size == 8 * (tmp_path / "1" / "train.bin").stat().st_size
    assert peaks[1] < 1.2 * peaks[0]
