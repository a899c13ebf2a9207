import os
import random
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_archive import make_archive

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
    sizes = unpack(archive, tmp_path / "out", spec("top/*"))
    assert tree(tmp_path / "out") == {name: body for name, body in FILES.items() if name.startswith("top/")}
    assert sizes == {name: len(body) for name, body in FILES.items() if name.startswith("top/")}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", kind]


@pytest.mark.parametrize("kind", KINDS)
def test_flat_keeps_base_names_only(tmp_path: Path, kind: str) -> None:
    unpack(make_archive(tmp_path / kind, FILES), tmp_path / "out", spec("top/a.txt", "b.txt", flat=True))
    assert tree(tmp_path / "out") == {"a.txt": FILES["top/a.txt"], "b.txt": FILES["top/deep/b.txt"]}


@pytest.mark.parametrize("kind", ["x.zip", "x.tar"])
def test_an_archive_inside_an_archive(tmp_path: Path, kind: str) -> None:
    inner = make_archive(tmp_path / "fr.tar.gz", {"train": b"1", "dev": b"2", "extra": b"3"}).read_bytes()
    archive = make_archive(tmp_path / kind, {"panx/fr.tar.gz": inner, "panx/frr.tar.gz": b"not an archive"})
    asked = spec("train", "dev", inside="fr.tar.gz", flat=True)
    unpack(archive, tmp_path / "out", asked)
    assert tree(tmp_path / "out") == {"train": b"1", "dev": b"2"}


def test_modes_of_the_archive_are_not_restored(tmp_path: Path) -> None:
    unpack(make_archive(tmp_path / "x.tar", FILES), tmp_path / "out", spec("top/a.txt"))
    (tmp_path / "plain").touch()
    assert (tmp_path / "out/top/a.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_new_version_takes_the_place_of_the_old(tmp_path: Path) -> None:
    unpack(make_archive(tmp_path / "x.zip", {"a": b"old", "gone": b""}), tmp_path / "out", spec("*"))
    unpack(make_archive(tmp_path / "x.zip", {"a": b"new"}), tmp_path / "out", spec("*"))
    assert tree(tmp_path / "out") == {"a": b"new"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "x.zip"]


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    for left in (".out.new/half", ".out.old/before", "out/old"):
        (tmp_path / left).parent.mkdir()
        (tmp_path / left).touch()
    unpack(make_archive(tmp_path / "x.zip", {"a": b"new"}), tmp_path / "out", spec("*"))
    assert tree(tmp_path / "out") == {"a": b"new"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "x.zip"]


def test_a_failure_leaves_the_old_version(tmp_path: Path) -> None:
    unpack(make_archive(tmp_path / "x.zip", {"a": b"old"}), tmp_path / "out", spec("a"))
    with pytest.raises(InputError, match="holds no member b"):
        unpack(make_archive(tmp_path / "x.zip", {"a": b"new"}), tmp_path / "out", spec("a", "b"))
    assert tree(tmp_path / "out") == {"a": b"old"}


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "x.tgz", FILES)
    with pytest.raises(InputError, match=r"x\.tgz: holds no member top/z\.txt \(is it the right version\?\)"):
        unpack(archive, tmp_path / "out", spec("top/a.txt", "top/z.txt"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.tgz"]


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArchiveError, match=r"two members would both become 'a\.txt'"):
        unpack(make_archive(tmp_path / "x.tar", FILES), tmp_path / "out", spec("a.txt", flat=True))


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "x.tar", {f"f{i}": b"" for i in range(20)})
    with pytest.raises(BadArchiveError, match="more than 10 members"):
        unpack(archive, tmp_path / "out", spec("f0", max_members=10))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [0, -1])
def test_the_limit_is_on_all_bytes_together(tmp_path: Path, kind: str, limit: int) -> None:
    archive = make_archive(tmp_path / kind, {"a": bytes(60_000), "b": bytes(60_000)})
    asked = spec("a", "b", max_bytes=120_000 + limit)
    if limit == 0:
        assert unpack(archive, tmp_path / "out", asked) == {"a": 60_000, "b": 60_000}
    else:
        with pytest.raises(BadArchiveError, match="unpacks to more than 119,999 bytes"):
            unpack(archive, tmp_path / "out", asked)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["symlink", "hard link", "fifo", "device"])
def test_only_plain_files_come_out_of_a_tar(tmp_path: Path, kind: str) -> None:
    entry = tarfile.TarInfo("x")
    entry.type = {"symlink": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE, "fifo": tarfile.FIFOTYPE}.get(
        kind, tarfile.CHRTYPE
    )
    entry.linkname = "a"
    with tarfile.open(tmp_path / "x.tar", "w") as handle:
        handle.addfile(entry)
    with pytest.raises(BadArchiveError, match=r"member 'x' is a (link|device), not a plain file"):
        unpack(tmp_path / "x.tar", tmp_path / "out", spec("*"))
    assert not os.path.lexists(tmp_path / "out")


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.rar").write_bytes(b"Rar!")
    with pytest.raises(InputError, match=r"unknown kind of archive, expected one of \.zip, \.tar"):
        unpack(tmp_path / "x.rar", tmp_path / "out", spec("*"))


def test_an_encrypted_zip_is_told_in_one_line(tmp_path: Path) -> None:
    body = bytearray(make_archive(tmp_path / "x.zip", {"a": b"secret"}).read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := body.find(magic, at + 1)) >= 0:
            body[at + offset] |= 1
    (tmp_path / "x.zip").write_bytes(body)
    with pytest.raises(BadArchiveError, match=r"damaged: File .* is encrypted"):
        unpack(tmp_path / "x.zip", tmp_path / "out", spec("a"))


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_is_an_error_or_leaves_the_right_bytes(tmp_path: Path, kind: str) -> None:
    files = {"a": random.Random(1).randbytes(5000), "b": b"text " * 500}
    whole = make_archive(tmp_path / kind, files).read_bytes()
    rng = random.Random(2)
    refused = 0
    for _ in range(40):
        (tmp_path / kind).write_bytes(whole[: rng.randrange(len(whole))])
        try:
            unpack(tmp_path / kind, tmp_path / "out", spec("a", "b"))
            assert tree(tmp_path / "out") == files
        except InputError:
            refused += 1
            assert [p.name for p in tmp_path.iterdir() if p.name not in (kind, "out")] == []
    assert refused > 10


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
