"""An expected failure is one line and an exit code; an unexpected one keeps its traceback."""

import errno
import pickle
from pathlib import Path

import pytest

from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_json


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
        (OSError(errno.EROFS, "Read-only file system", "/mnt/x"), 2, "error: /mnt/x: read-only file system"),
        (FileExistsError(errno.EEXIST, "File exists", "out"), 2, "error: out: file exists"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "a/b"), 2, "error: a/b: not a directory"),
        (
            IsADirectoryError(errno.EISDIR, "Is a directory", ".o.json.x1.json", None, "o.json"),
            2,
            "error: o.json: is a directory",
        ),
        (OSError(errno.EIO, "Input/output error", "e.txt"), 1, "error: e.txt: input/output error"),
        (FileNotFoundError("No such file or directory: f.bin"), 2, "error: No such file or directory: f.bin"),
    ],
)
def test_one_line_and_an_exit_code(error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        fail_with(error)
    assert left.value.code == code
    assert capsys.readouterr().err == f"{line}\n"


@pytest.mark.parametrize("error", [OSError("a library's own"), KeyError("x")])
def test_a_bug_is_not_hidden(error: Exception) -> None:
    with pytest.raises(type(error)):
        fail_with(error)


def test_a_folder_where_the_output_belongs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.json" / "inside").mkdir(parents=True)
    with pytest.raises(SystemExit) as left:
        run(lambda: write_json(tmp_path / "out.json", {}))
    assert left.value.code == 2
    assert capsys.readouterr().err == f"error: {tmp_path}/out.json: is a directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_command_that_succeeds_just_ends(capsys: pytest.CaptureFixture[str]) -> None:
    run(lambda: print("done"))
    assert capsys.readouterr().out == "done\n"


def test_an_input_error_survives_the_way_from_a_worker() -> None:
    error = InputError("a.txt", "no tab", line=7, fix="write one")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert (str(again), again.line, again.path) == (str(error), 7, Path("a.txt"))
