"""The lock: one holder, heartbeats, the dead make room."""

import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from xling.core.errors import InputError
from xling.core.lock import Lock


def write_holder(folder: Path, host: str, pid: int, age: float = 0.0) -> None:
    path = folder / "lock.json"
    path.write_text(json.dumps({"host": host, "pid": pid, "token": "other", "time": "then"}))
    then = time.time() - age
    os.utime(path, (then, then))


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with Lock(tmp_path), pytest.raises(InputError, match=f"in use by process {os.getpid()} on {socket.gethostname()}"):
        Lock(tmp_path).__enter__()
    assert not (tmp_path / "lock.json").exists()


def test_the_lock_of_another_node_counts_while_it_beats(tmp_path: Path) -> None:
    write_holder(tmp_path, "node17", 1, age=30)
    with pytest.raises(InputError, match="process 1 on node17"):
        Lock(tmp_path).__enter__()


def test_a_lock_that_stopped_beating_is_taken_over(tmp_path: Path) -> None:
    write_holder(tmp_path, "node17", 1, age=61)
    with Lock(tmp_path):
        assert json.loads((tmp_path / "lock.json").read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_a_dead_process_of_this_host_makes_room_at_once(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    write_holder(tmp_path, socket.gethostname(), child)
    with Lock(tmp_path) as lock:
        assert not lock.lost


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
