"""Archives are unpacked whole or not at all, and nothing comes out but the plain files that were asked for."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_data import make_archive

from xling.core.errors import InputError
from xling.data.archive import BadArchiveError, safe_name, unpack
from xling.data.manifest import Unpack

FILES = {"top/a.txt": b"alpha", "top/deep/b.txt": b"beta" * 1000, "top/c.csv": b"", "other/a.txt": b"another"}
KINDS = ["x.zip", "x.tar", "x.tgz", "x.tar.gz", "x.tar.bz2", "x.tar.xz"]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def spec(*members: str, **more: object) -> Unpack:
    return Unpack(**{"to": "out", "members": members, "max_bytes": 100_000, **more})


@pytest.mark.parametrize("kind", KINDS)
def test_everything_asked_for_and_nothing_else(tmp_path: Path, kind: str) -> None:
    archive = make_archive(tmp_path / kind, FILES)
    (tmp_path / "plain").touch()
    wanted = {name: body for name, body in FILES.items() if name.startswith("top/")}
    assert unpack(archive, tmp_path / "out", spec("top/*")) == {name: len(body) for name, body in wanted.items()}
    assert tree(tmp_path / "out") == wanted
    assert (tmp_path / "out/top/a.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode  # not the archive's
    unpack(archive, tmp_path / "out", spec("top/a.txt", "b.txt", flat=True))  # takes the place of the first
    assert tree(tmp_path / "out") == {"a.txt": FILES["top/a.txt"], "b.txt": FILES["top/deep/b.txt"]}
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["out", "plain", kind])


@pytest.mark.parametrize("kind", ["x.zip", "x.tar"])
def test_an_archive_inside_an_archive(tmp_path: Path, kind: str) -> None:
    inner = make_archive(tmp_path / "fr.tar.gz", {"train": b"1", "dev": b"2", "extra": b"3"}).read_bytes()
    archive = make_archive(tmp_path / kind, {"panx/fr.tar.gz": inner, "panx/frr.tar.gz": b"not an archive"})
    unpack(archive, tmp_path / "out", spec("train", "dev", inside="fr.tar.gz", flat=True))
    assert tree(tmp_path / "out") == {"train": b"1", "dev": b"2"}


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    for left in (".out.new/half", ".out.old/before", "out/old"):
        (tmp_path / left).parent.mkdir()
        (tmp_path / left).touch()
    unpack(make_archive(tmp_path / "x.zip", {"a": b"new"}), tmp_path / "out", spec("*"))
    assert tree(tmp_path / "out") == {"a": b"new"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "x.zip"]


def encrypted(body: bytes) -> bytes:
    changed = bytearray(body)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := changed.find(magic, at + 1)) >= 0:
            changed[at + offset] |= 1
    return bytes(changed)


@pytest.mark.parametrize(
    ("name", "asked", "problem"),
    [
        ("x.tgz", spec("top/a.txt", "top/z.txt"), "x.tgz: holds no member top/z.txt (is it the right version?)"),
        ("x.tar", spec("a.txt", flat=True), "two members would both become 'a.txt'"),
        ("x.tar", spec("top/a.txt", max_members=3), "more than 3 members"),
        ("x.tar", spec("*", max_bytes=4011), "unpacks to more than 4,011 bytes"),
        ("x.zip", spec("*", max_bytes=4011), "unpacks to more than 4,011 bytes"),
        ("x.rar", spec("*"), "unknown kind of archive, expected one of .zip, .tar"),
        ("encrypted.zip", spec("*"), "is encrypted"),
    ],
)
def test_a_refusal_says_why_and_leaves_the_old_version(tmp_path: Path, name: str, asked: Unpack, problem: str) -> None:
    archive = make_archive(tmp_path / name.replace("rar", "tar"), FILES).rename(tmp_path / name)
    if name == "encrypted.zip":
        archive.write_bytes(encrypted(archive.read_bytes()))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/old").write_bytes(b"old")
    with pytest.raises(InputError) as caught:
        unpack(archive, tmp_path / "out", asked)
    assert problem in str(caught.value)
    assert tree(tmp_path) == {name: archive.read_bytes(), "out/old": b"old"}


def test_the_limit_is_on_all_bytes_together(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "x.tar.xz", FILES)
    assert sum(unpack(archive, tmp_path / "out", spec("*", max_bytes=4012)).values()) == 4012


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_is_an_error_or_leaves_the_right_bytes(tmp_path: Path, kind: str) -> None:
    files = {"a": random.Random(1).randbytes(5000), "b": b"text " * 500}
    whole = make_archive(tmp_path / kind, files).read_bytes()
    rng = random.Random(2)
    refused = 0
    for _ in range(20):
        (tmp_path / kind).write_bytes(whole[: rng.randrange(len(whole))])
        try:
            unpack(tmp_path / kind, tmp_path / "out", spec("a", "b"))
            assert tree(tmp_path / "out") == files
        except InputError:
            refused += 1
            assert [p.name for p in tmp_path.iterdir() if p.name not in (kind, "out")] == []
    assert refused > 5


@given(st.text(min_size=1, max_size=30))
def test_a_name_that_is_let_through_stays_below(name: str) -> None:
    root = Path("/data/root")
    try:
        inner = safe_name(Path("x.zip"), name)
    except BadArchiveError:
        return
    assert Path(os.path.normpath(root / inner)).is_relative_to(root)


@pytest.mark.parametrize(
    "name", ["/etc/x", "../x", "a/../../x", "a\\..\\..\\x", "C:\\x", "C:/x", "\\\\host\\x", "a\nb"]
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(BadArchiveError, match="points outside the folder"):
        safe_name(Path("x.zip"), name)
