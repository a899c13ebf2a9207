"""An expected failure is one line and an exit code; an unexpected one keeps its traceback."""

import errno
import pickle
from pathlib import Path

import pytest

from xling.core.errors import InputError, XlingError, run


def fail_with(error: Exception) -> None:
    def main() -> None:
        raise error

    run(main)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            InputError("a.txt", "no tab", line=7, fix="write source TAB target"),
            2,
            "error: a.txt, line 7: no tab (write source TAB target)",
        ),
        (InputError(Path("b"), "empty"), 2, "error: b: empty"),
        (XlingError("two\nlines"), 2, "error: two lines"),
        (
            OSError(errno.ENOSPC, "No space left on device", "/x/y"),
            3,
            "error: no space left on the disk: /x/y (make room and run the same command again)",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "c.txt"),
            2,
            "error: c.txt: no such file or directory",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "d.txt"), 2, "error: d.txt: permission denied"),
    ],
)
def test_one_line_and_an_exit_code(error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        fail_with(error)
    assert left.value.code == code
    assert capsys.readouterr().err == f"{line}\n"


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error", "e.txt"), KeyError("x")])
def test_a_bug_is_not_hidden(error: Exception) -> None:
    with pytest.raises(type(error)):
        fail_with(error)


def test_a_command_that_succeeds_just_ends(capsys: pytest.CaptureFixture[str]) -> None:
    run(lambda: print("done"))
    assert capsys.readouterr().out == "done\n"


def test_an_input_error_survives_the_way_from_a_worker() -> None:
    error = InputError("a.txt", "no tab", line=7, fix="write one")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert (str(again), again.line, again.path) == (str(error), 7, Path("a.txt"))
