"""Errors that a user can act on: one line with the place, the expected content and a fix."""

import errno
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

EXIT_FAULT = 1  # a disk or a network failed: another attempt may succeed
EXIT_BAD_INPUT = 2  # the input or the configuration is wrong: another attempt will fail too
EXIT_TERMINATED = 128 + signal.SIGTERM
EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_NO_READER = 128 + signal.SIGPIPE  # as of other commands whose output is piped into `head`
STDOUT = 1  # file descriptor
EXIT_NO_SPACE = 3  # the disk is full: another attempt succeeds after space is freed
TO_MEND = (  # errors of a path, which persist until the user fixes it
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip


class XlingError(Exception):
    """An error in the input or the configuration, described in one line."""

    exit_code = EXIT_BAD_INPUT


class InputError(XlingError):
    """A file with invalid content."""

    def __init__(self, path: Path | str, problem: str, line: int | None = None, fix: str = "") -> None:
        self.path, self.problem, self.line, self.fix = Path(path), problem, line, fix
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}" + (f" ({fix})" if fix else ""))

    def __reduce__(self) -> tuple[type["InputError"], tuple[Path, str, int | None, str]]:
        """Support pickling, so a worker process can pass the error to its parent."""
        return InputError, (self.path, self.problem, self.line, self.fix)


def run(main: Callable[[], None]) -> None:
    """Call the main function of a command and turn an expected failure into one line and an exit code."""
    if threading.current_thread() is threading.main_thread():
        # Exit through an exception, like any other failure: cleanup code runs and no half-written file is left.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_TERMINATED))
    try:
        main()
        print(end="", flush=True)  # if nobody reads the output any more, say so here and not at exit
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except XlingError as error:
        _leave(error, error.exit_code)
    except Exception as error:
        known = _as_os_error(error)
        if isinstance(known, BrokenPipeError) and _has_no_reader(STDOUT):
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)  # Python writes the rest of its buffer at exit
            sys.exit(EXIT_NO_READER)
        if known is None:
            raise
        if known.errno in (errno.ENOSPC, errno.EDQUOT):
            where = f": {known.filename}" if known.filename else ""
            _leave(f"no space left on the disk{where} (make room and run the same command again)", EXIT_NO_SPACE)
        if known.errno is not None and known.filename is not None:
            # A rename has two paths: the first is our temporary file, the second the requested file.
            path = known.filename if known.filename2 is None else known.filename2
            code = EXIT_BAD_INPUT if known.errno in TO_MEND else EXIT_FAULT
            _leave(f"{path}: {(known.strerror or 'cannot be opened').lower()}", code)
        if isinstance(known, FileNotFoundError | PermissionError):  # raised by a library; only its text names the file
            _leave(error, EXIT_BAD_INPUT)
        raise


def _has_no_reader(descriptor: int) -> bool:
    """Return whether a file descriptor is a pipe whose reader has ended."""
    poll = select.poll()
    poll.register(descriptor, 0)  # reports errors only
    return bool(poll.poll(0))


def _as_os_error(error: Exception) -> OSError | None:
    """Return a system error as an OSError, otherwise None; Rust libraries such as safetensors report it as text."""
    if isinstance(error, OSError):
        return error
    number = re.search(r"\(os error (\d+)\)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else None


def _leave(message: object, code: int) -> None:
    try:
        print("error:", str(message).replace("\n", " "), file=sys.stderr, flush=True)
    except OSError:  # the log is on the full disk too; flushing its buffer at exit would fail again
        os._exit(code)
    sys.exit(code)
