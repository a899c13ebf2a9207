"""An expected failure is one line and an exit code; an unexpected one keeps its traceback."""

import errno
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from xling.core.errors import EXIT_NO_SPACE, InputError, XlingError, run


def fail_with(error):
    raise error


def os_error(code, *names):
    return OSError(code, os.strerror(code), *names)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("a.txt", "no tab", line=7, fix="write a TAB"), 2, "error: a.txt, line 7: no tab (write a TAB)"),
        (InputError(Path("b"), "empty"), 2, "error: b: empty"),
        (XlingError("two\nlines"), 2, "error: two lines"),
        *((os_error(n, "/x"), 3, "error: no space left on the disk: /x (make") for n in (errno.ENOSPC, errno.EDQUOT)),
        (RuntimeError("I/O error: No space left on device (os error 28)"), 3, "error: no space left on the disk (make"),
        (os_error(errno.ENOENT, "c.txt"), 2, "error: c.txt: no such file or directory"),
        (os_error(errno.EACCES, "d.txt"), 2, "error: d.txt: permission denied"),
        (os_error(errno.ENOTDIR, "a/b"), 2, "error: a/b: not a directory"),
        (os_error(errno.EISDIR, ".o.json.x1", None, "o.json"), 2, "error: o.json: is a directory"),  # of a rename
        (os_error(errno.EIO, "e.txt"), 1, "error: e.txt: input/output error"),
        (FileNotFoundError("No such file or directory: f.bin"), 2, "error: No such file or directory: f.bin"),
    ],
)
def test_one_line_and_an_exit_code(error, code, line, capsys):
    with pytest.raises(SystemExit) as left:
        run(partial(fail_with, error))
    said = capsys.readouterr().err
    assert (left.value.code, said.count("\n")) == (code, 1)
    assert said.startswith(line)


@pytest.mark.parametrize(
    "error", [OSError("a library's own"), KeyError("x"), BrokenPipeError(errno.EPIPE, "of a child")]
)
def test_a_bug_is_not_hidden(error):
    with pytest.raises(type(error)):
        run(partial(fail_with, error))


@pytest.mark.parametrize("text", ["'one line'", "'many lines\\n' * 10**5"])  # seen at the end, and while it is written
def test_output_that_nobody_reads_on_is_no_error(text):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", f"from xling.core.errors import run; run(lambda: print({text}))"]
    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=buffered, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_log_on_the_full_disk_does_not_change_the_exit_code(mount_disk):
    disk = mount_disk("64k")
    with (disk / "log").open("wb", buffering=0) as log, suppress(OSError):
        while log.write(bytes(4096)):
            pass
    code = f"from xling.core import errors, io; errors.run(lambda: io.write_json('{disk}/out.json', {{}}))"
    with (disk / "log").open("ab") as log:
        done = subprocess.run([sys.executable, "-c", code], stderr=log, check=False)
    assert done.returncode == EXIT_NO_SPACE
    assert [path.name for path in disk.iterdir()] == ["log"]


def test_an_input_error_survives_the_way_from_a_worker():
    error = InputError("a.txt", "no tab", line=7, fix="write one")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert (str(again), again.line, again.path) == (str(error), 7, Path("a.txt"))


def test_an_interrupted_command_says_nothing(capsys):
    with pytest.raises(SystemExit) as left:
        run(partial(fail_with, KeyboardInterrupt()))
    assert (left.value.code, capsys.readouterr().err) == (130, "")
