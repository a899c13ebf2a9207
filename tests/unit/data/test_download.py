"""One file over HTTP: whatever the server does, the bytes are right or there is no file."""

import copy
import hashlib
import io
import json
import random
import re
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest
import requests
from faulty_server import FaultyServer, Served
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.data import download as module
from xling.data.download import (
    CHUNK,
    DownloadError,
    Expected,
    RefusedError,
    download,
    listed_hash,
    verify,
    waiting_time,
)

BODY = random.Random(7).randbytes(300_000)
SHA256 = hashlib.sha256(BODY).hexdigest()
DATE = "Mon, 01 Jan 2018 00:00:00 GMT"


def get(server: FaultyServer, target: Path, *paths: str, tries: int = 3, **expected: object) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TRIES", tries)
        patch.setattr(module, "FIRST_WAIT", 0.001)
        return download([server.url(p) for p in paths or ["/f"]], target, Expected(**expected))


def ranges(server: FaultyServer) -> list[str | None]:
    return [asked.range for asked in server.asked]


def leave_part(server: FaultyServer, target: Path, body: bytes, total: int | None) -> None:
    """Leave what a killed download would."""
    target.with_name("f.part").write_bytes(body)
    note = {"url": server.url("/f"), "validator": '"v1"', "total": total}
    target.with_name("f.part.json").write_text(json.dumps(note))


SERVED: dict[str, tuple[Served, dict[str, object], list[str | None]]] = {
    "nothing wrong": (Served(BODY), {"digest": SHA256, "size": len(BODY)}, [None]),
    "cuts": (Served(BODY, cuts=[100_000, 50_000]), {}, [None, "bytes=100000-", "bytes=150000-"]),
    "no ranges": (Served(BODY, cuts=[100_000], ranges=False), {}, [None, "bytes=100000-"]),
    "busy": (Served(BODY, statuses=[503, 429]), {}, [None, None, None]),
    "date": (Served(BODY, etag='W/"v1"', modified=DATE, cuts=[100_000]), {}, [None, "bytes=100000-"]),
    "nothing names the version": (Served(BODY, etag='W/"v1"', cuts=[100_000]), {}, [None, None]),  # start again
    "the hash will tell": (Served(BODY, etag=None, cuts=[1000]), {"digest": SHA256}, [None, "bytes=1000-"]),
    "a silent cut": (Served(BODY, cuts=[1000], say_length=False), {"size": len(BODY)}, [None, "bytes=1000-"]),
    "compressed on the way": (Served(BODY, headers={"Content-Encoding": "x-gzip"}), {}, [None]),  # Apache on a .tgz
}


@pytest.mark.parametrize(("served", "known", "asked"), SERVED.values(), ids=SERVED.keys())
def test_a_cut_is_resumed_where_that_is_safe(
    server: FaultyServer, tmp_path: Path, served: Served, known: dict[str, object], asked: list[str | None]
) -> None:
    server.files["/f"] = served
    assert get(server, tmp_path / "f", **known) == SHA256
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert ranges(server) == asked
    version = served.modified or served.etag
    assert {one.if_range for one in server.asked if one.range} <= {version}
    if served.ranges and version and not version.startswith("W/"):
        assert server.sent == len(BODY)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 3000), max_size=6), st.booleans(), st.sampled_from(['"a"', 'W/"a"', None]))
def test_any_cuts_on_any_server_give_the_same_bytes(cuts: list[int], ranges_: bool, etag: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder, FaultyServer() as server:
        server.files["/f"] = Served(BODY[:3000], etag=etag, cuts=cuts, ranges=ranges_)
        get(server, Path(folder) / "f", tries=9)
        assert (Path(folder) / "f").read_bytes() == BODY[:3000]


@pytest.mark.parametrize("obeys", [True, False], ids=["with If-Range", "server ignores If-Range"])
def test_a_file_that_changed_is_not_spliced(server: FaultyServer, tmp_path: Path, obeys: bool) -> None:
    server.files["/f"] = Served(BODY, etag='"v1"', cuts=[100_000])
    with pytest.raises(DownloadError):
        get(server, tmp_path / "f", tries=1)
    server.files["/f"] = Served(BODY[::-1], etag='"v2"', if_range=obeys)
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY[::-1]


def test_bytes_of_one_mirror_are_not_continued_from_another(server: FaultyServer, tmp_path: Path) -> None:
    server.files |= {"/f": Served(BODY, cuts=[100_000, 0, 0, 0, 0, 0, 0]), "/g": Served(BODY)}
    with pytest.raises(DownloadError, match=r"/gone answered 404"):
        get(server, tmp_path / "f", "/f", "/gone")
    assert (tmp_path / "f.part").read_bytes() == BODY[:100_000]  # a mirror without the file does not cost the bytes
    get(server, tmp_path / "f", "/f", "/none", "/g", "/unused")
    assert [asked.path for asked in server.asked[-2:]] == ["/none", "/g"]
    assert server.asked[-1].range is None
    assert (tmp_path / "f").read_bytes() == BODY
    server.files["/wrong"] = Served(b"not it")
    assert get(server, tmp_path / "h", "/wrong", "/g", digest=SHA256) == SHA256
    assert (tmp_path / "h.bad").read_bytes() == b"not it"


@pytest.mark.parametrize(
    ("body", "total", "asked"),
    [
        (BODY, len(BODY), []),  # whole already
        (BODY, None, [f"bytes={len(BODY)}-"]),  # whole, but nobody said so
        (BODY[:1000], 900_000, [f"bytes={len(BODY)}-", None]),  # the file has shrunk
    ],
)
def test_what_an_earlier_run_left_is_used_where_it_is_right(
    server: FaultyServer, tmp_path: Path, body: bytes, total: int | None, asked: list[str | None]
) -> None:
    server.files["/f"] = Served(body)
    leave_part(server, tmp_path / "f", BODY, total)
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == body
    assert ranges(server) == asked


def test_attempts_are_bounded_but_those_that_bring_the_file_forward_do_not_count(
    server: FaultyServer, tmp_path: Path
) -> None:
    body = BODY * 28  # 8.4 MB, cut after each stretch of a little more than a chunk
    server.files |= {"/f": Served(body, cuts=[CHUNK + 1] * 7), "/g": Served(body, ranges=False, cuts=[2 * CHUNK] * 50)}
    get(server, tmp_path / "f", tries=2)
    assert (tmp_path / "f").read_bytes() == body
    assert server.sent == len(body)
    with pytest.raises(DownloadError, match="gave up after 3 attempts"):  # each begins anew and never gets further
        get(server, tmp_path / "g", "/g")
    assert [asked.path for asked in server.asked].count("/g") == 3
    assert not (tmp_path / "g").exists()


# What a server does wrong, and what becomes of the file without a hash and with one: the right bytes, bytes that nobody
# vouches for (the caller says so, see test_fetch_dataset), or none at all and what is said.
LONG, RIGHT, FLAGGED = BODY[:1000] + b"tail", "right", "flagged"
WRONG_HASH = "has sha256 "
FAULTS: dict[str, tuple[Served, str, str]] = {
    "cut": (Served(BODY[:1000], cuts=[10]), RIGHT, RIGHT),
    "short": (Served(BODY[:1000], cuts=[999, *[0] * 9]), "cut off", "cut off"),
    "short after a range": (Served(BODY[:1000], cuts=[500, 499, *[0] * 9]), "cut off", "cut off"),
    "long": (Served(LONG, headers={"Content-Length": "1000"}), RIGHT, RIGHT),  # the rest is not read
    "long without a length": (Served(LONG, say_length=False), "without a length", WRONG_HASH),
    "empty": (Served(b""), "answered with an empty file", "answered with an empty file"),
    "empty without a length": (Served(b"", say_length=False), "without a length", "answered with an empty file"),
    "encoded": (Served(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), FLAGGED, WRONG_HASH),
    "wrong type": (Served(BODY[:1000], kind="Text/HTML"), "web page", "web page"),
    "no length": (Served(BODY[:1000], say_length=False), "without a length", RIGHT),
    "cut without a length": (Served(BODY[:1000], say_length=False, cuts=[10]), "without a length", WRONG_HASH),
    "no number": (Served(BODY[:1000], headers={"Content-Length": "many"}), "without a length", RIGHT),
    "lying range": (Served(BODY[:1000], cuts=[10], lie=5), FLAGGED, WRONG_HASH),
    "busy until a date": (Served(BODY[:1000], statuses=[429], headers={"Retry-After": DATE}), RIGHT, RIGHT),
    "failing": (Served(BODY[:1000], statuses=[500] * 9), "answered 500", "answered 500"),
}


@pytest.mark.parametrize("hashed", [False, True], ids=["without a hash", "with a hash"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_a_server_brings_a_wrong_byte_in_silence(
    server: FaultyServer, tmp_path: Path, fault: str, hashed: bool
) -> None:
    served, *outcomes = copy.deepcopy(FAULTS[fault])
    server.files["/f"] = served
    try:
        get(server, tmp_path / "f", digest=hashlib.sha256(BODY[:1000]).hexdigest() if hashed else None)
        outcome = RIGHT if (tmp_path / "f").read_bytes() == BODY[:1000] else FLAGGED
    except DownloadError as error:
        outcome = str(error)
        assert not (tmp_path / "f").exists()
    assert outcomes[hashed] in outcome


def test_a_redirect_never_leaves_https(server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files["/f"] = Served(BODY)
    send = requests.adapters.HTTPAdapter.send

    def redirect(self: requests.adapters.HTTPAdapter, request: requests.PreparedRequest, **how: Any) -> Any:
        if not str(request.url).startswith("https:"):
            return send(self, request, **how)
        answer = requests.Response()
        answer.status_code, answer.url, answer.request, answer.raw = 302, str(request.url), request, io.BytesIO()
        answer.headers["Location"] = server.url("/f")
        return answer

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", redirect)
    with pytest.raises(DownloadError, match=r"redirects from https to http://127.*/f: refused"):
        download(["https://safe.example/f"], tmp_path / "f", Expected(digest=SHA256))
    assert listed_hash("https://safe.example/f", "f") is None
    assert server.asked == []


@pytest.mark.parametrize(
    ("asked", "least"), [("7", 7.0), ("Fri, 31 Dec 9999 23:59:59 GMT", 120.0), (DATE, 0.0), ("soon", 0.0)]
)
def test_retry_after_is_a_number_or_a_date(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, least: float
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("xling.data.download.time.sleep", waits.append)
    server.files["/f"] = Served(BODY, statuses=[429], headers={"Retry-After": asked})
    get(server, tmp_path / "f")
    assert len(waits) == 1
    assert least <= waits[0] <= max(least, 1.0)


@given(st.integers(1, 200), st.floats(0, 1e6))
def test_waits_grow_exponentially_with_jitter_and_stay_bounded(failures: int, asked: float) -> None:
    full = 2.0 ** (failures - 1)
    assert min(120.0, max(full / 2, asked)) <= waiting_time(failures, asked) <= min(120.0, max(full, asked))


def test_an_address_where_nobody_listens_is_told_in_one_line(tmp_path: Path) -> None:
    with FaultyServer() as gone:
        pass
    with pytest.raises(DownloadError, match=r"f: not fetched: http://127.* refused") as caught:
        get(gone, tmp_path / "f")
    assert "\n" not in str(caught.value)
    assert "0x" not in str(caught.value)


def test_a_host_that_nobody_knows_is_given_up_at_once_unless_it_was_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr(module, "FIRST_WAIT", 0.001)
    told = "f: not fetched: http://nowhere.invalid/f has a host name that is not known here (no network?) (run"
    with pytest.raises(DownloadError, match=re.escape(told)):
        download(["http://nowhere.invalid/f"], tmp_path / "f", Expected())
    (tmp_path / "f.part").write_bytes(b"begun")
    about = {"url": "http://nowhere.invalid/f", "validator": "tag", "total": 9}
    (tmp_path / "f.part.json").write_text(json.dumps(about))
    with pytest.raises(DownloadError, match="gave up after 5 attempts"):
        download(["http://nowhere.invalid/f"], tmp_path / "f", Expected())


def test_a_file_of_another_size_is_refused_before_it_is_hashed(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    with pytest.raises(RefusedError, match=r"has 3 bytes, expected 4 \(the manifest\)"):
        verify(tmp_path / "f", Expected(size=4, digest="0" * 64))


def test_the_publishers_list_is_read(server: FaultyServer) -> None:
    server.files["/sums"] = Served(b"ABC1  other.bz2\nABC2  mine.bz2\nABC3 *starred.bz2\nnonsense\n")
    names = {"mine.bz2": "abc2", "starred.bz2": "abc3", "absent.bz2": None}
    assert {name: listed_hash(server.url("/sums"), name) for name in names} == names
    assert listed_hash(server.url("/nothing"), "mine.bz2") is None
