"""The command: bytes, stats, and what a bad dictionary or text says."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.codeswitch.switch_codes import main
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
    words, replaced = sum(word != "" for word in before), sum(a != b for a, b in zip(before, after, strict=True))
    known = sum(word.lower() in ("cat", "house") for word in before)
    assert stats == {
        "words": words, "replaced": replaced, "dictionary_words": known, "identical": 0, "dropped_by_cap": 0,
        "blocks": stats["blocks"], "capped_blocks": 0, "largest_block_share": stats["largest_block_share"],
        "share": replaced / words, "dictionary_share": known / words, "drawn_share_of_dictionary_words": replaced / known,
        "dictionary": {"words": 2, "pairs": 3, "multiword_pairs_left_out": 1, "zero_quality_pairs_left_out": 0},
    }  # fmt: skip
    assert stats["blocks"] > 10
    assert stats["share"] < stats["largest_block_share"] <= 1


def test_keep_everything_leaves_the_bytes_alone_and_the_default_cap_binds(files: Path, call: Call) -> None:
    assert call(main, *FLAGS, "--keep", "1.0").code == 0
    assert content("out.txt.zst") == content("train.txt.zst")
    assert call(main, *FLAGS).code == 0
    stats = read_json(files / "stats.json")
    assert stats["capped_blocks"] == stats["blocks"] == 1
    assert stats["replaced"] == int(0.15 * stats["words"])


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("dict.tsv", b"cat\tchat\t1\n\xff\tx\t1\n", "dict.tsv, line 2: not UTF-8 (byte 0xff at column 1)"),
        ("dict.tsv", "chien\tHund\n", "dict.tsv: none of the 650 words of train.txt.zst is in it (source<TAB>target"),
        (
            "dict.tsv",
            "ice cream\tglace\t1\ncat\tchat\t0\n",
            "dict.tsv: no forward translation of a single word (left out: 1 of several words, 1 of quality 0)",
        ),
        ("train.txt.zst", b"not zstd", "train.txt.zst: truncated or damaged after line 0"),
        ("train.txt.zst", "", "train.txt.zst: no words to switch"),
    ],
)
def test_one_clear_line_and_nothing_left_behind(
    files: Path, call: Call, name: str, damage: str | bytes, message: str
) -> None:
    (files / name).write_bytes(damage) if isinstance(damage, bytes) else write(name, damage)
    code, error, _ = call(main, *FLAGS)
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"error: {message}")
    assert sorted(path.name for path in files.iterdir()) == ["dict.tsv", "train.txt.zst"]


@pytest.mark.usefixtures("files")
def test_a_dictionary_that_hardly_fits_and_shares_above_one_are_told(call: Call) -> None:
    for others in (98, 100):
        write("train.txt.zst", "dog " * others + "cat\n")
        said = call(main, *FLAGS).said
        assert ("only 0.99% of the words of train.txt.zst are in dict.tsv" in said) == (others == 100)
    assert "--keep 1.5, --cap 0.15: expected numbers from 0 to 1" in call(main, *FLAGS, "--keep", "1.5").error
