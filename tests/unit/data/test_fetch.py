import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_server import FaultyServer, Served
from small_archive import make_archive

from xling.core.errors import InputError
from xling.data import fetch, manifest
from xling.data.manifest import Dataset, SourceFile, Sums, Unpack

Run = Callable[..., int]


def dataset(name: str, *files: SourceFile, **more: object) -> Dataset:
    texts = {"role": "r", "description": "d", "version": "1", "licence": "CC0", "terms": "none"}
    return Dataset(**{"name": name, **texts, "files": files, **more})


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture
def study(server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Dataset]:
    """Serve a manifest of four small datasets from this machine, and say how it is to be changed."""
    zipped = make_archive(tmp_path / "x.zip", {"X/one.tsv": b"1\n", "X/two.tsv": b"2\n"}).read_bytes()
    server.files |= {"/loose.txt": Served(b"loose\n"), "/x.zip": Served(zipped), "/never.txt": Served(b"never")}
    take = Unpack(to="x", members=("X/one.tsv",), max_bytes=100, flat=True)
    datasets = {
        "loose": dataset("loose", SourceFile("loose.txt", (server.url("/loose.txt"),))),
        "zipped": dataset("zipped", SourceFile("archives/x.zip", (server.url("/x.zip"),), unpack=take, about=300)),
        "mine": dataset("mine", SourceFile("mine/a.txt"), SourceFile("mine/b.txt"), ask="1. Write to them.\n"),
        "never": dataset("never", SourceFile("never.txt", (server.url("/never.txt"),))),
    }
    monkeypatch.setattr(manifest, "_study_manifest", lambda: datasets)
    monkeypatch.setattr("xling.data.download.time.sleep", lambda _: None)
    return datasets


@pytest.fixture
def run(study: dict[str, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(*names: str, more: tuple[str, ...] = ()) -> int:
        sources = json.dumps([{"name": name} for name in names])
        monkeypatch.setattr(sys, "argv", ["fetch", "--sources", sources, "--root", str(tmp_path / "data"), *more])
        try:
            fetch.main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return command


def touch_later(path: Path) -> None:
    """Let a file seem written a second later: clocks of file systems tick too rarely to tell two writes apart."""
    written = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(written, written))


def below(root: Path) -> set[str]:
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name not in (".fetch",)}


def test_exactly_what_is_asked_for_arrives(run: Run, server: FaultyServer, tmp_path: Path) -> None:
    assert run("loose", "zipped") == 0
    data = tmp_path / "data"
    assert below(data) == {"loose.txt", "archives/x.zip", "x/one.tsv", "x/.unpacked.json", "sources.lock.json"}
    assert (data / "x/one.tsv").read_bytes() == b"1\n"
    assert {asked.path for asked in server.asked} == {"/loose.txt", "/x.zip"}


def test_a_second_run_asks_nobody(run: Run, server: FaultyServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("loose", "zipped") == 0
    asked = len(server.asked)
    capsys.readouterr()
    assert run("loose", "zipped") == 0
    assert len(server.asked) == asked
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines() if line][1:] == ["there", "there"]


def test_the_plan_comes_first_with_sizes_and_licences(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("loose", "zipped", "mine", more=("--dry-run",)) == 0
    head, loose, zipped, *rest = capsys.readouterr().out.splitlines()
    assert head.split() == ["source", "file", "size", "licence", "to", "do"]
    assert loose.split() == ["loose", "loose.txt", "unknown", "CC0", "download"]
    assert zipped.split() == ["zipped", "archives/x.zip", "about", "300", "CC0", "download,", "unpack", "to", "x/"]
    assert rest[0].endswith("yours to supply")


def test_a_dry_run_touches_nothing(run: Run, server: FaultyServer, tmp_path: Path) -> None:
    assert run("loose", "mine", more=("--dry-run",)) == 0
    assert server.asked == []
    assert not (tmp_path / "data").exists()


def test_what_the_user_must_supply_is_asked_for(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("mine", "loose") == 2
    told = capsys.readouterr().out
    data = tmp_path / "data"
    assert "1. Write to them." in told
    assert f"-> {data}/mine/a.txt" in told
    assert f"-> {data}/mine/b.txt" in told
    assert (data / "loose.txt").exists()
    (data / "mine").mkdir()
    (data / "mine/a.txt").write_text("x")
    (data / "mine/b.txt").write_text("")
    assert run("mine", "loose") == 2  # an empty file is no file
    assert f"-> {data}/mine/a.txt" not in capsys.readouterr().out
    (data / "mine/b.txt").write_text("x")
    assert run("mine", "loose") == 0


def test_one_failure_does_not_stop_the_others(
    run: Run, server: FaultyServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del server.files["/loose.txt"]
    assert run("loose", "zipped", "mine") == 1
    assert (tmp_path / "data/x/one.tsv").exists()
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "loose: " in errors[0]
    assert "answered 404" in errors[0]


def test_the_first_hash_is_kept_and_a_changed_file_is_refused(
    run: Run, server: FaultyServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("loose") == 0
    lock = json.loads((tmp_path / "data/sources.lock.json").read_text())
    first, second = (hashlib.sha256(body).hexdigest() for body in (b"loose\n", b"changed\n"))
    assert lock["loose.txt"]["sha256"] == first
    (tmp_path / "data/loose.txt").unlink()
    server.files["/loose.txt"] = Served(b"changed\n", etag='"v2"')
    assert run("loose") == 1
    told = capsys.readouterr().err
    assert first in told
    assert second in told
    assert "sources.lock.json" in told
    assert not (tmp_path / "data/loose.txt").exists()
    assert (tmp_path / "data/loose.txt.bad").read_bytes() == b"changed\n"


def test_a_file_that_was_tampered_with_is_got_again(run: Run, tmp_path: Path) -> None:
    assert run("loose") == 0
    (tmp_path / "data/loose.txt").write_bytes(b"LOOSE\n")
    touch_later(tmp_path / "data/loose.txt")
    assert run("loose") == 0
    assert (tmp_path / "data/loose.txt").read_bytes() == b"loose\n"
    assert (tmp_path / "data/loose.txt.bad").read_bytes() == b"LOOSE\n"


def test_a_touched_file_is_read_again_and_kept(run: Run, server: FaultyServer, tmp_path: Path) -> None:
    assert run("loose") == 0
    touch_later(tmp_path / "data/loose.txt")
    assert run("loose") == 0
    assert len(server.asked) == 1


def test_a_lost_unpacked_file_is_unpacked_again(run: Run, server: FaultyServer, tmp_path: Path) -> None:
    assert run("zipped") == 0
    (tmp_path / "data/x/one.tsv").unlink()
    assert run("zipped") == 0
    assert (tmp_path / "data/x/one.tsv").read_bytes() == b"1\n"
    assert len(server.asked) == 1


def test_an_archive_may_go_once_it_is_unpacked(run: Run, server: FaultyServer, tmp_path: Path) -> None:
    assert run("zipped") == 0
    (tmp_path / "data/archives/x.zip").unlink()
    assert run("zipped") == 0
    assert len(server.asked) == 1


def test_a_changed_choice_of_members_is_unpacked_anew(run: Run, study: dict[str, Dataset], tmp_path: Path) -> None:
    assert run("zipped") == 0
    file = study["zipped"].files[0]
    take = Unpack(to="x", members=("X/*",), max_bytes=100, flat=True)
    study["zipped"] = dataset("zipped", SourceFile(file.path, file.urls, unpack=take))
    assert run("zipped") == 0
    assert (tmp_path / "data/x/two.tsv").exists()


@pytest.mark.parametrize("right", [True, False])
def test_the_publishers_list_is_held_against_the_file(
    run: Run, study: dict[str, Dataset], server: FaultyServer, tmp_path: Path, right: bool
) -> None:
    digest = hashlib.sha1(b"loose\n" if right else b"", usedforsecurity=False).hexdigest()
    server.files["/sums"] = Served(f"{digest}  loose.txt\n".encode())
    sums = Sums("sha1", server.url("/sums"))
    study["loose"] = dataset("loose", SourceFile("loose.txt", (server.url("/loose.txt"),), sums=sums))
    assert run("loose") == (0 if right else 1)
    assert (tmp_path / "data/loose.txt").exists() == right


def test_a_missing_list_is_no_obstacle(run: Run, study: dict[str, Dataset], server: FaultyServer) -> None:
    sums = Sums("sha1", server.url("/no-such-list"))
    study["loose"] = dataset("loose", SourceFile("loose.txt", (server.url("/loose.txt"),), sums=sums))
    assert run("loose") == 0


@pytest.mark.parametrize("by_path", [True, False], ids=["path below the root", "bare name"])
def test_a_local_folder_replaces_the_network(run: Run, server: FaultyServer, tmp_path: Path, by_path: bool) -> None:
    local = tmp_path / "usb"
    (local / "mine").mkdir(parents=True)
    (local / "archives").mkdir()
    zipped = server.files["/x.zip"].body
    (local / ("archives/x.zip" if by_path else "x.zip")).write_bytes(zipped)
    (local / ("mine/a.txt" if by_path else "a.txt")).write_text("mine")
    (local / "b.txt").write_text("mine too")
    assert run("zipped", "mine", more=("--local", str(local))) == 0
    assert server.asked == []
    assert (tmp_path / "data/x/one.tsv").read_bytes() == b"1\n"
    assert (tmp_path / "data/mine/b.txt").read_text() == "mine too"


def test_a_file_missing_from_the_local_folder_is_named(
    run: Run, server: FaultyServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "usb").mkdir()
    assert run("zipped", more=("--local", str(tmp_path / "usb"))) == 1
    assert f"{tmp_path}/usb: holds no archives/x.zip or x.zip" in capsys.readouterr().err
    assert server.asked == []


def test_a_wrong_local_file_is_not_taken(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("loose") == 0
    (tmp_path / "data/loose.txt").unlink()
    (tmp_path / "usb").mkdir()
    (tmp_path / "usb/loose.txt").write_text("other")
    assert run("loose", more=("--local", str(tmp_path / "usb"))) == 1
    assert "expected " + hashlib.sha256(b"loose\n").hexdigest() in capsys.readouterr().err
    assert not (tmp_path / "data/loose.txt").exists()
    assert (tmp_path / "usb/loose.txt").read_text() == "other"


def test_a_second_fetch_waits_for_the_first(run: Run, tmp_path: Path) -> None:
    ended: list[int] = []
    with fetch._alone(tmp_path / "data"):
        second = threading.Thread(target=lambda: ended.append(run("loose")))
        second.start()
        second.join(timeout=0.5)
        assert ended == []
    second.join(timeout=30)
    assert ended == [0]


def test_a_receipt_is_written_once_everything_is_there(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    assert run("loose", "mine", more=("--receipt", str(path))) == 2
    assert not path.exists()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "data/mine").mkdir(exist_ok=True)
        (tmp_path / "data/mine" / name).write_text(name)
    assert run("loose", "mine", more=("--receipt", str(path))) == 0
    files = json.loads(path.read_text())["files"]
    assert files["mine/a.txt"] == hashlib.sha256(b"a.txt").hexdigest()
    assert files["loose.txt"] == hashlib.sha256(b"loose\n").hexdigest()


@pytest.mark.parametrize(
    "text",
    ["[", "{}", '["ud"]', '[{"substitutions": {}}]', '[{"name": "ud", "lg": "fr"}]', '[{"name": "ud", "local": 3}]'],
)
def test_malformed_requests_are_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sources.json"
    path.write_text(text)
    with pytest.raises(InputError):
        fetch.read_requests(text if text.startswith("[") else str(path))


def test_files_shared_by_requests_are_listed_once() -> None:
    requests = [{"name": "wikiann", "substitutions": {"lg": lg}} for lg in ("en", "fr", "en")]
    items = fetch.list_items(requests, None)
    assert [item.file.unpack.to for item in items if item.file.unpack] == ["wikiann/en", "wikiann/fr"]
    assert {item.file.path for item in items} == {"archives/panx_dataset.tar"}


def test_a_source_may_name_its_own_folder() -> None:
    items = fetch.list_items([{"name": "msra", "local": "file:///mnt/own"}, {"name": "xnli"}], None)
    assert [item.local for item in items] == [Path("/mnt/own"), None]


def test_the_command_itself_on_the_real_manifest(tmp_path: Path, repository: Path) -> None:
    local = tmp_path / "local"
    local.mkdir()
    names = ["xnli.dev.tsv", "xnli.test.tsv", "xnli.dev.jsonl"]
    make_archive(local / "XNLI-1.0.zip", {f"XNLI-1.0/{name}": name.encode() for name in names})
    inner = make_archive(local / "fr.tar.gz", {"train": b"1", "dev": b"2", "test": b"3"})
    make_archive(local / "panx_dataset.tar", {"fr.tar.gz": inner.read_bytes()})
    sources = [{"name": "xnli"}, {"name": "wikiann", "substitutions": {"lg": "fr"}}, {"name": "msra"}]
    command = [sys.executable, "-m", "xling.data.fetch", "--root", str(tmp_path / "data"), "--local", str(local)]
    command += ["--sources", json.dumps(sources)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository, check=False)
    assert (done.returncode, f"-> {tmp_path}/data/msra/test.bio" in done.stdout) == (2, True), done.stderr
    found = {
        name for name in below(tmp_path / "data") if not name.endswith((".unpacked.json", ".zip", ".tar", "lock.json"))
    }
    assert found == {"xnli/xnli.dev.tsv", "xnli/xnli.test.tsv", "wikiann/fr/train", "wikiann/fr/dev", "wikiann/fr/test"}
