"""Reading and writing files: compression by suffix, atomic writes, errors that name file and line.

Files that later jobs read can be checked. A zstandard file contains a checksum. Any other file NAME may have a seal: a
checksum file `.NAME.sha256` beside it, in the format of sha256sum, which readers compare with the file. A file without
a seal, such as a raw file or a file from an older version, is read without a check.
"""

import bz2
import gzip
import hashlib
import json
import logging
import lzma
import os
import sys
import tempfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from xling.core.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

log = logging.getLogger(__name__)
BROKEN_ARCHIVE = (EOFError, OSError, lzma.LZMAError, zstd.ZstdError, zlib.error)
COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": zstd.open}
CHECKED = {zstd.CompressionParameter.checksum_flag: 1}  # the other formats always contain a checksum


@contextmanager
def atomic_path(path: Path, sealed: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; if the block succeeds, rename it to `path`, and seal it if `sealed`.

    The temporary path has the same suffix, because the suffix selects the compression.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix="".join(path.suffixes[-2:]), dir=path.parent)
    os.close(handle)
    temporary, seal, new_seal = Path(name), seal_of(path), Path(f"{name}.sha256")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        if sealed:
            new_seal.write_text(f"{sha256_of(temporary)}  {path.name}\n", encoding="utf-8")
        seal.unlink(missing_ok=True)  # a new file must never have an old seal
        temporary.replace(path)
        if sealed:
            new_seal.replace(seal)
    finally:
        temporary.unlink(missing_ok=True)
        new_seal.unlink(missing_ok=True)


@contextmanager
def write_text(path: Path, sealed: bool = False) -> Iterator[IO[str]]:
    """Open a UTF-8 text file for writing, compressed by its suffix; the file appears only when it is complete."""
    with atomic_path(path, sealed) as temporary:
        options = {"options": CHECKED} if temporary.suffix == ".zst" else {}
        opener = COMPRESSED.get(temporary.suffix, open)
        opened: IO[str] = opener(temporary, "wt", encoding="utf-8", newline="\n", **options)
        with opened as handle:
            yield handle


def write_json(path: Path, value: Any, sealed: bool = True) -> None:
    """Write a value as readable JSON with sorted keys; pass `sealed=False` for a file that people may edit."""
    with write_text(path, sealed) as handle:
        handle.write(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; an error names the line that is malformed or not UTF-8."""
    check_seal(path)
    lines = Path(path).read_bytes().removeprefix(BOM_UTF8).split(b"\n")
    text = "\n".join(_decode(line, path, number) for number, line in enumerate(lines, start=1))
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"not JSON: {error.msg}", line=error.lineno) from None


def read_saved(path: Path) -> dict[str, Any] | None:
    """Return the JSON object that an earlier attempt saved, or None if it is missing or (with a warning) damaged."""
    try:
        saved = read_json(path) if path.is_file() else None
        if saved is None or isinstance(saved, dict):
            return saved
        problem = "expected an object"
    except InputError as error:
        problem = error.problem
    log.warning("%s is damaged and passed over: %s", path, problem)
    return None


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file without their line endings, decompressed by its suffix."""
    return (line for _, line in numbered_lines(path))


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of a UTF-8 text file, decompressed by its suffix.

    Only a line feed ends a line; `str.splitlines` would also split at other characters that occur in text. A byte-order
    mark at the start of a file is not part of its text.
    """
    number = 0
    check_seal(path)
    with open_binary(path) as handle:
        try:
            for number, raw in enumerate(handle, start=1):
                yield number, _decode(raw.removeprefix(BOM_UTF8) if number == 1 else raw, path, number)
        except BROKEN_ARCHIVE as error:
            if isinstance(error, OSError) and error.errno is not None:  # damaged gzip or bz2 data has no errno
                raise
            problem = f"truncated or damaged after line {number}: {error}"
            raise InputError(path, problem, fix="fetch or make the file again") from None


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, decompressed by its suffix."""
    return cast(BinaryIO, COMPRESSED.get(Path(path).suffix, open)(path, "rb"))


def seal_of(path: Path) -> Path:
    """Return the path of the seal of a file."""
    path = Path(path)
    return path.with_name(f".{path.name}.sha256")


def check_seal(path: Path) -> None:
    """Raise an error if a file does not match its seal; a file without a seal passes."""
    seal = seal_of(path)
    for _ in range(2):  # twice, because another process may replace the file in between
        try:
            known = seal.read_bytes().split()[:1]
        except (FileNotFoundError, NotADirectoryError):
            return
        if known in ([], [known_sha256(path).encode()]):  # an empty seal: the machine crashed while writing it
            return
    problem = f"damaged, or changed since it was written: its sha256 is not the one in {seal.name}"
    raise InputError(path, problem, fix=f"delete it and run Snakemake again; if the change is wanted, delete {seal}")


def known_sha256(path: Path) -> str:
    """Return the sha256 of a file, cached in this process until the inode, size or modification time changes."""
    about = Path(path).stat()
    return _sha256_once(path, about.st_ino, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=4096)
def _sha256_once(path: Path, *_about: int) -> str:
    return sha256_of(path)


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def to_utf8(start: bytes) -> str:
    """Return a hint how to convert a file to UTF-8; only UTF-16 can be recognised by its first bytes."""
    if start[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        return "save it as UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW"
    return "save it as UTF-8: iconv -f ENCODING -t UTF-8 OLD > NEW, where ENCODING is often ISO-8859-1"


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (byte {raw[error.start]:#04x} at column {error.start + 1})"
        raise InputError(path, problem, line=number, fix=to_utf8(raw)) from None
