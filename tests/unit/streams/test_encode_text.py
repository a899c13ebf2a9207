"""Encoding against sentencepiece's own, line by line, and the command's outputs and errors."""

import json
import lzma
import multiprocessing
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from small_vocabulary import SHIFT, made_up_lines

from xling.bpe.encode import chunk_lines, encode_lines, encode_sentences, encoding, load_vocabulary, main
from xling.bpe.streams import END, TokenStream
from xling.core.errors import XlingError
from xling.core.io import write_text

Call = Callable[..., Any]
# U+2581 is sentencepiece's own mark of a word start, which the vocabulary deals with
LINE = st.text(alphabet=st.characters(blacklist_characters="\n\u2581", blacklist_categories=["Cs"]), max_size=40)
KNOWN = st.lists(st.sampled_from(["bada", "ko", "ké", "<mask>", "</s>", "☃", "", "\u3000", "a\u0301"])).map(" ".join)


def by_sentencepiece(vocab: Path, lines: list[str]) -> list[list[int]]:
    processor = SentencePieceProcessor(model_file=str(vocab / "en.model"))
    return [[i if i < 4 else i + SHIFT for i in processor.encode(" ".join(line.split()))] for line in lines]


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
def test_the_ids_are_sentencepiece_s_of_the_whole_line(vocab: Path, lines: list[str], characters: int) -> None:
    assert unpack(vocab, lines, characters) == by_sentencepiece(vocab, lines)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["wiki.fr", "wiki.ru", "wiki.zh", "webdocs.en"])
def test_real_text_equals_sentencepiece(real_data: Path, vocab: Path, name: str) -> None:
    with lzma.open(real_data / "text" / f"{name}.txt.xz", "rt", encoding="utf-8", newline="\n") as handle:
        lines = [line.rstrip("\r\n") for line in islice(handle, 300)]
    assert unpack(vocab, lines, 10_000) == by_sentencepiece(vocab, lines)


@given(st.lists(LINE, max_size=20), st.integers(1, 50))
def test_chunks_are_whole_lines_of_about_the_size_asked_for(lines: list[str], characters: int) -> None:
    chunks = list(chunk_lines(lines, characters))
    assert [line for chunk in chunks for line in chunk] == lines
    assert all(sum(len(line) + 1 for line in chunk) >= characters for chunk in chunks[:-1])
    assert all(sum(len(line) + 1 for line in chunk[:-1]) < characters for chunk in chunks)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for split, number in (("train", 3000), ("valid", 20), ("test", 30)):
        with write_text(tmp_path / f"{split}.txt.zst") as handle:
            handle.writelines(f"{line}\n" for line in [*made_up_lines(number, seed=number), "☃"])
    return tmp_path


def arguments(vocab: Path, texts: Path, out: str, processes: int = 1, language: str = "en") -> list[object]:
    splits = [x for name in ("train", "valid", "test") for x in ("--split", f"{name}={texts / name}.txt.zst")]
    return ["--vocab", vocab, "--language", language, *splits, "--out", texts / out, "--processes", processes]


def test_same_bytes_for_any_number_of_processes(
    vocab: Path, texts: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xling.bpe.encode.CHUNK_CHARACTERS", 3000)
    assert call(main, *arguments(vocab, texts, "one")).code == 0
    assert call(main, *arguments(vocab, texts, "three", processes=3)).code == 0
    names = sorted(path.name for path in (texts / "one").iterdir())
    assert names == ["meta.json", "test.bin", "test.idx", "train.bin", "train.idx", "valid.bin", "valid.idx"]
    assert all((texts / "one" / name).read_bytes() == (texts / "three" / name).read_bytes() for name in names)
    stream = TokenStream(texts / "one", "valid")
    assert [stream.line(i).tolist() for i in range(stream.lines)] == by_sentencepiece(
        vocab, [*made_up_lines(20, seed=20), "☃"]
    )
    assert stream.meta["splits"]["valid"]["unknown"] == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda t: (t / "valid.txt.zst").unlink(), "valid.txt.zst: no such file"),
        (lambda t: (t / "valid.txt.zst").write_bytes((t / "valid.txt.zst").read_bytes()[:-9]), "truncated or damaged"),
        (lambda t: write_lines(t / "valid.txt.zst", [b"fine\n", b"caf\xe9\n"]), "line 2: not UTF-8 (byte 0xe9"),
        (lambda t: write_lines(t / "valid.txt.zst", []), "valid.txt.zst: no text to encode"),
        (lambda t: write_lines(t / "valid.txt.zst", [b"\n\n"]), "valid.txt.zst: no text to encode"),
    ],
)
def test_one_clear_line_and_nothing_half_written(
    vocab: Path, texts: Path, call: Call, damage: Callable[[Path], object], message: str
) -> None:
    whole = (texts / "valid.txt.zst").read_bytes()
    damage(texts)
    code, error = call(main, *arguments(vocab, texts, "out"))
    assert (code, error.count("\n")) == (2, 1)
    assert message in error
    assert list((texts / "out").iterdir()) == []
    (texts / "valid.txt.zst").write_bytes(whole)
    assert call(main, *arguments(vocab, texts, "out")).code == 0
    assert TokenStream(texts / "out", "test").lines == 31


def test_an_error_while_processes_are_busy_is_one_line_too(vocab: Path, texts: Path, call: Call) -> None:
    write_lines(texts / "test.txt.zst", [b"fine\n"] * 100 + [b"caf\xe9\n"])
    code, error = call(main, *arguments(vocab, texts, "out", processes=2))
    assert (code, error.count("\n")) == (2, 1)
    assert "test.txt.zst, line 101: not UTF-8" in error
    assert list((texts / "out").iterdir()) == []


def test_a_process_that_dies_is_told_in_one_line(vocab: Path) -> None:
    chunks = [[line] for line in made_up_lines(50)]

    def encode_and_lose_the_processes() -> None:
        with encoding(vocab, "en", 2) as encode:
            encoded = encode(chunks)
            next(encoded)
            for process in multiprocessing.active_children():
                process.kill()
            list(encoded)

    with pytest.raises(XlingError, match="an encoding process died"):
        encode_and_lose_the_processes()


def write_lines(path: Path, raw: list[bytes]) -> None:
    with write_text(path) as handle:
        handle.buffer.writelines(raw)


def test_an_unknown_language_and_ids_outside_the_vocabulary_are_named(vocab: Path, texts: Path, call: Call) -> None:
    assert (
        "the vocabulary has no language 'fr' (it has en)"
        in call(main, *arguments(vocab, texts, "out", language="fr")).error
    )
    broken = texts / "broken"
    broken.mkdir()
    for path in vocab.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    about = json.loads((broken / "vocab.json").read_text())
    (broken / "vocab.json").write_text(json.dumps({**about, "size": 400}))
    code, error = call(main, *arguments(broken, texts, "out"))
    assert code == 2
    assert "vocab.json: en has ids from 0 to 404, but only 400 are allowed" in error
    assert not (texts / "out").exists()


@pytest.mark.parametrize("split", ["train", "dev=x.txt", "train="])
def test_a_malformed_split_is_refused(vocab: Path, tmp_path: Path, call: Call, split: str) -> None:
    assert call(main, "--vocab", vocab, "--language", "en", "--split", split, "--out", tmp_path / "out").code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_a_number_of_processes_that_is_none_is_refused(vocab: Path, tmp_path: Path, call: Call, number: str) -> None:
    split = ["--split", "train=x.txt.zst", "--out", tmp_path / "out"]
    assert call(main, "--vocab", vocab, "--language", "en", *split, "--processes", number).code == 2
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["bada", "ko", ".", "!", "。", "...", "</s>"]), max_size=12))
def test_sentences_are_parted_and_nothing_else_changes(vocab: Path, words: list[str]) -> None:
    vocabulary = load_vocabulary(vocab, "en")
    found = encode_sentences(vocabulary, "en", " ".join(words))
    parts = [[]]
    for number in found:
        parts.append([]) if number == END else parts[-1].append(number)
    assert [number for part in parts for number in part] == vocabulary.encode_words("en", words)
    ends = sum(word in (".", "!", "。") for word in words[:-1])
    assert len(parts) == 1 + ends
    plain, marked = (encode_lines(vocabulary, "en", [" ".join(words)], marks) for marks in (False, True))
    assert marked.lengths[0] == plain.lengths[0] + ends
