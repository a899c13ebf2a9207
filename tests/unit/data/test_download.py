import hashlib
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_server import FaultyServer, Served
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.data.download import CHUNK, DownloadError, Expected, MismatchError, Retry, download, listed_hash, verify

BODY = random.Random(7).randbytes(300_000)
SHA256 = hashlib.sha256(BODY).hexdigest()
QUICK = Retry(tries=3, base=0.001)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def get(server: FaultyServer, target: Path, *paths: str, retry: Retry = QUICK, **expected: object) -> str:
    return download([server.url(p) for p in paths or ["/f"]], target, Expected(**expected), retry)


def ranges(server: FaultyServer) -> list[str | None]:
    return [asked.range for asked in server.asked]


def test_a_plain_download_is_whole_and_alone(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY)
    assert get(server, tmp_path / "new" / "f.bin", sha256=SHA256, size=len(BODY)) == SHA256
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["f.bin"]
    assert (tmp_path / "new" / "f.bin").read_bytes() == BODY


def test_a_cut_is_resumed_with_only_the_rest_asked_for(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, cuts=[100_000, 50_000])
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert ranges(server) == [None, "bytes=100000-", "bytes=150000-"]
    assert [asked.if_range for asked in server.asked] == [None, '"v1"', '"v1"']
    assert server.sent == len(BODY)


def test_a_later_run_goes_on_where_an_earlier_one_gave_up(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, cuts=[100_000])
    with pytest.raises(DownloadError, match="cut off"):
        get(server, tmp_path / "f", retry=Retry(tries=1))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.part", "f.part.json"]
    get(server, tmp_path / "f")
    assert ranges(server) == [None, "bytes=100000-"]
    assert (tmp_path / "f").read_bytes() == BODY
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3000), max_size=6), st.booleans(), st.sampled_from(['"a"', 'W/"a"', None]))
def test_any_cuts_on_any_server_give_the_same_bytes(cuts: list[int], ranges_: bool, etag: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder, FaultyServer() as server:
        server.files["/f"] = Served(BODY[:3000], etag=etag, cuts=cuts, ranges=ranges_)
        get(server, Path(folder) / "f", retry=Retry(tries=9, base=0.0))
        assert (Path(folder) / "f").read_bytes() == BODY[:3000]


def test_a_server_that_ignores_ranges_is_started_again_cleanly(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, cuts=[100_000], ranges=False)
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY


@pytest.mark.parametrize("obeys", [True, False], ids=["with If-Range", "server ignores If-Range"])
def test_a_file_that_changed_is_not_spliced(server: FaultyServer, tmp_path: Path, obeys: bool) -> None:
    server.files["/f"] = Served(BODY, etag='"v1"', cuts=[100_000])
    with pytest.raises(DownloadError):
        get(server, tmp_path / "f", retry=Retry(tries=1))
    changed = BODY[::-1]
    server.files["/f"] = Served(changed, etag='"v2"', if_range=obeys)
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == changed


@pytest.mark.parametrize(
    ("etag", "modified", "sha256", "second"),
    [
        ('W/"v1"', "Mon, 01 Jan 2018 00:00:00 GMT", None, ("bytes=100000-", "Mon, 01 Jan 2018 00:00:00 GMT")),
        ('W/"v1"', None, None, (None, None)),  # nothing names the version: starting again is the safe way
        (None, None, SHA256, ("bytes=100000-", None)),  # the hash will tell
    ],
    ids=["date", "nothing", "hash"],
)
def test_resuming_needs_a_validator_or_a_hash(
    server: FaultyServer, tmp_path: Path, etag: str, modified: str, sha256: str, second: tuple[str, str]
) -> None:
    server.files["/f"] = Served(BODY, etag=etag, modified=modified, cuts=[100_000])
    get(server, tmp_path / "f", sha256=sha256)
    assert (server.asked[1].range, server.asked[1].if_range) == second
    assert (tmp_path / "f").read_bytes() == BODY


def test_bytes_of_one_mirror_are_not_continued_from_another(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, cuts=[100_000, 0, 0, 0])
    server.files["/g"] = Served(BODY)
    get(server, tmp_path / "f", "/f", "/g")
    assert (server.asked[-1].path, server.asked[-1].range) == ("/g", None)
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_mirror_without_the_file_does_not_cost_the_bytes_at_hand(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, cuts=[100_000, 0, 0])
    with pytest.raises(DownloadError, match=r"/gone answered 404"):
        get(server, tmp_path / "f", "/f", "/gone")
    assert (tmp_path / "f.part").read_bytes() == BODY[:100_000]


def test_whole_bytes_left_behind_are_not_asked_for_again(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY)
    (tmp_path / "f.part").write_bytes(BODY)
    note = f'{{"url": "{server.url("/f")}", "validator": "\\"v1\\"", "total": {len(BODY)}}}'
    (tmp_path / "f.part.json").write_text(note)
    assert get(server, tmp_path / "f") == SHA256
    assert server.asked == []


def test_whole_bytes_of_unknown_length_are_recognised(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY)
    (tmp_path / "f.part").write_bytes(BODY)
    (tmp_path / "f.part.json").write_text(f'{{"url": "{server.url("/f")}", "validator": "\\"v1\\"", "total": null}}')
    assert get(server, tmp_path / "f") == SHA256
    assert ranges(server) == [f"bytes={len(BODY)}-"]


def test_a_shrunken_file_is_started_again(server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(BODY)
    (tmp_path / "f.part.json").write_text(f'{{"url": "{server.url("/f")}", "validator": "\\"v1\\"", "total": 900000}}')
    server.files["/f"] = Served(BODY[:1000])
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY[:1000]


def test_busy_answers_are_waited_out(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, statuses=[503, 429])
    assert get(server, tmp_path / "f") == SHA256
    assert len(server.asked) == 3


def test_attempts_are_bounded(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, statuses=[503] * 50)
    with pytest.raises(DownloadError, match=r"answered 503 \(gave up after 3 attempts\)"):
        get(server, tmp_path / "f")
    assert len(server.asked) == 3
    assert list(tmp_path.iterdir()) == []


def test_attempts_that_bring_the_file_forward_do_not_count(server: FaultyServer, tmp_path: Path) -> None:
    body = BODY * 28  # 8.4 MB, cut after each stretch of a little more than a chunk
    server.files["/f"] = Served(body, cuts=[CHUNK + 1] * 7)
    get(server, tmp_path / "f", retry=Retry(tries=2, base=0.001))
    assert (tmp_path / "f").read_bytes() == body
    assert server.sent == len(body)


def test_a_server_that_never_gets_further_is_given_up(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY * 10, ranges=False, cuts=[2 * CHUNK] * 50)
    with pytest.raises(DownloadError, match="gave up after 3 attempts"):
        get(server, tmp_path / "f")
    assert len(server.asked) == 3


def test_the_wait_that_the_server_asks_for_is_kept(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("xling.data.download.time.sleep", waits.append)
    server.files["/f"] = Served(BODY, statuses=[503], headers={"Retry-After": "7"})
    get(server, tmp_path / "f")
    assert waits == [7.0]


@given(st.integers(1, 200), st.floats(0, 1e6))
def test_waits_grow_exponentially_with_jitter_and_stay_bounded(failures: int, asked: float) -> None:
    retry = Retry(base=1.0, cap=120.0)
    full = 2.0 ** (failures - 1)
    assert min(120.0, max(full / 2, asked)) <= retry.wait(failures, asked) <= min(120.0, max(full, asked))


def test_mirrors_are_tried_in_order(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/c"] = Served(BODY)
    server.files["/d"] = Served(BODY)
    get(server, tmp_path / "f", "/a", "/b", "/c", "/d")
    assert [asked.path for asked in server.asked] == ["/a", "/b", "/c"]


def test_a_wrong_hash_names_both_and_the_next_mirror_is_tried(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/wrong"] = Served(b"not it")
    server.files["/right"] = Served(BODY)
    assert get(server, tmp_path / "f", "/wrong", "/right", sha256=SHA256) == SHA256
    assert (tmp_path / "f.bad").read_bytes() == b"not it"


def test_a_web_page_is_not_taken_for_the_file(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(b"<html>please log in</html>", kind="text/html; charset=utf-8")
    with pytest.raises(DownloadError, match="web page instead of the file"):
        get(server, tmp_path / "f")
    assert list(tmp_path.iterdir()) == []


def test_a_silent_cut_is_seen_by_the_known_size(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, say_length=False, cuts=[1000])
    get(server, tmp_path / "f", size=len(BODY))
    assert ranges(server) == [None, "bytes=1000-"]
    assert (tmp_path / "f").read_bytes() == BODY


def test_compression_on_the_way_is_not_undone(server: FaultyServer, tmp_path: Path) -> None:
    server.files["/f"] = Served(BODY, headers={"Content-Encoding": "x-gzip"})  # what Apache says of every .tgz
    assert get(server, tmp_path / "f") == SHA256


def test_an_address_where_nobody_listens_is_told_in_one_line(tmp_path: Path) -> None:
    with FaultyServer() as gone:
        address = gone.url("/f")
    with pytest.raises(DownloadError, match=r"f: not fetched: http://127.* refused") as caught:
        download([address], tmp_path / "f", retry=QUICK)
    assert "\n" not in str(caught.value)
    assert "0x" not in str(caught.value)


def test_verify_names_what_was_found_and_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    sha1, sha256 = hashlib.sha1(b"abc", usedforsecurity=False).hexdigest(), hashlib.sha256(b"abc").hexdigest()
    assert verify(path, Expected(3, sha256, ("sha1", sha1))) == sha256
    with pytest.raises(MismatchError, match=r"has 3 bytes, expected 4 \(the manifest\)"):
        verify(path, Expected(size=4))
    with pytest.raises(MismatchError, match=f"has sha256 {sha256}, expected {'0' * 64}"):
        verify(path, Expected(sha256="0" * 64))
    with pytest.raises(MismatchError, match=f"has sha1 {sha1}, expected {'1' * 40}"):
        verify(path, Expected(listed=("sha1", "1" * 40)))


def test_the_publishers_list_is_read(server: FaultyServer) -> None:
    server.files["/sums"] = Served(b"ABC1  other.bz2\nABC2  mine.bz2\nABC3 *starred.bz2\nnonsense\n")
    assert listed_hash(server.url("/sums"), "mine.bz2") == "abc2"
    assert listed_hash(server.url("/sums"), "starred.bz2") == "abc3"
    assert listed_hash(server.url("/sums"), "absent.bz2") is None
    assert listed_hash(server.url("/nothing"), "mine.bz2") is None


def test_progress_is_shown_in_bytes(server: FaultyServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.files["/f"] = Served(BODY)
    get(server, tmp_path / "f.bin")
    assert re.search(r"f\.bin: 300k of 300k bytes, 100%", capsys.readouterr().err)
