"""One file over HTTP: whatever the server does, the bytes are right or there is no file."""

import copy
import hashlib
import io
import json
import random
import socket

import pytest
import requests
from faulty_server import FaultyServer, Served

from xling.data import download as module
from xling.data.download import CHUNK, DownloadError, Expected, download, listed_hash

BODY = random.Random(7).randbytes(1000)
SHA256 = hashlib.sha256(BODY).hexdigest()
DATE = "Mon, 01 Jan 2018 00:00:00 GMT"
DATED, LONG = {"Last-Modified": DATE}, BODY + b"tail"
# What becomes of a file: the right bytes, bytes that nobody vouches for (the caller says so, see test_fetch_dataset), or
# none at all and what is said.
RIGHT, FLAGGED, WRONG_HASH = "right", "flagged", "has sha256 "
Row = tuple[Served, str, str, list[int | None]]


def get(server, target, *paths, tries=3, **expected):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TRIES", tries)
        patch.setattr(module, "FIRST_WAIT", 0.001)
        return download([server.url(p) for p in paths or ["/f"]], target, Expected(**expected))


# How a file is served, what becomes of it without a hash and with one, and the first bytes asked for without a hash (None:
# of the whole file), where the file arrives.
FAULTS: dict[str, Row] = {
    "nothing wrong": (Served(BODY), RIGHT, RIGHT, [None]),
    "cut": (Served(BODY, cuts=[300, 200]), RIGHT, RIGHT, [None, 300, 500]),
    "cut, dated": (Served(BODY, etag='W/"v1"', headers=DATED, cuts=[300]), RIGHT, RIGHT, [None, 300]),
    "cut, of no version": (Served(BODY, etag='W/"v1"', cuts=[300]), RIGHT, RIGHT, [None, None]),  # start again
    "cut, no ranges": (Served(BODY, cuts=[300], ranges=False), RIGHT, RIGHT, [None, 300]),
    "cut without a length": (Served(BODY, say_length=False, cuts=[10]), "without a length", WRONG_HASH, []),
    "short": (Served(BODY, cuts=[999, *[0] * 9]), "cut off", "cut off", []),
    "short after a range": (Served(BODY, cuts=[500, 499, *[0] * 9]), "cut off", "cut off", []),
    "long": (Served(LONG, headers={"Content-Length": "1000"}), RIGHT, RIGHT, [None]),  # the rest is not read
    "long without a length": (Served(LONG, say_length=False), "without a length", WRONG_HASH, []),
    "empty": (Served(b""), "answered with an empty file", "answered with an empty file", []),
    "empty without a length": (Served(b"", say_length=False), "without a length", "answered with an empty file", []),
    "encoded": (Served(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), FLAGGED, WRONG_HASH, []),
    "said to be encoded": (Served(BODY, headers={"Content-Encoding": "x-gzip"}), RIGHT, RIGHT, [None]),  # as Apache does
    "wrong type": (Served(BODY, kind="Text/HTML"), "web page", "web page", []),
    "no length": (Served(BODY, say_length=False), "without a length", RIGHT, []),
    "no number": (Served(BODY, headers={"Content-Length": "many"}), "without a length", RIGHT, []),
    "lying range": (Served(BODY, cuts=[10], lie=5), FLAGGED, WRONG_HASH, []),
    "busy": (Served(BODY, statuses=[503, 429]), RIGHT, RIGHT, [None, None, None]),
    "busy until a date": (Served(BODY, statuses=[429], headers={"Retry-After": DATE}), RIGHT, RIGHT, [None, None]),
    "failing": (Served(BODY, statuses=[500] * 9), "answered 500", "answered 500", []),
    "absent": (Served(BODY, statuses=[404]), "answered 404", "answered 404", []),
}  # fmt: skip


@pytest.mark.parametrize("hashed", [False, True], ids=["without a hash", "with a hash"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_a_server_brings_a_wrong_byte_in_silence(server, tmp_path, fault, hashed):
    served, *outcomes, starts = copy.deepcopy(FAULTS[fault])
    server.files["/f"] = served
    try:
        assert get(server, tmp_path / "f", digest=SHA256 if hashed else None)
        outcome = RIGHT if (tmp_path / "f").read_bytes() == BODY else FLAGGED
        assert [path.name for path in tmp_path.iterdir()] == ["f"]
    except DownloadError as error:
        outcome = str(error)
        assert not (tmp_path / "f").exists()
    assert outcomes[hashed] in outcome
    if starts and not hashed:
        assert [one.range for one in server.asked] == [start and f"bytes={start}-" for start in starts]
        assert {one.if_range for one in server.asked if one.range} <= {served.headers.get("Last-Modified", served.etag)}
        assert server.sent == 1000 or not starts[-1] or not served.ranges


@pytest.mark.parametrize("obeys", [True, False], ids=["with If-Range", "server ignores If-Range"])
def test_a_file_that_changed_is_not_spliced(server, tmp_path, obeys):
    server.files["/f"] = Served(BODY, etag='"v1"', cuts=[300])
    with pytest.raises(DownloadError):
        get(server, tmp_path / "f", tries=1)
    server.files["/f"] = Served(BODY[::-1], etag='"v2"', if_range=obeys)
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY[::-1]


def test_bytes_of_one_mirror_are_not_continued_from_another(server, tmp_path):
    server.files |= {"/f": Served(BODY, cuts=[300, 0, 0, 0, 0, 0, 0]), "/g": Served(BODY), "/wrong": Served(b"not it")}
    with pytest.raises(DownloadError, match=r"/gone answered 404"):
        get(server, tmp_path / "f", "/f", "/gone")
    assert (tmp_path / "f.part").read_bytes() == BODY[:300]  # a mirror without the file does not cost the bytes
    get(server, tmp_path / "f", "/f", "/none", "/g", "/unused")
    assert [(asked.path, asked.range) for asked in server.asked[-2:]] == [("/none", None), ("/g", None)]
    assert (tmp_path / "f").read_bytes() == BODY
    assert get(server, tmp_path / "h", "/wrong", "/g", digest=SHA256) == SHA256
    assert (tmp_path / "h.bad").read_bytes() == b"not it"
    with pytest.raises(DownloadError, match=r"has 1,000 bytes, expected 4 \(the manifest\)"):
        get(server, tmp_path / "i", "/g", size=4)
    server.files["/cut"] = Served(BODY, cuts=[100], say_length=False)
    assert get(server, tmp_path / "j", "/cut", size=1000) == SHA256  # the manifest's size shows the cut


@pytest.mark.parametrize(
    ("body", "total", "asked"),
    [
        (BODY, 1000, []),  # whole already
        (BODY, None, ["bytes=1000-"]),  # whole, but nobody said so
        (BODY[:100], 9000, ["bytes=1000-", None]),  # the file has shrunk
    ],
)
def test_a_killed_download_goes_on(server, tmp_path, body, total, asked):
    server.files["/f"] = Served(body)
    (tmp_path / "f.part").write_bytes(BODY)
    note = {"url": server.url("/f"), "validator": '"v1"', "total": total}
    (tmp_path / "f.part.json").write_text(json.dumps(note))
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == body
    assert [one.range for one in server.asked] == asked


def test_attempts_are_bounded_but_those_that_bring_the_file_forward_do_not_count(server, tmp_path):
    body = BODY * 8400  # 8.4 MB, cut after each stretch of a little more than a chunk
    server.files |= {"/f": Served(body, cuts=[CHUNK + 1] * 7), "/g": Served(body, ranges=False, cuts=[2 * CHUNK] * 50)}
    get(server, tmp_path / "f", tries=2)
    assert (tmp_path / "f").read_bytes() == body
    with pytest.raises(DownloadError, match="gave up after 3 attempts"):  # each begins anew and never gets further
        get(server, tmp_path / "g", "/g")
    assert [asked.path for asked in server.asked].count("/g") == 3


def test_a_redirect_never_leaves_https(server, tmp_path, monkeypatch):
    send = requests.adapters.HTTPAdapter.send

    def redirect(self, request, **how):
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
def test_waits_double_with_jitter_and_are_as_long_as_the_server_asks_within_bounds(
    server, tmp_path, monkeypatch, asked, least
):
    waits: list[float] = []
    monkeypatch.setattr(module, "TRIES", 11)
    monkeypatch.setattr("xling.data.download.time.sleep", waits.append)
    server.files["/f"] = Served(BODY, statuses=[429] * 10, headers={"Retry-After": asked})
    download([server.url("/f")], tmp_path / "f", Expected())
    full = [2.0**failures for failures in range(10)]
    for wait, most in zip(waits, full, strict=True):
        assert min(120, max(most / 2, least)) <= wait <= min(120, max(most, least))
    assert least or waits != full


def test_a_host_that_is_not_there_is_told_in_one_line(tmp_path, monkeypatch):
    with FaultyServer() as gone:
        pass
    with pytest.raises(DownloadError, match=r"^[^\n]*f: not fetched: http://127[^\n]* refused[^\n]*$") as caught:
        get(gone, tmp_path / "f")
    assert "0x" not in str(caught.value)

    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(DownloadError, match=r"/f has a host name that is not known here \(no network\?\) \(run"):
        get(gone, tmp_path / "f")
    (tmp_path / "f.part").write_bytes(b"begun")  # it was there before: not given up at once
    (tmp_path / "f.part.json").write_text(json.dumps({"url": gone.url("/f"), "validator": "tag", "total": 9}))
    with pytest.raises(DownloadError, match="gave up after 3 attempts"):
        get(gone, tmp_path / "f")


def test_the_publishers_list_is_read(server):
    server.files["/sums"] = Served(b"ABC1  other.bz2\nABC2  mine.bz2\nABC3 *starred.bz2\nnonsense\n")
    names = {"mine.bz2": "abc2", "starred.bz2": "abc3", "absent.bz2": None}
    assert {name: listed_hash(server.url("/sums"), name) for name in names} == names
    assert listed_hash(server.url("/nothing"), "mine.bz2") is None
