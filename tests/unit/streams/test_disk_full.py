"""A full disk during any of the writes: one clear line, nothing half-written, and a rerun completes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.bpe import encode
from xling.codeswitch import run as codeswitch
from xling.core.errors import EXIT_NO_SPACE
from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.data import split_corpus as corpus


@pytest.fixture
def small_disk(mount_disk: Callable[[str], Path]) -> Path:
    """Mount a disk of 64 KiB."""
    return mount_disk("64k")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Write text that does not compress well: about 400 KB even in zstd."""
    rng = python_rng("disk full")
    with write_text(tmp_path / "text.txt.zst") as handle:
        for _ in range(4000):
            handle.write(" ".join(f"{rng.getrandbits(48):x}" for _ in range(16)) + " cat\n")
    return tmp_path / "text.txt.zst"


def command(name: str, text: Path, vocab: Path, disk: Path) -> tuple[Callable[[], None], list[object]]:
    dictionary = text.with_name("dict.tsv")
    dictionary.write_text("cat\tchat\t1\n")
    if name.startswith("corpus"):
        order = ["--shuffle-seed", 1] if name == "corpus shuffled" else []
        held = ["--valid-lines", 5, "--test-lines", 5]
        return corpus.main, ["--input", text, "--seed", 1, "--out-dir", disk / "out", *held, *order]
    if name == "codeswitch":
        outputs = ["--out", disk / "out" / "s.txt.zst", "--stats", disk / "out" / "stats.json"]
        return codeswitch.main, [
            "--input",
            text,
            "--dictionary",
            dictionary,
            "--direction",
            "forward",
            "--seed",
            1,
            *outputs,
        ]
    split = ["--split", f"train={text}", "--processes", 2 if name == "encode in processes" else 1]
    return encode.main, ["--vocab", vocab, "--language", "en", "--out", disk / "out", *split]


@pytest.mark.parametrize("name", ["corpus", "corpus shuffled", "codeswitch", "encode", "encode in processes"])
def test_full_disk(small_disk: Path, text: Path, vocab: Path, call: Callable[..., Any], name: str) -> None:
    main, arguments = command(name, text, vocab, small_disk)
    code, error = call(main, *arguments)
    assert (code, error.count("\n")) == (EXIT_NO_SPACE, 1)
    assert error.startswith("error: no space left on the disk")
    assert [path.name for path in small_disk.rglob("*")] in ([], ["out"])
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    assert call(main, *arguments).code == 0
    assert list(small_disk.rglob(".*")) == []
