"""The lock: one holder, heartbeats, the dead make room."""

import json
import os
import socket
import threading

import pytest

from xling.core.errors import InputError
from xling.core.lock import Lock

HERE = socket.gethostname()


def holder(host, pid):
    return json.dumps({"host": host, "pid": pid, "token": "other"})


def dead_process():
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[0]


@pytest.mark.parametrize(
    ("content", "age", "counts"),
    [
        (holder("node17", 1), 30, True),  # of another node, as long as it beats
        (holder("node17", 1), 61, False),
        (holder(HERE, "PARENT"), 30, True),
        (holder(HERE, "DEAD"), 0, False),  # makes room at once
        *[  # a damaged lock is another process until it is stale; no process has the number of the last one
            (damaged, age, age == 0)
            for damaged in ("", "{", '{"host": "\xff"}', "[1]", "1e999", '"1"', holder(HERE, 1 << 70))
            for age in (0, 61)
        ],
    ],
)
def test_a_lock_counts_while_its_holder_lives(tmp_path, content, age, counts):
    path = tmp_path / "lock.json"
    content = content.replace('"PARENT"', str(os.getppid())).replace('"DEAD"', str(dead_process()))
    path.write_text(content, encoding="latin-1")
    now = path.stat().st_mtime
    os.utime(path, (now - age, now - age))
    if counts:
        with pytest.raises(InputError, match=r"in use by process .* on .*--wait-for-lock"):
            Lock(tmp_path).__enter__()
        assert list(tmp_path.iterdir()) == [path]
    else:
        with Lock(tmp_path) as lock:
            assert json.loads(path.read_text())["pid"] == os.getpid()
            assert not lock.lost
        assert list(tmp_path.iterdir()) == []


def test_it_beats_until_it_was_replaced_and_then_leaves_the_lock_alone(tmp_path):
    path, waiter = tmp_path / "lock.json", threading.Event()
    with Lock(tmp_path, beat=0.02) as lock:
        os.utime(path, (0, 0))
        assert any(path.stat().st_mtime > 0 or waiter.wait(0.01) for _ in range(1000))
        path.write_text(holder("node17", 1))
        lock.thread.join(10)
        assert lock.lost
    assert json.loads(path.read_text())["host"] == "node17"


def test_the_folder_can_be_removed_while_the_lock_is_held(tmp_path):
    (tmp_path / "work" / "inside").mkdir(parents=True)
    with Lock(tmp_path / "work", beat=0.02) as lock:
        lock.remove_folder()
        assert list(tmp_path.iterdir()) == []
        lock.thread.join(10)  # the heartbeat finds no lock to renew
    assert list(tmp_path.iterdir()) == []


def test_one_that_waits_gets_it_when_it_is_free(tmp_path):
    first = Lock(tmp_path, beat=0.02).__enter__()
    threading.Timer(0.2, first.__exit__).start()
    with Lock(tmp_path, wait=True, beat=0.02) as second:
        assert json.loads((tmp_path / "lock.json").read_text())["token"] == second.token != first.token
