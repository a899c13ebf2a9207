"""The command: bytes, stats, and what a bad dictionary or text says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xling.codeswitch.run import load_dictionary, read_pairs
from xling.core.errors import InputError
from xling.core.io import open_binary, read_json, write_text

PAIRS = "cat\tchat\t3\ncat\tmatou\t1\nice cream\tglace\t2\nhouse\tmaison\n"
TEXT = ["the cat sat in the  house", "", "cat house cat", "Cat CAT ☃ house"] * 50


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "dict.tsv").write_text(PAIRS, encoding="utf-8")
    with write_text(tmp_path / "train.txt.zst") as handle:
        handle.writelines(f"{line}\n" for line in TEXT)
    return tmp_path


def switch(folder: Path, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "xling.codeswitch.run", "--input", "train.txt.zst", "--dictionary", "dict.tsv"]
    command += ["--direction", "forward", "--seed", "7", "--out", "out.txt.zst", "--stats", "stats.json", *more]
    repository = str(Path(__file__).resolve().parents[3])
    environment = {**os.environ, "PYTHONPATH": repository, **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def content(path: Path) -> bytes:
    with open_binary(path) as handle:
        return handle.read()


def test_same_bytes_in_any_process_and_honest_stats(files: Path) -> None:
    assert switch(files, "--cap", "1", "--block-words", "40", PYTHONHASHSEED="1").returncode == 0
    first, stats = content(files / "out.txt.zst"), read_json(files / "stats.json")
    assert switch(files, "--cap", "1", "--block-words", "40", PYTHONHASHSEED="2").returncode == 0
    assert content(files / "out.txt.zst") == first != content(files / "train.txt.zst")
    before, after = " ".join(TEXT).split(" "), first.decode().replace("\n", " ").removesuffix(" ").split(" ")
    assert stats["replaced"] == sum(a != b for a, b in zip(before, after, strict=True))
    assert stats["words"] == sum(word != "" for word in before)
    assert stats["dictionary_words"] == sum(word.lower() in ("cat", "house") for word in before)
    assert stats["share"] == stats["replaced"] / stats["words"]
    assert (stats["dropped_by_cap"], stats["capped_blocks"]) == (0, 0)
    assert stats["dictionary"]["multiword_pairs_left_out"] == 1


def test_keep_everything_leaves_the_bytes_alone_and_the_default_cap_binds(files: Path) -> None:
    assert switch(files, "--keep", "1.0").returncode == 0
    assert content(files / "out.txt.zst") == content(files / "train.txt.zst")
    assert switch(files).returncode == 0
    stats = read_json(files / "stats.json")
    assert stats["capped_blocks"] == stats["blocks"] == 1
    assert stats["replaced"] == int(0.15 * stats["words"])


@pytest.mark.parametrize(
    ("name", "damaged", "message"),
    [
        ("dict.tsv", b"cat\tchat\t1\nhouse maison\n", "dict.tsv, line 2: 1 columns, expected source<TAB>target"),
        ("dict.tsv", b"cat\tchat\t1\n\xff\tx\t1\n", "dict.tsv, line 2: not UTF-8 (byte 0xff at column 1)"),
        ("train.txt.zst", b"not zstd", "train.txt.zst: truncated or damaged after line 0"),
    ],
)
def test_one_clear_line_and_nothing_left_behind(files: Path, name: str, damaged: bytes, message: str) -> None:
    whole = (files / name).read_bytes()
    (files / name).write_bytes(damaged)
    result = switch(files)
    assert result.returncode == 2
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in files.iterdir()) == ["dict.tsv", "train.txt.zst"]
    (files / name).write_bytes(whole)
    assert switch(files).returncode == 0


def test_an_empty_language_is_an_error(files: Path) -> None:
    with write_text(files / "train.txt.zst"):
        pass
    result = switch(files)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("error: train.txt.zst: no words to switch")
    assert not (files / "out.txt.zst").exists()
    assert not (files / "stats.json").exists()


@pytest.mark.parametrize("flags", [("--direction", "backward"), ()])
def test_a_dictionary_that_fits_nothing_is_an_error(files: Path, flags: tuple[str, ...]) -> None:
    if not flags:
        (files / "dict.tsv").write_text("chien\tHund\n", encoding="utf-8")
    result = switch(files, *flags)
    assert (result.returncode, result.stderr.count("error: ")) == (2, 1)
    assert "error: dict.tsv: none of the 650 words of train.txt.zst is in it (source<TAB>target" in result.stderr
    assert sorted(path.name for path in files.iterdir()) == ["dict.tsv", "train.txt.zst"]


@pytest.mark.parametrize(("others", "warned"), [(98, False), (100, True)])
def test_a_dictionary_that_hardly_fits_is_asked_about(files: Path, others: int, warned: bool) -> None:
    with write_text(files / "train.txt.zst") as handle:
        handle.write("dog " * others + "cat\n")
    result = switch(files)
    assert result.returncode == 0
    told = "only 0.99% of the words of train.txt.zst are in dict.tsv: is it of these languages, and the source first?"
    assert (told in result.stderr) == warned


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\tchat\t1\t2\n", "line 1: 4 columns"),
        ("cat\t\t1\n", "line 1: a word is missing"),
        ("\n", "line 1: 1 columns"),
        ("cat\tchat\tgood\n", "line 1: quality must be a number from 0 up, found 'good'"),
        ("cat\tchat\t-1\n", "line 1: quality must be"),
        ("cat\tchat\tnan\n", "line 1: quality must be"),
        ("ice cream\tglace\t1\ncat\tchat\t0\n", "no forward translation of a single word (left out: 1 of several"),
        ("", "no forward translation"),
    ],
)
def test_bad_dictionaries_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "dict.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        load_dictionary(path, "forward", lower=True)
    assert str(refusal.value).startswith(str(path))
    assert message in str(refusal.value)


def test_two_columns_mean_equal_quality_and_spaces_are_tidied(tmp_path: Path) -> None:
    path = tmp_path / "dict.tsv"
    path.write_text(" cat \t le  chat\nhouse\tmaison\t2.5\n", encoding="utf-8")
    assert list(read_pairs(path)) == [("cat", "le chat", 1.0), ("house", "maison", 2.5)]
