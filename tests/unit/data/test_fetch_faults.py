"""What can go wrong between a server and the data root: one clear line, nothing half-written, a rerun mends it."""

import hashlib
import json
import random
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FaultyServer, Served
from small_data import tar_of, zip_of

from xling.data.manifest import SourceFile, Unpack

TEXT = random.Random(3).randbytes(400_000)
Fetch = Callable[..., Any]


def names(folder: Path) -> set[str]:
    """Return every file and folder below, without what the command keeps for itself."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*")} - {".fetch", "sources.lock.json", "archives"}


def loose(server: FaultyServer) -> SourceFile:
    return SourceFile(path="f.bin", urls=(server.url("/f"),))


def packed(server: FaultyServer, name: str, body: bytes, max_bytes: int = 1_000_000) -> SourceFile:
    server.files[f"/{name}"] = Served(body)
    take = Unpack(to="out", members=("*",), max_bytes=max_bytes)
    return SourceFile(path=f"archives/{name}", urls=(server.url(f"/{name}"),), unpack=take)


def lying_zip() -> bytes:
    """Return a zip whose headers say that a large member has ten bytes."""
    body = bytearray(zip_of({"bomb": bytes(9_000_000)}))
    for magic, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", body, body.index(magic) + offset, 10)
    return bytes(body)


FILE, LINK, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
GOOD = ("good.txt", FILE, b"good", "")
BOMB = ("b", FILE, bytes(9_000_000), "")
EVIL = [
    ("x.tar", tar_of(GOOD, ("../evil.txt", FILE, b"e", "")), "points outside the folder"),
    ("x.tar.gz", tar_of(("a/../../evil", FILE, b"e", ""), mode="w:gz"), "points outside the folder"),
    ("x.tar", tar_of(GOOD, ("/evil.txt", FILE, b"e", "")), "points outside the folder"),
    ("x.tar", tar_of(GOOD, ("s", LINK, b"", "/etc")), "'s' is a link"),
    ("x.tar", tar_of(("s", LINK, b"", "../.."), ("s/evil.txt", FILE, b"e", "")), "'s' is a link"),
    ("x.tar", tar_of(GOOD, ("h", HARD, b"", "../../x")), "'h' is a link"),
    ("x.tar", tar_of(GOOD, ("null", tarfile.CHRTYPE, b"", "")), "'null' is a device"),
    ("x.tar", tar_of(GOOD, ("pipe", tarfile.FIFOTYPE, b"", "")), "'pipe' is a device"),
    ("x.zip", zip_of({"good.txt": b"good", "../evil.txt": b"e"}), "points outside the folder"),
    ("x.zip", zip_of({"good.txt": b"good", "/evil.txt": b"e"}), "points outside the folder"),
    ("x.zip", zip_of({"good.txt": b"g", "s": b"/etc/passwd"}, link="s"), "'s' is a link"),
    ("x.zip", zip_of({"good.txt": b"good", "bomb": bytes(9_000_000)}), "more than 1,000,000 bytes"),
    ("x.zip", lying_zip(), "x.zip"),
    ("x.tar.gz", tar_of(BOMB, mode="w:gz"), "more than 1,000,000 bytes"),
    ("x.tar.xz", tar_of(BOMB, mode="w:xz"), "more than 1,000,000 bytes"),
    ("x.tar.bz2", tar_of(("t", FILE, TEXT, ""), mode="w:bz2")[:-200_000], "truncated or damaged"),
    ("x.zip", b"hello", "truncated or damaged"),
]


@pytest.mark.parametrize(("name", "body", "problem"), EVIL)
def test_a_bad_archive(
    fetch: Fetch, server: FaultyServer, tmp_path: Path, name: str, body: bytes, problem: str
) -> None:
    root = tmp_path / "data"
    code, error, _ = fetch(packed(server, name, body))
    assert (code, error.count("error")) == (1, 1)
    assert f"archives/{name}: " in error
    assert problem in error
    assert names(root) == {f"archives/{name}.bad"}
    assert not list(tmp_path.glob("**/evil*"))
    assert not Path("/evil.txt").exists()  # what some of them aim at
    good = zip_of({"good.txt": b"good"}) if name.endswith("zip") else tar_of(GOOD)
    assert fetch(packed(server, name, good)).code == 0
    assert (root / "out/good.txt").read_bytes() == b"good"


def test_a_command_that_is_killed_goes_on(server: FaultyServer, tmp_path: Path, repository: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from xling.data import download\n"
        "if len(sys.argv) > 3:\n"
        "    download.CHUNK = 100_000\n"
        "    download.Progress.add = lambda *_: os.kill(os.getpid(), 9)\n"
        "print(download.download([sys.argv[1]], Path(sys.argv[2]), download.Expected()))"
    )
    server.files["/f"] = Served(TEXT)
    command = [sys.executable, "-c", code, server.url("/f"), str(tmp_path / "f.bin")]
    assert subprocess.run([*command, "die"], cwd=repository, capture_output=True, check=False).returncode == -9
    assert names(tmp_path) == {"f.bin.part", "f.bin.part.json"}
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    assert server.asked[-1].range == "bytes=100000-"
    assert done.stdout.strip() == hashlib.sha256(TEXT).hexdigest()
    assert (tmp_path / "f.bin").read_bytes() == TEXT


@pytest.mark.parametrize(("text", "problem"), [('{\n"f.bin": \n', "line 3: not JSON"), ("[]", "expected a mapping")])
def test_a_broken_lock_file_is_named(
    fetch: Fetch, server: FaultyServer, tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sources.lock.json").write_text(text)
    code, error, _ = fetch(loose(server))
    assert (code, error.count("error:")) == (2, 1)
    assert "sources.lock.json" in error
    assert problem in error


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)


@pytest.mark.parametrize("say_length", [True, False], ids=["seen before", "met on the way"])
def test_a_full_disk_while_downloading(
    fetch: Fetch, server: FaultyServer, mount_disk: Callable[[str], Path], say_length: bool
) -> None:
    disk, body = mount_disk("1m"), TEXT * 8
    server.files["/f"] = Served(body, say_length=say_length)
    code, error, _ = fetch(loose(server), root=disk)
    assert (code, "f.bin.part: no space left on device" in error) == (3, True)
    assert names(disk) <= (set() if say_length else {"f.bin.part", "f.bin.part.json"})
    enlarge(disk)
    assert fetch(loose(server), root=disk).code == 0
    assert (disk / "f.bin").read_bytes() == body
    assert names(disk) == {"f.bin"}


def test_a_full_disk_while_unpacking(fetch: Fetch, server: FaultyServer, mount_disk: Callable[[str], Path]) -> None:
    disk = mount_disk("1m")
    file = packed(server, "x.zip", zip_of({"good.txt": b"good", "zeros": bytes(3_000_000)}), max_bytes=4_000_000)
    code, error, _ = fetch(file, root=disk)
    assert (code, "archives/x.zip: no space left on device" in error) == (3, True)
    assert names(disk) == {"archives/x.zip"}
    enlarge(disk)
    assert fetch(file, root=disk).code == 0
    assert json.loads((disk / "out/.unpacked.json").read_text())["files"] == {"good.txt": 4, "zeros": 3_000_000}
