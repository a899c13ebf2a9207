"""The fetch command: what is asked for arrives verified, what is there is left alone, and a rerun mends what failed."""

import hashlib
import json
import os
import random
import subprocess

import pytest
from faulty_server import Served
from small_data import make_archive, zip_of

from xling.data import fetch_dataset, manifest
from xling.data.manifest import Dataset, SourceFile, Sums, Unpack

LARGE = random.Random(3).randbytes(3_200_000)
ZIP = zip_of({"X/one.tsv": b"1\n", "X/two.tsv": b"2\n"})


def dataset(name, *files, ask=""):
    texts = {"role": "r", "description": "d", "version": "1", "licence": "CC0", "terms": "none"}
    return Dataset(name=name, files=files, ask=ask, **texts)


MINE = dataset("mine", SourceFile(path="mine/a.txt"), SourceFile(path="mine/b.txt"), ask="1. Write to them.\n")


@pytest.fixture
def fetch(call, server, tmp_path, monkeypatch):
    """Return a function that runs the command for datasets that the server has."""
    server.files |= {"/loose.txt": Served(b"loose\n"), "/x.zip": Served(ZIP)}
    monkeypatch.setattr("xling.data.download.time.sleep", lambda _: None)

    def command(*wanted, root=tmp_path / "data", more=()):
        monkeypatch.setattr(manifest, "load_manifest", lambda: {one.name: one for one in wanted})
        (tmp_path / "sources.json").write_text(json.dumps([{"name": one.name} for one in wanted]))
        return call(fetch_dataset.main, "--sources", tmp_path / "sources.json", "--root", root, *more)

    return command


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def loose_file(server, **more):
    return dataset("loose", SourceFile(path="loose.txt", urls=(server.url("/loose.txt"),), **more))


def zipped_file(server, *members, most=100, to="x"):
    take = Unpack(to=to, members=members, max_bytes=most, flat=True)
    return dataset("zipped", SourceFile(path="archives/x.zip", urls=(server.url("/x.zip"),), unpack=take, about=300))


def files(folder):
    """Return the files below, without those that the command keeps for itself."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return found - {"sources.lock.json"}


def touch_later(path):
    """Let a file seem written a second later: clocks of file systems tick too rarely to tell two writes apart."""
    written = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(written, written))


def test_what_is_asked_for_arrives_once_and_one_failure_does_not_stop_the_others(fetch, server, data):
    loose, zipped = loose_file(server), zipped_file(server, "X/one.tsv")
    served = server.files.pop("/loose.txt")
    code, error, _ = fetch(loose, MINE)
    assert (code, error.count("error: ")) == (1, 1)
    assert error.startswith(f"error: loose: {data}/loose.txt: not fetched: ")
    server.files["/loose.txt"] = served
    assert fetch(loose, MINE).code == 2
    said = fetch(loose, zipped).said
    assert "zipped: archives/x.zip (CC0; terms: none)" in said
    assert "loose.txt" not in said  # is there
    for _ in range(2):
        assert fetch(loose, zipped).code == 0
        assert files(data) == {"loose.txt", "archives/x.zip", "x/one.tsv", "x/.unpacked.json"}
        assert (data / "x/one.tsv").read_bytes() == b"1\n"
        assert [asked.path for asked in server.asked] == ["/loose.txt", "/loose.txt", "/x.zip"]


def test_what_the_user_must_supply_is_waited_for(fetch, server, data, tmp_path):
    receipt = tmp_path / "receipt.json"
    states = [("a.txt", None, 2), ("a.txt", "x", 2), ("b.txt", "", 2), ("b.txt", "y", 0)]  # an empty file is no file
    (data / "mine").mkdir(parents=True)
    for name, text, code in states:
        if text is not None:
            (data / "mine" / name).write_text(text)
        assert fetch(MINE, loose_file(server), more=("--receipt", receipt)).code == code
        assert receipt.exists() == (code == 0)
        assert (data / "loose.txt").exists()
    bodies = {"mine/a.txt": b"x", "mine/b.txt": b"y", "loose.txt": b"loose\n"}
    hashes = {path: hashlib.sha256(body).hexdigest() for path, body in bodies.items()}
    assert json.loads(receipt.read_text()) == {"files": hashes}
    items = [(MINE, file) for file in MINE.files]
    told = fetch_dataset.ask_block(items, fetch_dataset.Ledger(tmp_path / "empty"))
    assert f"  -> {tmp_path}/empty/mine/a.txt" in told.splitlines()


def test_a_file_is_what_it_was_first_or_is_fetched_again_or_refused(fetch, server, data):
    loose, path, bad = loose_file(server), data / "loose.txt", data / "loose.txt.bad"
    assert fetch(loose).code == 0
    touch_later(path)
    assert fetch(loose).code == 0
    assert len(server.asked) == 1  # only read again
    path.write_bytes(b"LOOSE\n")
    touch_later(path)
    assert fetch(loose).code == 0
    assert (path.read_bytes(), bad.read_bytes()) == (b"loose\n", b"LOOSE\n")
    path.unlink()
    server.files["/loose.txt"] = Served(b"changed\n", etag='"v2"')
    code, error, _ = fetch(loose)
    first, second = (hashlib.sha256(body).hexdigest() for body in (b"loose\n", b"changed\n"))
    assert (code, f"has sha256 {second}, expected {first} (sources.lock.json" in error) == (1, True)
    assert (path.exists(), bad.read_bytes()) == (False, b"changed\n")


def test_unpacked_files_are_made_again_only_where_they_must(fetch, server, data):
    for members, gone in (("X/one.tsv", ""), ("X/one.tsv", "x/one.tsv"), ("X/*", ""), ("X/*", "archives/x.zip")):
        (data / gone).unlink() if gone else None  # an archive may go once it is unpacked
        assert fetch(zipped_file(server, members)).code == 0
        assert (data / "x/one.tsv").read_bytes() == b"1\n"
        assert (data / "x/two.tsv").exists() == (members == "X/*")
    assert len(server.asked) == 1
    (data / "sources.lock.json").unlink()
    server.files["/x.zip"] = Served(zip_of({"X/one.tsv": b"new\n"}))
    for folder in ("y", "x"):  # the archive comes anew for y, and x is made of it again
        assert fetch(zipped_file(server, "X/*", to=folder)).code == 0
        assert (data / folder / "one.tsv").read_bytes() == b"new\n"
    assert len(server.asked) == 2


def test_a_bad_archive_is_set_aside_and_fetched_again(fetch, server, data):
    for bad in (b"hello", zip_of({"X/one.tsv": b"1\n", "../evil": b"e"})):
        server.files["/x.zip"] = Served(bad)
        code, error, _ = fetch(zipped_file(server, "X/one.tsv"))
        assert (code, error.count("error"), "archives/x.zip: " in error) == (1, 1, True)
        assert files(data) == {"archives/x.zip.bad"}
    server.files["/x.zip"] = Served(ZIP)
    assert fetch(zipped_file(server, "X/one.tsv")).code == 0


def test_verified_is_said_of_compared_hashes_alone(fetch, server, data):
    sha256, sha1 = (hashlib.new(name, b"loose\n").hexdigest() for name in ("sha256", "sha1"))
    listed = loose_file(server, sums=Sums(algorithm="sha1", url=server.url("/sums")))
    unknown, known = loose_file(server), loose_file(server, sha256=sha256)
    for wanted, listing, code, told in [  # the file stays only for the second
        (listed, b"0  loose.txt\n", 1, f"has sha1 {sha1}, expected 0 (the publisher's list)"),
        (unknown, None, 0, f"loose.txt: accepted, checksum unknown; its sha256 {sha256} is in sources.lock.json"),
        (unknown, None, 0, "1 unchanged or your own"),
        (known, None, 0, "1 verified"),
        (unknown, None, 0, "1 verified"),  # against the lock
        (listed, None, 0, "1 accepted, checksum unknown"),
        (listed, f"{sha1}  loose.txt\n".encode(), 0, "1 verified"),
    ]:
        server.files.pop("/sums", None)
        if wanted is listed:
            (data / "sources.lock.json").unlink(missing_ok=True)
            server.files |= {"/sums": Served(listing)} if listing else {}
        found = fetch(wanted)
        assert (found.code, told in found.said) == (code, True), found.said
        assert ("1 verified" in found.said) == (told == "1 verified")
        if "is in sources.lock" not in told:
            (data / "loose.txt").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        *(("sources.json", text, "") for text in ("[", "{}", '["ud"]', '[{"substitutions": {}}]')),
        ("sources.json", '[{"name": "ud", "lg": "fr"}]', ": [0].lg: unknown key"),
        ("data/sources.lock.json", '{\n"f.bin": \n', ", line 3: not JSON"),
        ("data/sources.lock.json", "[]", ": expected a mapping"),
    ],
)
def test_malformed_files_are_named(tmp_path, call, name, text, problem):
    (tmp_path / "sources.json").write_text("[]")
    (tmp_path / "data").mkdir()
    (tmp_path / name).write_text(text)
    code, error, _ = call(fetch_dataset.main, "--sources", tmp_path / "sources.json", "--root", tmp_path / "data")
    assert (code, error.startswith(f"error: {tmp_path / name}{problem}")) == (2, True), error


def test_archives_that_the_user_has_are_taken_as_the_real_manifest_says(tmp_path, data, call):
    (data / "archives").mkdir(parents=True)
    names = ["xnli.15way.orig.tsv", "README.md"]
    make_archive(data / "archives/XNLI-15way.zip", {f"XNLI-15way/{name}": name.encode() for name in names})
    inner = make_archive(tmp_path / "fr.tar.gz", {"train": b"1", "dev": b"2", "test": b"3"}).read_bytes()
    make_archive(data / "archives/panx_dataset.tar", {"fr.tar.gz": inner, "de.tar.gz": inner})
    wikiann = [{"name": "wikiann", "substitutions": {"lg": lg}} for lg in ("fr", "de", "fr")]
    (tmp_path / "sources.json").write_text(json.dumps([{"name": "xnli-15way"}, *wikiann, {"name": "msra"}]))
    found = call(fetch_dataset.main, "--root", data, "--sources", tmp_path / "sources.json")
    assert found[:2] == (2, "")  # the user's own files are missing, nothing else
    assert found.said.count("archives/panx_dataset.tar (") == 2  # of two languages, each once
    wanted = {f"wikiann/{lg}/{split}" for lg in ("fr", "de") for split in ("train", "dev", "test")}
    wanted |= {"xnli-15way/xnli.15way.orig.tsv", "archives/XNLI-15way.zip", "archives/panx_dataset.tar"}
    assert {name for name in files(data) if not name.endswith(".unpacked.json")} == wanted


@pytest.mark.parametrize("step", ["seen before", "met on the way", "unpacking"])
def test_a_full_disk(fetch, server, mount_disk, step):
    disk = mount_disk("1m")
    server.files["/loose.txt"] = Served(LARGE, say_length=step == "seen before")
    server.files["/x.zip"] = Served(zip_of({"X/one.tsv": b"1\n", "X/zeros": bytes(3_000_000)}))
    loose = loose_file(server, sha256=hashlib.sha256(LARGE).hexdigest())
    wanted = zipped_file(server, "X/*", most=4_000_000) if step == "unpacking" else loose
    code, error, _ = fetch(wanted, root=disk)
    full = {"seen before": "loose.txt.part", "met on the way": "loose.txt", "unpacking": "archives/x.zip"}[step]
    assert (code, f"no space left on the disk: {disk}/{full}" in error) == (3, True)
    left = {"seen before": set(), "unpacking": {full}}
    assert files(disk) <= left.get(step, {"loose.txt.part", "loose.txt.part.json"})
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
    assert fetch(wanted, root=disk).code == 0
    made = {"archives/x.zip", "x/one.tsv", "x/zeros", "x/.unpacked.json"} if step == "unpacking" else {"loose.txt"}
    assert files(disk) == made
