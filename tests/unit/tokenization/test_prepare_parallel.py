"""Parallel sentences as words: one file per side, equally long, or none at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.tokenization import prepare_parallel

Prepare = Callable[..., Any]


@pytest.fixture
def prepare(call: Callable[..., Any], tmp_path: Path) -> Prepare:
    """Return a function that runs the command; `{}` in its flags is a folder with files to read."""
    files = {
        "x.tsv": "de\ten\tfr\nja\tYes\tOui, oui\nnein\tno, no\tNon\n",
        "back.txt": "yep\nnope  nope\n",
        "short.txt": "yep\n",
        "vanish.txt": "1\n\u200b\n",
        "fr.json": json.dumps({"language": "fr", "moses": "fr"}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "out").mkdir()

    def command(flags: str) -> Any:
        return call(prepare_parallel.main, *flags.replace("{}", str(tmp_path)).split(), "--out-dir", tmp_path / "out")

    return command


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--multiway {}/x.tsv --languages fr en --file en2={}/back.txt --tokeniser fr={}/fr.json",
         {"fr.txt": "oui , oui\nnon\n", "en.txt": "Yes\nno, no\n", "en2.txt": "yep\nnope nope\n"}),
        ("--multiway {}/x.tsv --file en2={}/back.txt", {"en2.txt": "yep\nnope nope\n"}),
        ("--file source={}/back.txt --file target={}/back.txt",
         {"source.txt": "yep\nnope nope\n", "target.txt": "yep\nnope nope\n"}),
    ],
)  # fmt: skip
def test_one_file_per_side(prepare: Prepare, tmp_path: Path, flags: str, expected: dict[str, str]) -> None:
    assert prepare(flags).code == 0
    found = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert {name: text for name, text in found.items() if name in expected} == expected
    assert found.keys() == expected.keys() | {f".{name}.sha256" for name in expected}


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ("--multiway {}/x.tsv --file en2={}/short.txt", "short.txt: ends after 1 sentences"),
        ("--file en={}/back.txt --file fr={}/vanish.txt --tokeniser fr={}/fr.json", "fr.txt, line 2: nothing left of"),
        ("--file {}/back.txt", "expected CODE=PATH, each code once"),
        ("", "name each side once"),
        ("--file en={}/back.txt --multiway {}/x.tsv --languages en", "name each side once"),
        ("--file en=a --file en=b", "expected CODE=PATH, each code once"),
        ("--file en=a --tokeniser en={}/fr.json --tokeniser en={}/fr.json", "expected CODE=FILE, each code once"),
    ],
)
def test_nothing_is_left_behind_by_a_failure(prepare: Prepare, tmp_path: Path, flags: str, problem: str) -> None:
    code, error, _ = prepare(flags)
    assert (code, error.count("error: ")) == (2, 1)
    assert problem in error
    assert list((tmp_path / "out").iterdir()) == []
