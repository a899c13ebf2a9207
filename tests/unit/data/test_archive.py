"""Archives are unpacked whole or not at all, and nothing comes out but the plain files that were asked for."""

import random
import struct
import tarfile
from pathlib import Path

import pytest
from small_data import make_archive, tar_of, zip_of

from xling.core.errors import InputError
from xling.data.archive import unpack
from xling.data.manifest import Unpack

FILES = {"top/a.txt": b"alpha", "top/deep/b.txt": b"beta" * 1000, "top/c.csv": b"", "other/a.txt": b"another"}
KINDS = ["x.zip", "x.tar", "x.tgz", "x.tar.gz", "x.tar.bz2", "x.tar.xz"]


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def spec(*members, **more):
    return Unpack(**{"to": "out", "members": members, "max_bytes": 100_000, **more})


@pytest.mark.parametrize("kind", KINDS)
def test_everything_asked_for_and_nothing_else(tmp_path, kind):
    archive, out = make_archive(tmp_path / kind, FILES), tmp_path / "out"
    (tmp_path / "plain").touch()
    (tmp_path / ".out.new").mkdir()
    (tmp_path / ".out.new/half").touch()  # left by a killed run
    wanted = {name: body for name, body in FILES.items() if name.startswith("top/")}
    assert unpack(archive, out, spec("top/*")) == {name: len(body) for name, body in wanted.items()}
    assert tree(out) == wanted
    assert (out / "top/a.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode  # not the archive's
    unpack(archive, out, spec("top/a.txt", "b.txt", flat=True))  # takes the place of the first
    assert tree(out) == {"a.txt": FILES["top/a.txt"], "b.txt": FILES["top/deep/b.txt"]}
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["out", "plain", kind])
    outer = make_archive(
        tmp_path / f"outer-{kind}", {f"panx/{kind}": archive.read_bytes(), f"panx/r{kind}": b"no archive"}
    )
    unpack(outer, out, spec("top/a.txt", "b.txt", inside=kind, flat=True))
    assert tree(out) == {"a.txt": FILES["top/a.txt"], "b.txt": FILES["top/deep/b.txt"]}
    assert sum(unpack(archive, out, spec("*", max_bytes=4012)).values()) == 4012  # the limit is on all bytes together


def changed_zip(entries, encrypted):
    """Return a zip whose headers say that it is encrypted, or that its first member has ten bytes."""
    body = bytearray(zip_of(entries))
    for magic, flag, size in ((b"PK\x03\x04", 6, 22), (b"PK\x01\x02", 8, 24)):
        at = body.index(magic)
        if encrypted:
            body[at + flag] |= 1
        else:
            struct.pack_into("<I", body, at + size, 10)
    return bytes(body)


FILE, LINK, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
GOOD, OUTSIDE = ("good.txt", FILE, b"good", ""), "points outside the folder"
BOMB = {"bomb": bytes(200_000)}
TAR = tar_of(*((name, FILE, body, "") for name, body in FILES.items()))
REFUSED = [
    ("x.tar", TAR, spec("top/a.txt", "top/z.txt"), "x.tar: holds no member top/z.txt (is it the right version?)"),
    ("x.tar", TAR, spec("a.txt", flat=True), "two members would both become 'a.txt'"),
    ("x.tar", TAR, spec("top/a.txt", max_members=3), "more than 3 members"),
    *((name, body, spec("*", max_bytes=4011), "unpacks to more than 4,011 bytes")
      for name, body in {"x.tar": TAR, "x.zip": zip_of(FILES)}.items()),
    ("x.rar", b"", spec("*"), "unknown kind of archive, expected one of .zip, .tar"),
    ("x.zip", b"hello", spec("*"), "truncated or damaged"),
    ("x.zip", changed_zip(FILES, encrypted=True), spec("*"), "is encrypted"),
    ("x.zip", changed_zip(BOMB, encrypted=False), spec("*"), "x.zip"),
    *((name, body, spec("*"), "more than 100,000 bytes") for name, body in {
        "x.zip": zip_of(BOMB), "x.tar.xz": tar_of(GOOD, ("bomb", FILE, bytes(200_000), ""), mode="w:xz")}.items()),
    *(("x.tar", tar_of(GOOD, (name, FILE, b"e", "")), spec("*"), OUTSIDE)
      for name in ("../evil.txt", "/evil.txt", "a/../../evil")),
    *(("x.zip", zip_of({"good.txt": b"good", name: b"e"}), spec("*"), OUTSIDE)
      for name in ("../evil.txt", "/evil.txt", "a\\..\\..\\evil", "C:\\evil", "C:/evil", "\\\\host\\evil")),
    ("x.zip", zip_of({"good.txt": b"good", "a\nevil": b"e"}), spec("*"), "has a name that cannot be printed"),
    ("x.tar", tar_of(("s", LINK, b"", "../.."), ("s/evil.txt", FILE, b"e", "")), spec("*"), "'s' is a link"),
    ("x.tar", tar_of(GOOD, ("h", HARD, b"", "../../x")), spec("*"), "'h' is a link"),
    ("x.zip", zip_of({"good.txt": b"g", "s": b"/etc/passwd"}, link="s"), spec("*"), "'s' is a link"),
    ("x.tar", tar_of(GOOD, ("null", tarfile.CHRTYPE, b"", "")), spec("*"), "'null' is a device"),
    ("x.tar", tar_of(GOOD, ("pipe", tarfile.FIFOTYPE, b"", "")), spec("*"), "'pipe' is a device"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "body", "asked", "problem"), REFUSED)
def test_a_refusal_says_why_and_leaves_the_old_version(tmp_path, name, body, asked, problem):
    (tmp_path / name).write_bytes(body)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/old").write_bytes(b"old")
    with pytest.raises(InputError) as caught:
        unpack(tmp_path / name, tmp_path / "out", asked)
    assert problem in str(caught.value)
    assert tree(tmp_path) == {name: body, "out/old": b"old"}
    assert not [*tmp_path.parent.glob("evil*"), *Path("/").glob("evil*")]  # what some of them aim at


def test_a_member_that_nobody_wants_may_have_any_name(tmp_path):
    """Macs add a member of this name."""
    (tmp_path / "x.zip").write_bytes(zip_of({"top/Icon\r": b"", "top/good.txt": b"good"}))
    assert unpack(tmp_path / "x.zip", tmp_path / "out", spec("good.txt", flat=True)) == {"good.txt": 4}


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_is_an_error_or_leaves_the_right_bytes(tmp_path, kind):
    files = {"a": random.Random(1).randbytes(5000), "b": b"text " * 500}
    whole = make_archive(tmp_path / kind, files).read_bytes()
    rng, refused = random.Random(2), 0
    for _ in range(20):
        (tmp_path / kind).write_bytes(whole[: rng.randrange(len(whole))])
        try:
            unpack(tmp_path / kind, tmp_path / "out", spec("a", "b"))
            assert tree(tmp_path / "out") == files
        except InputError:
            refused += 1
            assert {p.name for p in tmp_path.iterdir()} <= {kind, "out"}
    assert refused > 5
