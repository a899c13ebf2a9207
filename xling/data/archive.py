"""Unpack archives that are not trusted: only the members asked for, only plain files, never outside the folder.

No link is ever made and no mode, owner or device is ever restored, so names and sizes are all that can do harm.
"""

import fnmatch
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, cast

from xling.core.errors import InputError
from xling.data.manifest import Unpack

CHUNK = 1 << 20
ZIP, TAR = (".zip",), (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
BROKEN = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, RuntimeError)


class BadArchiveError(InputError):
    """An archive that is broken, or that must not be unpacked."""


@dataclass(frozen=True)
class Member:
    """One entry of an archive, whatever the format."""

    name: str
    kind: str
    open: Callable[[], IO[bytes]]


def unpack(archive: Path, target: Path, spec: Unpack) -> dict[str, int]:
    """Unpack what `spec` asks for into the folder `target`, which appears only when whole; return names and sizes."""
    with _folder(target) as folder:
        source = archive
        if spec.inside:
            source = _inner_archive(archive, folder, spec)
        sizes = _extract(source, folder, spec)
        if source is not archive:
            source.unlink()
    return sizes


def safe_name(archive: Path, name: str) -> PurePosixPath:
    """Return a member's name as a relative path, or refuse the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    drive = bool(path.parts) and path.parts[0].endswith(":")
    if path.is_absolute() or drive or ".." in path.parts or not name.isprintable():
        raise BadArchiveError(archive, f"member {name!r} points outside the folder: archive refused")
    return path


def _extract(archive: Path, folder: Path, spec: Unpack) -> dict[str, int]:
    sizes: dict[str, int] = {}
    missing = dict.fromkeys(spec.members)
    with _readable(archive):
        for count, member in enumerate(_members(archive), start=1):
            if count > spec.max_members:
                raise BadArchiveError(archive, f"more than {spec.max_members:,} members: archive refused")
            name = safe_name(archive, member.name)
            matched = [pattern for pattern in spec.members if _matches(name, pattern)]
            if not matched or member.kind == "folder":
                continue
            if member.kind != "file":
                raise BadArchiveError(archive, f"member {member.name!r} is a {member.kind}, not a plain file: refused")
            kept = name.name if spec.flat else str(name)
            if kept in sizes:
                raise BadArchiveError(archive, f"two members would both become {kept!r}: archive refused")
            sizes[kept] = _write(archive, member, folder / kept, spec.max_bytes - sum(sizes.values()), spec.max_bytes)
            for pattern in matched:
                missing.pop(pattern, None)
    if missing:
        raise InputError(archive, f"holds no member {' or '.join(missing)}", fix="is it the right version?")
    return sizes


def _inner_archive(archive: Path, folder: Path, spec: Unpack) -> Path:
    """Take the one archive out that lies inside another."""
    sizes = _extract(archive, folder, replace(spec, members=(spec.inside,), flat=True))
    return folder / next(iter(sizes))


def _write(archive: Path, member: Member, path: Path, left: int, limit: int) -> int:
    """Copy one member, counting what is really written: sizes in headers are only claims."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with member.open() as source, path.open("xb") as sink:
        while chunk := source.read(CHUNK):
            written += len(chunk)
            if written > left:
                raise BadArchiveError(archive, f"unpacks to more than {limit:,} bytes: archive refused")
            sink.write(chunk)
    return written


def _members(archive: Path) -> Iterator[Member]:
    if archive.name.endswith(ZIP):
        with zipfile.ZipFile(archive) as handle:
            for info in handle.infolist():
                yield Member(info.filename, _zip_kind(info), lambda info=info: handle.open(info))  # type: ignore[misc]
    elif archive.name.endswith(TAR):
        with tarfile.open(archive, "r:*") as handle:
            for entry in handle:
                yield Member(entry.name, _tar_kind(entry), lambda entry=entry: _tar_open(handle, entry))  # type: ignore[misc]
    else:
        raise InputError(archive, f"unknown kind of archive, expected one of {', '.join(ZIP + TAR)}")


def _zip_kind(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16  # 0 where the archive was not made on a Unix system
    if info.is_dir():
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "device"


def _tar_kind(entry: tarfile.TarInfo) -> str:
    if entry.isdir():
        return "folder"
    if entry.issym() or entry.islnk():
        return "link"
    return "file" if entry.isreg() else "device"


def _tar_open(handle: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    return cast(IO[bytes], handle.extractfile(entry))  # never None: the entry is a plain file


def _matches(name: PurePosixPath, pattern: str) -> bool:
    return fnmatch.fnmatchcase(str(name) if "/" in pattern else name.name, pattern)


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    """Tell every way in which an archive can be broken alike."""
    try:
        yield
    except BROKEN as error:
        raise _damaged(archive, error) from None
    except OSError as error:
        if error.errno is None:  # gzip and bz2 say OSError for damaged data
            raise _damaged(archive, error) from None
        raise


def _damaged(archive: Path, error: Exception) -> BadArchiveError:
    return BadArchiveError(archive, f"truncated or damaged: {str(error) or type(error).__name__}", fix="fetch it again")


@contextmanager
def _folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside `target` that takes its place only when the block has succeeded."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh, old = (target.with_name(f".{target.name}.{what}") for what in ("new", "old"))
    shutil.rmtree(fresh, ignore_errors=True)  # a killed run may have left it
    fresh.mkdir()
    try:
        yield fresh
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
            target.rename(old)
        fresh.rename(target)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
