"""The fetch command: what is asked for arrives verified, what is there is left alone, what is missing is named."""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FaultyServer, Served
from small_data import dataset, make_archive

from xling.data import fetch_dataset
from xling.data.fetch_dataset import Request
from xling.data.manifest import Dataset, SourceFile, Sums, Unpack

Fetch = Callable[..., Any]


@dataclass
class Study:
    """Three small datasets that this machine serves, and the folder that they are fetched to."""

    loose: Dataset
    zipped: Dataset
    mine: Dataset
    data: Path

    def files(self) -> set[str]:
        return {str(p.relative_to(self.data)) for p in self.data.rglob("*") if p.is_file() and p.name != ".fetch"}


def loose_file(server: FaultyServer, **more: object) -> Dataset:
    return dataset("loose", SourceFile(path="loose.txt", urls=(server.url("/loose.txt"),), **more))


def zipped_file(server: FaultyServer, *members: str) -> Dataset:
    take = Unpack(to="x", members=members, max_bytes=100, flat=True)
    return dataset("zipped", SourceFile(path="archives/x.zip", urls=(server.url("/x.zip"),), unpack=take, about=300))


@pytest.fixture
def study(server: FaultyServer, tmp_path: Path) -> Study:
    zipped = make_archive(tmp_path / "x.zip", {"X/one.tsv": b"1\n", "X/two.tsv": b"2\n"}).read_bytes()
    server.files |= {"/loose.txt": Served(b"loose\n"), "/x.zip": Served(zipped)}
    own = dataset("mine", SourceFile(path="mine/a.txt"), SourceFile(path="mine/b.txt"), ask="1. Write to them.\n")
    return Study(loose_file(server), zipped_file(server, "X/one.tsv"), own, tmp_path / "data")


def touch_later(path: Path) -> None:
    """Let a file seem written a second later: clocks of file systems tick too rarely to tell two writes apart."""
    written = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(written, written))


def test_exactly_what_is_asked_for_arrives_once(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    assert fetch(study.loose, study.zipped).code == 0
    assert study.files() == {"loose.txt", "archives/x.zip", "x/one.tsv", "x/.unpacked.json", "sources.lock.json"}
    assert (study.data / "x/one.tsv").read_bytes() == b"1\n"
    assert fetch(study.loose, study.zipped).code == 0
    assert [asked.path for asked in server.asked] == ["/loose.txt", "/x.zip"]


def test_a_dry_run_shows_the_plan_and_touches_nothing(
    study: Study, server: FaultyServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    datasets = {one.name: one for one in (study.loose, study.zipped, study.mine)}
    monkeypatch.setattr("xling.data.manifest._study_manifest", lambda: datasets)
    sources = study.data.with_name("sources.json")
    sources.write_text(json.dumps([{"name": name} for name in datasets]))
    monkeypatch.setattr(sys, "argv", ["fetch", "--sources", str(sources), "--root", str(study.data), "--dry-run"])
    fetch_dataset.main()
    head, loose, zipped, mine, *rest = capsys.readouterr().out.splitlines()
    assert head.split() == ["source", "file", "size", "licence", "to", "do"]
    assert loose.split() == ["loose", "loose.txt", "unknown", "CC0", "download"]
    assert zipped.split() == ["zipped", "archives/x.zip", "about", "300", "CC0", "download,", "unpack", "to", "x/"]
    assert mine.endswith("yours to supply")
    assert f"  -> {study.data}/mine/a.txt" in rest
    assert (server.asked, study.data.exists()) == ([], False)


def test_what_the_user_must_supply_is_waited_for(fetch: Fetch, study: Study, tmp_path: Path) -> None:
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
    files = {path: hashlib.sha256(body).hexdigest() for path, body in bodies.items()}
    assert json.loads(receipt.read_text()) == {"files": files}


def test_one_failure_does_not_stop_the_others(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    del server.files["/loose.txt"]
    code, error, _ = fetch(study.loose, study.zipped, study.mine)
    assert (code, error.count("error: ")) == (1, 1)
    assert error.startswith("error: loose: ")
    assert "answered 404" in error
    assert (study.data / "x/one.tsv").exists()


def test_the_first_hash_is_kept_and_a_changed_file_is_refused(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    assert fetch(study.loose).code == 0
    (study.data / "loose.txt").unlink()
    server.files["/loose.txt"] = Served(b"changed\n", etag='"v2"')
    code, error, _ = fetch(study.loose)
    first, second = (hashlib.sha256(body).hexdigest() for body in (b"loose\n", b"changed\n"))
    assert (code, f"has sha256 {second}, expected {first} (sources.lock.json" in error) == (1, True)
    assert not (study.data / "loose.txt").exists()
    assert (study.data / "loose.txt.bad").read_bytes() == b"changed\n"


def test_a_file_that_was_tampered_with_is_fetched_again(fetch: Fetch, server: FaultyServer, study: Study) -> None:
    path = study.data / "loose.txt"
    assert fetch(study.loose).code == 0
    touch_later(path)
    assert fetch(study.loose).code == 0
    assert len(server.asked) == 1  # only read again
    path.write_bytes(b"LOOSE\n")
    touch_later(path)
    assert fetch(study.loose).code == 0
    assert (path.read_bytes(), path.with_name("loose.txt.bad").read_bytes()) == (b"loose\n", b"LOOSE\n")


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


@pytest.mark.parametrize("by_path", [True, False], ids=["path below the root", "bare name"])
def test_a_local_folder_replaces_the_network(
    fetch: Fetch, server: FaultyServer, study: Study, tmp_path: Path, by_path: bool
) -> None:
    local = tmp_path / "usb"
    files = {"archives/x.zip": server.files["/x.zip"].body, "mine/a.txt": b"mine", "mine/b.txt": b"mine too"}
    for name, body in files.items():
        path = local / (name if by_path else Path(name).name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    assert fetch(study.zipped, study.mine, more=("--local", local)).code == 0
    assert server.asked == []
    assert (study.data / "x/one.tsv").read_bytes() == b"1\n"
    assert (study.data / "mine/b.txt").read_bytes() == b"mine too"


def test_a_missing_or_wrong_local_file_is_named_and_not_taken(
    fetch: Fetch, server: FaultyServer, study: Study, tmp_path: Path
) -> None:
    local = tmp_path / "usb"
    local.mkdir()
    code, error, _ = fetch(study.zipped, more=("--local", local))
    assert (code, f"{local}: holds no archives/x.zip or x.zip" in error) == (1, True)
    assert server.asked == []
    assert fetch(study.loose).code == 0
    (study.data / "loose.txt").unlink()
    (local / "loose.txt").write_text("other")
    code, error, _ = fetch(study.loose, more=("--local", local))
    assert (code, "expected " + hashlib.sha256(b"loose\n").hexdigest() in error) == (1, True)
    assert not (study.data / "loose.txt").exists()
    assert (local / "loose.txt").read_text() == "other"


def test_a_second_fetch_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with fetch_dataset.alone(tmp_path):
            order.append("second")

    thread = threading.Thread(target=second)
    with fetch_dataset.alone(tmp_path):
        thread.start()
        thread.join(timeout=0.3)
        order.append("first")
    thread.join(timeout=30)
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    "text",
    ["[", "{}", '["ud"]', '[{"substitutions": {}}]', '[{"name": "ud", "lg": "fr"}]', '[{"name": "ud", "local": 3}]'],
)
def test_malformed_requests_are_told(text: str, tmp_path: Path, call: Callable[..., Any]) -> None:
    (tmp_path / "sources.json").write_text(text)
    code, error, _ = call(fetch_dataset.main, "--sources", tmp_path / "sources.json", "--root", tmp_path / "data")
    assert (code, error.startswith(f"error: {tmp_path / 'sources.json'}")) == (2, True)


def test_files_shared_by_requests_are_listed_once_and_may_have_folders_of_their_own() -> None:
    requests = [Request(name="wikiann", substitutions={"lg": lg}) for lg in ("en", "fr", "en")]
    items = fetch_dataset.list_items(requests, None)
    assert [item.file.unpack.to for item in items if item.file.unpack] == ["wikiann/en", "wikiann/fr"]
    assert {item.file.path for item in items} == {"archives/panx_dataset.tar"}
    items = fetch_dataset.list_items([Request(name="msra", local="file:///mnt/own"), Request(name="xnli")], None)
    assert [item.local for item in items] == [Path("/mnt/own"), None]


def test_the_command_on_the_real_manifest(tmp_path: Path, call: Callable[..., Any]) -> None:
    local = tmp_path / "local"
    local.mkdir()
    names = ["xnli.dev.tsv", "xnli.test.tsv", "xnli.dev.jsonl"]
    make_archive(local / "XNLI-1.0.zip", {f"XNLI-1.0/{name}": name.encode() for name in names})
    inner = make_archive(local / "fr.tar.gz", {"train": b"1", "dev": b"2", "test": b"3"})
    make_archive(local / "panx_dataset.tar", {"fr.tar.gz": inner.read_bytes()})
    sources = [{"name": "xnli"}, {"name": "wikiann", "substitutions": {"lg": "fr"}}, {"name": "msra"}]
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    flags = ["--root", tmp_path / "data", "--local", local, "--sources", tmp_path / "sources.json"]
    assert call(fetch_dataset.main, *flags)[:2] == (2, "")  # the user's own files are missing, nothing else
    files = {str(path.relative_to(tmp_path / "data")) for path in (tmp_path / "data").rglob("[!.]*") if path.is_file()}
    wanted = {"xnli/xnli.dev.tsv", "xnli/xnli.test.tsv", *(f"wikiann/fr/{split}" for split in ("train", "dev", "test"))}
    assert files == wanted | {"archives/XNLI-1.0.zip", "archives/panx_dataset.tar", "sources.lock.json"}
