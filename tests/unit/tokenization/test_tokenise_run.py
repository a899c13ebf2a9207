"""The tokenising command: same bytes for any number of processes, empty lines dropped, faults told in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from xling.core.io import read_json, read_lines, write_text
from xling.tokenization.run import SHARD_LINES, shards, tokenise_file

OPTIONS = {"language": "en", "moses": "en"}


def command(source: Path, out: Path, options: str, *more: str) -> subprocess.CompletedProcess[str]:
    arguments = ["--input", source, "--options", options, "--out", out, "--stats", out.with_name("stats.json"), *more]
    command_line = [sys.executable, "-m", "xling.tokenization.run", *map(str, arguments)]
    return subprocess.run(command_line, capture_output=True, text=True, check=False)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt.zst"
    with write_text(path) as handle:
        for number in range(2 * SHARD_LINES + 17):
            handle.write(f"Line no. {number}, isn't it?\n" if number % 5 else " \u200b\n")
    return path


def test_any_number_of_processes_gives_the_same_bytes(text: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt.zst", tmp_path / "two.txt.zst"
    counts = tokenise_file(text, OPTIONS, one, 1)
    assert tokenise_file(text, OPTIONS, two, 2) == counts
    assert one.read_bytes() == two.read_bytes()
    lines = list(read_lines(one))
    assert lines[:2] == ["line no . 1 , isn 't it ?", "line no . 2 , isn 't it ?"]
    assert counts == {
        "lines": len(lines),
        "words": sum(len(line.split()) for line in lines),
        "characters": sum(len(word) for line in lines for word in line.split()),
    }


def test_shards_keep_every_line_in_order() -> None:
    lines = [str(number) for number in range(3 * SHARD_LINES + 1)]
    found = list(shards(lines))
    assert [line for shard in found for line in shard] == lines
    assert max(map(len, found)) == SHARD_LINES


def test_command_writes_text_and_statistics(text: Path, tmp_path: Path) -> None:
    done = command(text, tmp_path / "tok.txt.zst", json.dumps(OPTIONS))
    assert done.returncode == 0, done.stderr
    stats = read_json(tmp_path / "stats.json")
    assert stats["lines"] == len(list(read_lines(tmp_path / "tok.txt.zst")))
    assert sorted(stats) == ["characters", "lines", "words"]


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        ("", json.dumps(OPTIONS), "text.txt: no words in it"),
        ("\n \n", json.dumps(OPTIONS), "text.txt: no words in it"),
        ("a\n", "{", "--options is not JSON"),
        ("a\n", "[]", "--options must be a JSON object"),
        ("a\n", '{"moses": "en"}', "language: missing key"),
    ],
)
def test_faults_are_one_line_and_leave_nothing(tmp_path: Path, content: str, options: str, problem: str) -> None:
    source = tmp_path / "text.txt"
    source.write_text(content, encoding="utf-8")
    done = command(source, tmp_path / "out" / "tok.txt.zst", options)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert done.returncode == 2
    assert len(errors) == 1
    assert problem in errors[0]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [source]
