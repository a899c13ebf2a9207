"""Reading and writing files: compressed by suffix, never half-written, errors that name file and line."""

import bz2
import gzip
import hashlib
import json
import lzma
import os
import sys
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from xling.core.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BROKEN_ARCHIVE = (EOFError, OSError, lzma.LZMAError, zstd.ZstdError, zlib.error)
COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": zstd.open}


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path` and rename it there only when the block has succeeded.

    The suffix is kept, because it says how the file is compressed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix="".join(path.suffixes[-2:]), dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def write_text(path: Path) -> Iterator[IO[str]]:
    """Open a UTF-8 text file for writing, compressed by its suffix; it appears only when whole."""
    with atomic_path(path) as temporary:
        opened: IO[str] = COMPRESSED.get(temporary.suffix, open)(temporary, "wt", encoding="utf-8", newline="\n")
        with opened as handle:
            yield handle


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON with sorted keys."""
    with write_text(path) as handle:
        handle.write(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file, naming the line where it is malformed or not UTF-8."""
    lines = Path(path).read_bytes().removeprefix(BOM_UTF8).split(b"\n")
    text = "\n".join(_decode(line, path, number) for number, line in enumerate(lines, start=1))
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"not JSON: {error.msg}", line=error.lineno) from None


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file without their line ends, decompressed by its suffix."""
    return (line for _, line in numbered_lines(path))


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of a UTF-8 text file, decompressed by its suffix.

    Only a line feed ends a line: text holds other characters that Python would split at. A byte-order mark at the
    start of a file is no part of its text.
    """
    number = 0
    with open_binary(path) as handle:
        try:
            for number, raw in enumerate(handle, start=1):
                yield number, _decode(raw.removeprefix(BOM_UTF8) if number == 1 else raw, path, number)
        except BROKEN_ARCHIVE as error:
            if isinstance(error, OSError) and error.errno is not None:  # gzip and bz2 give a damaged block no number
                raise
            problem = f"truncated or damaged after line {number}: {error}"
            raise InputError(path, problem, fix="fetch or make the file again") from None


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, decompressed by its suffix."""
    return cast(BinaryIO, COMPRESSED.get(Path(path).suffix, open)(path, "rb"))


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InputError(path, f"not UTF-8 (byte {byte:#04x} at column {error.start + 1})", line=number) from None
