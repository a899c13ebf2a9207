"""How eflomal comes to a machine: one pin, in its own files, built with our headers by whatever compiler there is."""

import re
import shutil
from pathlib import Path

import pytest
from embedded import ROOT
from pins import read_pins

from workflow_scripts import install_aligner
from workflow_scripts.install_aligner import COMPILER, PINS, build_environment, find_compiler
from xling.align.align_words import SEED_FILE
from xling.core.errors import XlingError


def test_the_build_reads_our_headers_first(tmp_path: Path) -> None:
    made = build_environment(tmp_path, "cc", {"PATH": "/bin", "CFLAGS": "-O0"})
    assert (made["PATH"], made["CC"], made["MAKEFLAGS"]) == ("/bin", "cc", "e")
    header = re.search(r"-include (.+)", made["CFLAGS"])
    assert header is not None
    assert Path(header[1]).read_text() == (ROOT / "envs/eflomal/seeded.h").read_text()
    assert f'getenv("{SEED_FILE}")' in Path(header[1]).read_text()
    assert f"eflomal=={read_pins(PINS)['eflomal']}" in (ROOT / "envs/eflomal.yaml").read_text()


def test_a_machine_without_a_compiler_fetches_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(install_aligner, "pip", lambda *arguments: asked.append(arguments))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/clang" if name == "clang" else None)
    assert find_compiler(tmp_path) == "clang"
    assert asked == []
    monkeypatch.setattr(shutil, "which", lambda _: None)
    script = Path(find_compiler(tmp_path))
    assert asked == [("--target", str(tmp_path / "zig"), COMPILER)]
    assert script.stat().st_mode & 0o100
    assert f'exec "{tmp_path}/zig/ziglang/zig" cc' in script.read_text()


def test_a_build_that_fails_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install_aligner.sys, "executable", "/bin/false")
    with pytest.raises(
        XlingError, match=r"pip could not install nothing==1: .* \(Figures 5 and 8 need it: install a C"
    ):
        install_aligner.pip("nothing==1")
