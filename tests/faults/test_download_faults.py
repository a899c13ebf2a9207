"""What can go wrong between a server and the data root: one clear line, nothing half-written, a rerun mends it."""

import hashlib
import io
import json
import random
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_server import FaultyServer, Served

from xling.core.errors import run as run_command
from xling.data import fetch, manifest
from xling.data.manifest import Dataset, SourceFile, Unpack

TEXT = random.Random(3).randbytes(400_000)
Fetch = Callable[[SourceFile], tuple[int, list[str]]]


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def get(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fetch:
    """Run the fetch command for one file; return its exit code and its error lines."""
    monkeypatch.setattr("xling.data.download.time.sleep", lambda _: None)

    def command(file: SourceFile, where: Path = root) -> tuple[int, list[str]]:
        dataset = Dataset("d", "role", "description", "1", "CC0", "none", (file,))
        monkeypatch.setattr(manifest, "_study_manifest", lambda: {"d": dataset})
        monkeypatch.setattr(sys, "argv", ["fetch", "--sources", '[{"name": "d"}]', "--root", str(where)])
        capsys.readouterr()
        code = 0
        try:
            run_command(fetch.main)
        except SystemExit as end:
            code = int(end.code or 0)
        lines = capsys.readouterr().err.splitlines()
        assert "Traceback (most recent call last):" not in lines, "\n".join(lines)
        return code, [line for line in lines if line.startswith("error: ")]

    return command


def names(folder: Path) -> set[str]:
    """Return every file and folder below, without what the command keeps for itself."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*")} - {".fetch", "sources.lock.json", "archives"}


def packed(server: FaultyServer, name: str, body: bytes, max_bytes: int = 1_000_000) -> SourceFile:
    server.files[f"/{name}"] = Served(body)
    take = Unpack(to="out", members=("*",), max_bytes=max_bytes)
    return SourceFile(f"archives/{name}", (server.url(f"/{name}"),), unpack=take)


def tar_of(*entries: tuple[str, bytes, bytes, str], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as handle:
        for name, kind, body, link in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname = kind, len(body), link
            handle.addfile(entry, io.BytesIO(body))
    return out.getvalue()


def zip_of(entries: dict[str, bytes], link: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as handle:
        for name, body in entries.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFLNK | 0o777 if name == link else stat.S_IFREG | 0o644) << 16
            handle.writestr(info, body)
    return out.getvalue()


GOOD = ("good.txt", tarfile.REGTYPE, b"good", "")
EVIL = {
    "tar with ..": ("x.tar", tar_of(GOOD, ("../evil.txt", tarfile.REGTYPE, b"e", "")), "points outside the folder"),
    "tar.gz with a/../..": ("x.tar.gz", tar_of(("a/../../evil", tarfile.REGTYPE, b"e", ""), mode="w:gz"), "outside"),
    "tar with an absolute path": ("x.tar", tar_of(GOOD, ("/evil.txt", tarfile.REGTYPE, b"e", "")), "outside"),
    "tar with a symlink out": ("x.tar", tar_of(GOOD, ("s", tarfile.SYMTYPE, b"", "/etc")), "'s' is a link"),
    "tar that writes through its symlink": (
        "x.tar",
        tar_of(("s", tarfile.SYMTYPE, b"", "../.."), ("s/evil.txt", tarfile.REGTYPE, b"e", "")),
        "'s' is a link",
    ),
    "tar with a hard link out": ("x.tar", tar_of(GOOD, ("h", tarfile.LNKTYPE, b"", "../../x")), "'h' is a link"),
    "tar with a device": ("x.tar", tar_of(GOOD, ("null", tarfile.CHRTYPE, b"", "")), "'null' is a device"),
    "zip with ..": ("x.zip", zip_of({"good.txt": b"good", "../evil.txt": b"e"}), "points outside the folder"),
    "zip with an absolute path": ("x.zip", zip_of({"good.txt": b"good", "/evil.txt": b"e"}), "outside"),
    "zip with a symlink out": ("x.zip", zip_of({"good.txt": b"g", "s": b"/etc/passwd"}, link="s"), "'s' is a link"),
    "zip bomb": ("x.zip", zip_of({"good.txt": b"good", "bomb": bytes(9_000_000)}), "more than 1,000,000 bytes"),
    "tar.gz bomb": ("x.tar.gz", tar_of(("b", tarfile.REGTYPE, bytes(9_000_000), ""), mode="w:gz"), "1,000,000 bytes"),
    "tar.xz bomb": ("x.tar.xz", tar_of(("b", tarfile.REGTYPE, bytes(9_000_000), ""), mode="w:xz"), "1,000,000 bytes"),
    "truncated zip": ("x.zip", zip_of({"t": TEXT})[:-300_000], "truncated or damaged"),
    "truncated tar": ("x.tar", tar_of(("t", tarfile.REGTYPE, TEXT, ""))[:200_000], "truncated or damaged"),
    "truncated tar.gz": ("x.tar.gz", tar_of(("t", tarfile.REGTYPE, TEXT, ""), mode="w:gz")[:-200_000], "truncated"),
    "truncated tar.bz2": ("x.tar.bz2", tar_of(("t", tarfile.REGTYPE, TEXT, ""), mode="w:bz2")[:-200_000], "truncated"),
    "truncated tar.xz": ("x.tar.xz", tar_of(("t", tarfile.REGTYPE, TEXT, ""), mode="w:xz")[:-200_000], "truncated"),
    "not an archive": ("x.zip", b"hello", "truncated or damaged"),
}


@pytest.mark.parametrize("case", EVIL)
def test_a_bad_archive(get: Fetch, server: FaultyServer, root: Path, case: str) -> None:
    name, body, problem = EVIL[case]
    code, lines = get(packed(server, name, body))
    assert (code, len(lines)) == (1, 1)
    assert f"archives/{name}: " in lines[0]
    assert problem in lines[0]
    assert names(root) == {f"archives/{name}.bad"}
    assert not list(root.parent.glob("**/evil*"))
    assert not Path("/evil.txt").exists()  # what some of them aim at
    good = zip_of({"good.txt": b"good"}) if name.endswith("zip") else tar_of(GOOD)
    code, _ = get(packed(server, name, good))
    assert (code, (root / "out/good.txt").read_bytes()) == (0, b"good")


def test_a_zip_whose_header_lies_about_its_size(get: Fetch, server: FaultyServer, root: Path) -> None:
    body = bytearray(zip_of({"bomb": bytes(9_000_000)}))
    for magic, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", body, body.index(magic) + offset, 10)
    code, lines = get(packed(server, "x.zip", bytes(body)))
    assert (code, len(lines)) == (1, 1)
    assert names(root) == {"archives/x.zip.bad"}


def test_a_download_that_is_cut_off_and_resumed(get: Fetch, server: FaultyServer, root: Path) -> None:
    server.files["/f"] = Served(TEXT, cuts=[150_000, 0, 0, 0, 0, 0])
    code, lines = get(SourceFile("f.bin", (server.url("/f"),)))
    assert (code, len(lines)) == (1, 1)
    assert "cut off" in lines[0]
    assert names(root) == {"f.bin.part", "f.bin.part.json"}
    before = server.sent
    server.files["/f"].cuts.clear()
    assert get(SourceFile("f.bin", (server.url("/f"),)))[0] == 0
    assert server.asked[-1].range == "bytes=150000-"
    assert (before, server.sent - before) == (150_000, 250_000)
    assert (root / "f.bin").read_bytes() == TEXT
    assert names(root) == {"f.bin"}


def test_a_command_that_is_killed_goes_on(server: FaultyServer, root: Path, repository: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from xling.data import download\n"
        "real = download._chunks\n"
        "def dying(answer):\n"
        "    for chunk in real(answer):\n"
        "        yield chunk[:100_000]; os.kill(os.getpid(), 9)\n"
        "if len(sys.argv) > 3: download._chunks = dying; download.CHUNK = 100_000\n"
        "print(download.download([sys.argv[1]], Path(sys.argv[2])))"
    )
    server.files["/f"] = Served(TEXT)
    command = [sys.executable, "-c", code, server.url("/f"), str(root / "f.bin")]
    assert subprocess.run([*command, "die"], cwd=repository, capture_output=True, check=False).returncode == -9
    assert names(root) == {"f.bin.part", "f.bin.part.json"}
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    assert server.asked[-1].range == "bytes=100000-"
    assert done.stdout.strip() == hashlib.sha256(TEXT).hexdigest()
    assert (root / "f.bin").read_bytes() == TEXT


def test_a_wrong_checksum(get: Fetch, server: FaultyServer, root: Path) -> None:
    server.files["/f"] = Served(TEXT[:-1] + b"!")
    right, wrong = (hashlib.sha256(body).hexdigest() for body in (TEXT, server.files["/f"].body))
    file = SourceFile("f.bin", (server.url("/f"),), sha256=right)
    code, lines = get(file)
    assert (code, len(lines)) == (1, 1)
    assert f"has sha256 {wrong}, expected {right} (the manifest)" in lines[0]
    assert f"kept as {root}/f.bin.bad" in lines[0]
    assert names(root) == {"f.bin.bad"}
    server.files["/f"] = Served(TEXT, etag='"mended"')
    assert get(file)[0] == 0
    assert (root / "f.bin").read_bytes() == TEXT


def test_a_broken_lock_file_is_named(get: Fetch, server: FaultyServer, root: Path) -> None:
    root.mkdir()
    (root / "sources.lock.json").write_text('{\n"f.bin": \n')
    server.files["/f"] = Served(TEXT)
    code, lines = get(SourceFile("f.bin", (server.url("/f"),)))
    assert (code, len(lines)) == (2, 1)
    assert "sources.lock.json, line 3: not JSON" in lines[0]


@pytest.fixture
def small_disk(mount_disk: Callable[[str], Path]) -> Path:
    """Mount a disk of 1 MiB."""
    return mount_disk("1m")


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)


@pytest.mark.parametrize("say_length", [True, False], ids=["seen before", "met on the way"])
def test_a_full_disk_while_downloading(get: Fetch, server: FaultyServer, small_disk: Path, say_length: bool) -> None:
    body = TEXT * 8
    server.files["/f"] = Served(body, say_length=say_length)
    file = SourceFile("f.bin", (server.url("/f"),))
    code, lines = get(file, small_disk)
    assert (code, len(lines)) == (3, 1)
    assert "f.bin.part: no space left on device" in lines[0]
    assert names(small_disk) <= (set() if say_length else {"f.bin.part", "f.bin.part.json"})
    enlarge(small_disk)
    assert get(file, small_disk)[0] == 0
    assert (small_disk / "f.bin").read_bytes() == body
    assert names(small_disk) == {"f.bin"}


def test_a_full_disk_while_unpacking(get: Fetch, server: FaultyServer, small_disk: Path) -> None:
    file = packed(server, "x.zip", zip_of({"good.txt": b"good", "zeros": bytes(3_000_000)}), max_bytes=4_000_000)
    code, lines = get(file, small_disk)
    assert (code, len(lines)) == (3, 1)
    assert "archives/x.zip: no space left on device" in lines[0]
    assert names(small_disk) == {"archives/x.zip"}
    enlarge(small_disk)
    assert get(file, small_disk)[0] == 0
    assert json.loads((small_disk / "out/.unpacked.json").read_text())["files"] == {"good.txt": 4, "zeros": 3_000_000}
