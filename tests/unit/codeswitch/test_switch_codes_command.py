"""The command: bytes, stats, and what a bad dictionary or text says."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.codeswitch.switch_codes import load_dictionary, main
from xling.core.errors import InputError
from xling.core.io import open_binary, read_json, write_text

PAIRS = "cat\tchat\t3\ncat\tmatou\t1\nice cream\tglace\t2\nhouse\tmaison\n"
TEXT = ["the cat sat in the  house", "", "cat house cat", "Cat CAT ☃ house"] * 50
FLAGS = ["--input", "train.txt.zst", "--dictionary", "dict.tsv", "--direction", "forward", "--seed", "7"]
FLAGS += ["--out", "out.txt.zst", "--stats", "stats.json"]
Call = Callable[..., Any]


def write(name: str, text: str) -> None:
    with write_text(Path(name)) as handle:
        handle.write(text)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a text and a dictionary; commands run in it."""
    monkeypatch.chdir(tmp_path)
    write("dict.tsv", PAIRS)
    write("train.txt.zst", "".join(f"{line}\n" for line in TEXT))
    return tmp_path


def content(path: str) -> bytes:
    with open_binary(Path(path)) as handle:
        return handle.read()


def test_same_bytes_in_any_process_and_honest_stats(files: Path, call: Call, repository: Path) -> None:
    more = ["--cap", "1", "--block-words", "40"]
    assert call(main, *FLAGS, *more).code == 0
    first, stats = content("out.txt.zst"), read_json(files / "stats.json")
    environment = os.environ | {"PYTHONPATH": str(repository), "PYTHONHASHSEED": "2"}
    command = [sys.executable, "-m", "xling.codeswitch.switch_codes", *FLAGS, *more]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    assert content("out.txt.zst") == first != content("train.txt.zst")
    before, after = " ".join(TEXT).split(" "), first.decode().replace("\n", " ").removesuffix(" ").split(" ")
    assert stats["replaced"] == sum(a != b for a, b in zip(before, after, strict=True))
    assert stats["words"] == sum(word != "" for word in before)
    assert stats["dictionary_words"] == sum(word.lower() in ("cat", "house") for word in before)
    assert stats["share"] == stats["replaced"] / stats["words"]
    assert (stats["dropped_by_cap"], stats["capped_blocks"]) == (0, 0)
    assert stats["dictionary"]["multiword_pairs_left_out"] == 1


def test_keep_everything_leaves_the_bytes_alone_and_the_default_cap_binds(files: Path, call: Call) -> None:
    assert call(main, *FLAGS, "--keep", "1.0").code == 0
    assert content("out.txt.zst") == content("train.txt.zst")
    assert call(main, *FLAGS).code == 0
    stats = read_json(files / "stats.json")
    assert stats["capped_blocks"] == stats["blocks"] == 1
    assert stats["replaced"] == int(0.15 * stats["words"])
    assert call(main, *FLAGS, "--keep", "1.5").code == 2


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("dict.tsv", "cat\tchat\t1\nhouse maison\n", "dict.tsv, line 2: no tab where source<TAB>target"),
        ("dict.tsv", b"cat\tchat\t1\n\xff\tx\t1\n", "dict.tsv, line 2: not UTF-8 (byte 0xff at column 1)"),
        ("dict.tsv", "chien\tHund\n", "dict.tsv: none of the 650 words of train.txt.zst is in it (source<TAB>target"),
        ("train.txt.zst", b"not zstd", "train.txt.zst: truncated or damaged after line 0"),
        ("train.txt.zst", "", "train.txt.zst: no words to switch"),
        ("train.txt.zst", "chat\n", "dict.tsv: none of the 1 words of train.txt.zst is in it"),
    ],
)
def test_one_clear_line_and_nothing_left_behind(
    files: Path, call: Call, name: str, damage: str | bytes, message: str
) -> None:
    whole = (files / name).read_bytes()
    (files / name).write_bytes(damage) if isinstance(damage, bytes) else write(name, damage)
    code, error, _ = call(main, *FLAGS)
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"error: {message}")
    assert sorted(path.name for path in files.iterdir()) == ["dict.tsv", "train.txt.zst"]
    (files / name).write_bytes(whole)
    assert call(main, *FLAGS).code == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("others", "warned"), [(98, False), (100, True)])
def test_a_dictionary_that_hardly_fits_is_asked_about(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], others: int, warned: bool
) -> None:
    write("train.txt.zst", "dog " * others + "cat\n")
    monkeypatch.setattr(sys, "argv", ["command", *FLAGS])
    main()
    assert ("only 0.99% of the words of train.txt.zst are in dict.tsv" in capsys.readouterr().err) == warned


def test_a_dictionary_without_single_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dict.tsv"
    path.write_text("ice cream\tglace\t1\ncat\tchat\t0\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"dict\.tsv: no forward translation of a single word \(left out: 1 of several"
    ):
        load_dictionary(path, "forward", lower=True)
