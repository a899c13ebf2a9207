"""The fetch command: what is asked for arrives verified, what is there is left alone, and a rerun mends what failed."""

import hashlib
import json
import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FaultyServer, Served
from small_data import dataset, make_archive, zip_of

from xling.data import fetch_dataset
from xling.data.fetch_dataset import Ledger, Request, ask_block
from xling.data.manifest import Dataset, SourceFile, Sums, Unpack

Fetch = Callable[..., Any]
LARGE = random.Random(3).randbytes(400_000)


@dataclass
class Study:
    """Three small datasets that this machine serves, and the folder that they are fetched to."""

    loose: Dataset
    zipped: Dataset
    mine: Dataset
    data: Path


def files(folder: Path) -> set[str]:
    """Return the files below, without those that the command keeps for itself."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return found - {"sources.lock.json"}


def loose_file(server: FaultyServer, **more: object) -> Dataset:
    return dataset("loose", SourceFile(path="loose.txt", urls=(server.url("/loose.txt"),), **more))


def zipped_file(server: FaultyServer, *members: str, most: int = 100) -> Dataset:
    take = Unpack(to="x", members=members, max_bytes=most, flat=True)
    return dataset("zipped", SourceFile(path="archives/x.zip", urls=(server.url("/x.zip"),), unpack=take, about=300))


@pytest.fixture
def study(server: FaultyServer, tmp_path: Path) -> Study:
    server.files |= {
        "/loose.txt": Served(b"loose\n"),
        "/x.zip": Served(zip_of({"X/one.tsv": b"1\n", "X/two.tsv": b"2\n"})),
    }
    own = dataset("mine", SourceFile(path="mine/a.txt"), SourceFile(path="mine/b.txt"), ask="1. Write to them.\n")
    return Study(loose_file(server), zipped_file(server, "X/one.tsv"), own, tmp_path / "data")


def touch_later(path: Path) -> None:
    """Let a file seem written a second later: clocks of file systems tick too rarely to tell two writes apart."""
    written = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(written, written))


def test_exactly_what_is_asked_for_arrives_once(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    assert fetch(study.loose, study.mine).code == 2
    said = fetch(study.loose, study.zipped).said
    assert "zipped: archives/x.zip (CC0; terms: none): download" in said
    assert "loose.txt" not in said  # is there
    for _ in range(2):
        assert fetch(study.loose, study.zipped).code == 0
        assert files(study.data) == {"loose.txt", "archives/x.zip", "x/one.tsv", "x/.unpacked.json"}
        assert (study.data / "x/one.tsv").read_bytes() == b"1\n"
        assert [asked.path for asked in server.asked] == ["/loose.txt", "/x.zip"]


def test_what_the_user_must_supply_is_waited_for(fetch: Fetch, study: Study, tmp_path: Path) -> None:
    items = [(study.mine, file) for file in study.mine.files]
    assert f"  -> {study.data}/mine/a.txt" in ask_block(items, Ledger(study.data)).splitlines()
    receipt = tmp_path / "receipt.json"
    states = [("a.txt", None, 2), ("a.txt", "x", 2), ("b.txt", "", 2), ("b.txt", "y", 0)]  # an empty file is no file
    (study.data / "mine").mkdir(parents=True)
    for name, text, code in states:
        if text is not None:
            (study.data / "mine" / name).write_text(text)
        assert fetch(study.mine, study.loose, more=("--receipt", receipt)).code == code
        assert receipt.exists() == (code == 0)
        assert (study.data / "loose.txt").exists()
    bodies = {"mine/a.txt": b"x", "mine/b.txt": b"y", "loose.txt": b"loose\n"}
    hashes = {path: hashlib.sha256(body).hexdigest() for path, body in bodies.items()}
    assert json.loads(receipt.read_text()) == {"files": hashes}


def test_one_failure_does_not_stop_the_others(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    del server.files["/loose.txt"]
    code, error, _ = fetch(study.loose, study.zipped, study.mine)
    assert (code, error.count("error: ")) == (1, 1)
    assert error.startswith("error: loose: ")
    assert "answered 404" in error
    assert (study.data / "x/one.tsv").exists()


def test_a_file_is_what_it_was_first_or_is_fetched_again_or_refused(
    fetch: Fetch, server: FaultyServer, study: Study
) -> None:
    path = study.data / "loose.txt"
    assert fetch(study.loose).code == 0
    touch_later(path)
    assert fetch(study.loose).code == 0
    assert len(server.asked) == 1  # only read again
    path.write_bytes(b"LOOSE\n")
    touch_later(path)
    assert fetch(study.loose).code == 0
    assert (path.read_bytes(), path.with_name("loose.txt.bad").read_bytes()) == (b"loose\n", b"LOOSE\n")
    path.unlink()
    server.files["/loose.txt"] = Served(b"changed\n", etag='"v2"')
    code, error, _ = fetch(study.loose)
    first, second = (hashlib.sha256(body).hexdigest() for body in (b"loose\n", b"changed\n"))
    assert (code, f"has sha256 {second}, expected {first} (sources.lock.json" in error) == (1, True)
    assert (path.exists(), path.with_name("loose.txt.bad").read_bytes()) == (False, b"changed\n")


def test_unpacked_files_are_made_again_only_where_they_must(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    one = study.data / "x/one.tsv"
    assert fetch(study.zipped).code == 0
    one.unlink()
    assert fetch(study.zipped).code == 0
    assert one.read_bytes() == b"1\n"
    assert fetch(zipped_file(server, "X/*")).code == 0  # another choice of members
    assert (study.data / "x/two.tsv").exists()
    (study.data / "archives/x.zip").unlink()  # may go once it is unpacked
    assert fetch(zipped_file(server, "X/*")).code == 0
    assert len(server.asked) == 1


@pytest.mark.parametrize("bad", [b"hello", zip_of({"X/one.tsv": b"1\n", "../evil": b"e"})], ids=["damaged", "evil"])
def test_a_bad_archive_is_set_aside_and_fetched_again(
    fetch: Fetch, server: FaultyServer, study: Study, bad: bytes
) -> None:
    good, server.files["/x.zip"] = server.files["/x.zip"], Served(bad)
    code, error, _ = fetch(study.zipped)
    assert (code, error.count("error"), "archives/x.zip: " in error) == (1, 1, True)
    assert files(study.data) == {"archives/x.zip.bad"}
    server.files["/x.zip"] = good
    assert fetch(study.zipped).code == 0
    assert (study.data / "x/one.tsv").read_bytes() == b"1\n"


@pytest.mark.parametrize(("listed", "code"), [(b"loose\n", 0), (b"", 1), (None, 0)], ids=["right", "wrong", "no list"])
def test_the_publishers_list_is_held_against_the_file(
    fetch: Fetch, server: FaultyServer, study: Study, listed: bytes | None, code: int
) -> None:
    if listed is not None:
        digest = hashlib.sha1(listed, usedforsecurity=False).hexdigest()
        server.files["/sums"] = Served(f"{digest}  loose.txt\n".encode())
    sums = Sums(algorithm="sha1", url=server.url("/sums"))
    assert fetch(loose_file(server, sums=sums)).code == code
    assert (study.data / "loose.txt").exists() == (code == 0)


def test_verified_is_said_of_compared_hashes_alone(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    known = loose_file(server, sha256=hashlib.sha256(b"loose\n").hexdigest())
    sentence = f"1 files below {study.data}: 1 "
    for wanted, told in [
        (
            study.loose,
            f"loose.txt: accepted, checksum unknown; its sha256 {known.files[0].sha256} is in sources.lock.json",
        ),
        (study.loose, f"{sentence}unchanged or your own"),
        (known, f"{sentence}verified"),
        (study.loose, f"{sentence}verified"),  # against the lock
    ]:
        code, _, said = fetch(wanted)
        assert (code, told in said) == (0, True)
        assert ("1 verified" in said) == told.endswith("verified")
        if "unchanged" in told or wanted is known:
            (study.data / "loose.txt").unlink()


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        *(("sources.json", text, "") for text in ("[", "{}", '["ud"]', '[{"substitutions": {}}]')),
        *(("sources.json", text, "") for text in ('[{"name": "ud", "lg": "fr"}]')),
        ("data/sources.lock.json", '{\n"f.bin": \n', ", line 3: not JSON"),
        ("data/sources.lock.json", "[]", ": expected a mapping"),
    ],
)
def test_malformed_files_are_named(
    tmp_path: Path, call: Callable[..., Any], name: str, text: str, problem: str
) -> None:
    (tmp_path / "sources.json").write_text("[]")
    (tmp_path / "data").mkdir()
    (tmp_path / name).write_text(text)
    code, error, _ = call(fetch_dataset.main, "--sources", tmp_path / "sources.json", "--root", tmp_path / "data")
    assert (code, error.startswith(f"error: {tmp_path / name}{problem}")) == (2, True)


def test_files_shared_by_requests_are_listed_once() -> None:
    items = fetch_dataset.list_items([Request(name="wikiann", substitutions={"lg": lg}) for lg in ("en", "fr", "en")])
    assert [file.unpack.to for _, file in items if file.unpack] == ["wikiann/en", "wikiann/fr"]
    assert {file.path for _, file in items} == {"archives/panx_dataset.tar"}


def test_archives_that_the_user_has_are_taken_as_the_real_manifest_says(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    root = tmp_path / "data"
    (root / "archives").mkdir(parents=True)
    names = ["xnli.15way.orig.tsv", "README.md"]
    make_archive(root / "archives/XNLI-15way.zip", {f"XNLI-15way/{name}": name.encode() for name in names})
    inner = make_archive(tmp_path / "fr.tar.gz", {"train": b"1", "dev": b"2", "test": b"3"})
    make_archive(root / "archives/panx_dataset.tar", {"fr.tar.gz": inner.read_bytes()})
    sources = [{"name": "xnli-15way"}, {"name": "wikiann", "substitutions": {"lg": "fr"}}, {"name": "msra"}]
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    flags = ["--root", root, "--sources", tmp_path / "sources.json"]
    assert call(fetch_dataset.main, *flags)[:2] == (2, "")  # the user's own files are missing, nothing else
    wanted = {"xnli-15way/xnli.15way.orig.tsv", *(f"wikiann/fr/{split}" for split in ("train", "dev", "test"))}
    found = {name for name in files(root) if not name.endswith(".unpacked.json")}
    assert found == wanted | {"archives/XNLI-15way.zip", "archives/panx_dataset.tar"}


@pytest.mark.parametrize("step", ["seen before", "met on the way", "unpacking"])
def test_a_full_disk(fetch: Fetch, server: FaultyServer, mount_disk: Callable[[str], Path], step: str) -> None:
    disk = mount_disk("1m")
    server.files["/loose.txt"] = Served(LARGE * 8, say_length=step == "seen before")
    server.files["/x.zip"] = Served(zip_of({"X/one.tsv": b"1\n", "X/zeros": bytes(3_000_000)}))
    loose = loose_file(server, sha256=hashlib.sha256(LARGE * 8).hexdigest())
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
