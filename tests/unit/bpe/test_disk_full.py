"""A full disk during any of the writes: one clear line, nothing half-written, and a rerun completes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.bpe import encode_text
from xling.codeswitch import switch_codes
from xling.core.errors import EXIT_NO_SPACE
from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.data import split_corpus as corpus


@pytest.mark.parametrize("name", ["corpus", "corpus shuffled", "codeswitch", "encode", "encode in processes"])
def test_full_disk(
    mount_disk: Callable[[str], Path], tmp_path: Path, vocab: Path, call: Callable[..., Any], name: str
) -> None:
    disk, text = mount_disk("64k"), tmp_path / "text.txt.zst"
    out, rng = disk / "out", python_rng("disk full")
    with write_text(text) as handle:  # text that does not compress well: about 150 KB even in zstd
        for _ in range(1500):
            handle.write(" ".join(f"{rng.getrandbits(48):x}" for _ in range(16)) + " cat\n")
    (tmp_path / "dict.tsv").write_text("cat\tchat\t1\n")
    split = ["--input", text, "--seed", 1, "--valid-lines", 5, "--test-lines", 5, "--out-dir", out]
    switch = ["--input", text, "--dictionary", tmp_path / "dict.tsv", "--direction", "forward", "--seed", 1]
    encode = ["--vocab", vocab, "--language", "en", "--split", f"train={text}", "--out", out]
    main, *arguments = {
        "corpus": [corpus.main, *split],
        "corpus shuffled": [corpus.main, *split, "--shuffle-seed", 1],
        "codeswitch": [switch_codes.main, *switch, "--out", out / "s.txt.zst", "--stats", out / "stats.json"],
        "encode": [encode_text.main, *encode],
        "encode in processes": [encode_text.main, *encode, "--processes", 2],
    }[name]
    code, error, _ = call(main, *arguments)
    assert (code, error.count("\n")) == (EXIT_NO_SPACE, 1)
    assert error.startswith("error: no space left on the disk")
    assert [path.name for path in disk.rglob("*")] in ([], ["out"])
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    assert call(main, *arguments).code == 0
    assert [path for path in disk.rglob(".*") if path.suffix != ".sha256"] == []
