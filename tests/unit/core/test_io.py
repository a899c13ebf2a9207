"""Files are whole or absent, and a broken one is named with its line."""

import os
import stat
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core import io
from xling.core.errors import InputError
from xling.core.io import numbered_lines, read_json, read_lines, read_saved, seal_of, write_json, write_text

SUFFIXES = [".txt", ".txt.gz", ".txt.bz2", ".txt.xz", ".txt.zst"]
LINES = st.lists(st.text(alphabet=st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), max_size=20)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=20)
@given(lines=LINES)
def test_text_comes_back_as_it_was_written(tmp_path_factory, suffix, lines):
    path = tmp_path_factory.mktemp("io") / f"text{suffix}"
    with write_text(path) as handle:
        handle.writelines(f"{line}\n" for line in lines)
    first = [line.removeprefix("\ufeff") for line in lines[:1]]  # a byte-order mark
    assert list(read_lines(path)) == [*first, *lines[1:]]


def test_only_a_line_feed_ends_a_line_and_one_byte_order_mark_is_no_text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\ufeff\ufeffone\u2028still one\x0cand\x85more\n\ufefftwo\r\n", encoding="utf-8", newline="")
    assert list(numbered_lines(path)) == [(1, "\ufeffone\u2028still one\x0cand\x85more"), (2, "\ufefftwo")]


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_a_truncated_archive_is_named(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    with write_text(path) as handle:
        handle.writelines(f"{os.urandom(20).hex()}\n" for _ in range(3_000))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=r"text\.txt.*truncated or damaged after line \d+"):
        list(read_lines(path))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.txt", b"gut\nsch\xf6n\n", r"line 2: not UTF-8 \(byte 0xf6 at column 4\) \(.* iconv -f ENCODING"),
        ("a.json", b'{\n"name": "sch\xf6n"}\n', r"line 2: not UTF-8 \(byte 0xf6 at column 13\)"),
        ("a.txt", b"\xff\xfea\x00", r"line 1: not UTF-8 .* iconv -f UTF-16 -t UTF-8 OLD > NEW"),
        ("a.json", b'{\n"a": 1,\n}', r"line 3: not JSON"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, name, content, problem):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"/{name}, {problem}"):
        read_json(tmp_path / name) if name == "a.json" else list(read_lines(tmp_path / name))


def test_a_write_that_fails_leaves_the_old_file_and_one_that_succeeds_the_usual_permissions(tmp_path):
    path, usual = tmp_path / "text.txt.zst", tmp_path / "usual"
    usual.touch()
    with write_text(path) as handle:
        handle.write("old")
    with suppress(RuntimeError), write_text(path) as handle:
        handle.write("half")
        raise RuntimeError
    assert sorted(tmp_path.iterdir()) == [path, usual]
    assert list(read_lines(path)) == ["old"]
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_json_is_sorted_and_its_seal_is_what_sha256sum_reads_and_goes_with_the_file(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"b": [1, 2.5], "a": "й"})
    assert path.read_text(encoding="utf-8").startswith('{\n  "a": "й",')
    assert read_json(path) == {"a": "й", "b": [1, 2.5]}
    assert [entry.name for entry in sorted(tmp_path.iterdir())] == [".x.json.sha256", "x.json"]
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", seal_of(path).name], cwd=tmp_path, check=True)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"loss": float("nan")})
    path.write_text('{"a": 2}')
    with pytest.raises(InputError, match=r"x\.json: damaged, or changed .* delete .*/\.x\.json\.sha256\)"):
        read_json(path)
    write_json(path, {"a": 3})
    assert read_json(path) == {"a": 3}
    write_json(path, {"a": 4}, sealed=False)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]
    seal_of(path).touch()  # the machine went down before the seal was on disk
    assert read_json(path) == {"a": 4}


def test_a_file_that_is_replaced_while_it_is_read_is_not_damaged(tmp_path, monkeypatch):
    path, slow = tmp_path / "x.json", io.known_sha256
    write_json(path, {"a": 1})

    def replaced(given):
        monkeypatch.setattr(io, "known_sha256", slow)
        write_json(path, {"a": 2})
        return slow(given)

    monkeypatch.setattr(io, "known_sha256", replaced)
    assert read_json(path) == {"a": 2}


def test_what_an_earlier_attempt_saved_is_passed_over_where_it_is_damaged(tmp_path):
    path = tmp_path / "point-1.json"
    assert read_saved(path) is None
    write_json(path, {"a": 1})
    assert read_saved(path) == {"a": 1}
    for damaged in (b'{"a": 2}', b"\xff", b""):
        path.write_bytes(damaged)
        assert read_saved(path) is None
