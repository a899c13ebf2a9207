"""The lock: one holder, heartbeats, the dead make room."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from xling.core.errors import InputError
from xling.core.lock import Lock

HERE = socket.gethostname()


def write_holder(folder: Path, host: str, pid: int, age: float = 0.0) -> None:
    path = folder / "lock.json"
    path.write_text(json.dumps({"host": host, "pid": pid, "token": "other", "time": "then"}))
    then = time.time() - age
    os.utime(path, (then, then))


def dead_process() -> int:
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[0]


@pytest.mark.parametrize(
    ("host", "find_pid", "age", "counts"),
    [
        ("node17", lambda: 1, 30, True),  # of another node, as long as it beats
        ("node17", lambda: 1, 61, False),
        (HERE, os.getppid, 30, True),
        (HERE, dead_process, 0, False),  # makes room at once
    ],
)
def test_a_lock_counts_while_its_holder_lives(
    tmp_path: Path, host: str, find_pid: Callable[[], int], age: float, counts: bool
) -> None:
    pid = find_pid()
    write_holder(tmp_path, host, pid, age)
    if counts:
        with pytest.raises(InputError, match=f"in use by process {pid} on {host} .*--wait-for-lock"):
            Lock(tmp_path).__enter__()
        assert [path.name for path in tmp_path.iterdir()] == ["lock.json"]
    else:
        with Lock(tmp_path) as lock:
            assert json.loads((tmp_path / "lock.json").read_text())["pid"] == os.getpid()
            assert not lock.lost
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"host": "\xff"}', b"[1]", None, b"1e999", b'"1"'])
def test_a_damaged_lock_is_another_process_until_it_is_stale(tmp_path: Path, damage: bytes | None) -> None:
    path, text = tmp_path / "lock.json", json.dumps({"host": HERE, "pid": 1 << 70})  # no process has this number
    path.write_bytes(text.encode() if damage is None else damage)
    with pytest.raises(InputError, match="in use by process"):
        Lock(tmp_path).__enter__()
    os.utime(path, (0, 0))
    with Lock(tmp_path):
        pass


def test_it_beats(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    with Lock(tmp_path, beat=0.02):
        os.utime(path, (0, 0))
        give_up = time.monotonic() + 10
        while path.stat().st_mtime == 0 and time.monotonic() < give_up:
            time.sleep(0.01)
        assert path.stat().st_mtime > 0


def test_the_folder_can_be_removed_while_the_lock_is_held(tmp_path: Path) -> None:
    (tmp_path / "work" / "inside").mkdir(parents=True)
    with Lock(tmp_path / "work", beat=0.02) as lock:
        lock.remove_folder()
        assert list(tmp_path.iterdir()) == []
        lock.thread.join(10)  # the heartbeat finds no lock to renew
    assert list(tmp_path.iterdir()) == []


def test_one_that_waits_gets_it_when_it_is_free(tmp_path: Path) -> None:
    first = Lock(tmp_path, beat=0.02).__enter__()
    threading.Timer(0.2, first.__exit__).start()
    with Lock(tmp_path, wait=True, beat=0.02) as second:
        assert second.token != first.token
        assert json.loads((tmp_path / "lock.json").read_text())["token"] == second.token


def test_a_holder_notices_that_it_was_replaced_and_leaves_the_lock_alone(tmp_path: Path) -> None:
    with Lock(tmp_path, beat=0.02) as lock:
        write_holder(tmp_path, "node17", 1)
        lock.thread.join(10)
        assert lock.lost
    assert json.loads((tmp_path / "lock.json").read_text())["host"] == "node17"
