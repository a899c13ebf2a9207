"""Unpack untrusted archives: only the requested members, only plain files, never outside the target folder.

Links, modes, owners and devices are never restored, so only names and sizes can do harm; both are checked.
"""

import fnmatch
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from xling.core.errors import InputError
from xling.data.manifest import Unpack

CHUNK = 1 << 20
ZIP, TAR = (".zip",), (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
BROKEN = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, RuntimeError, OSError)
Member = tuple[str, str, Callable[[], Any]]  # name, kind, function that opens the member


class BadArchiveError(InputError):
    """An archive that is damaged or unsafe to unpack."""


def unpack(archive: Path, target: Path, spec: Unpack) -> dict[str, int]:
    """Unpack the members in `spec` into the folder `target`, which appears when complete; return names and sizes."""
    with _fresh_folder(target) as folder:
        if not spec.inside:
            return _extract(archive, folder, spec, spec.members, spec.flat)
        inner = folder / next(iter(_extract(archive, folder, spec, (spec.inside,), flat=True)))
        sizes = _extract(inner, folder, spec, spec.members, spec.flat)
        inner.unlink()
        return sizes


def safe_name(archive: Path, name: str) -> PurePosixPath:
    """Return the name of a member as a relative path, or raise an error if it is unsafe."""
    path = PurePosixPath(name.replace("\\", "/"))
    drive = bool(path.parts) and path.parts[0].endswith(":")
    if path.is_absolute() or drive or ".." in path.parts:
        raise BadArchiveError(archive, f"member {name!r} points outside the folder: archive refused")
    return path


def _extract(archive: Path, folder: Path, spec: Unpack, members: Sequence[str], flat: bool) -> dict[str, int]:
    sizes: dict[str, int] = {}
    missing, total = dict.fromkeys(members), 0
    try:
        for count, (listed, kind, opened) in enumerate(_members(archive), start=1):
            if count > spec.max_members:
                raise BadArchiveError(archive, f"more than {spec.max_members:,} members: archive refused")
            name = safe_name(archive, listed)
            matched = [one for one in members if fnmatch.fnmatchcase(str(name) if "/" in one else name.name, one)]
            if not matched or kind == "folder":  # only what is wanted needs a good name: Macs add `Icon\r`
                continue
            if not listed.isprintable():
                raise BadArchiveError(archive, f"member {listed!r} has a name that cannot be printed: refused")
            if kind != "file":
                raise BadArchiveError(archive, f"member {listed!r} is a {kind}, not a plain file: refused")
            kept = name.name if flat else str(name)
            if kept in sizes:
                raise BadArchiveError(archive, f"two members would both become {kept!r}: archive refused")
            (folder / kept).parent.mkdir(parents=True, exist_ok=True)
            sizes[kept] = 0
            with opened() as source, (folder / kept).open("xb") as sink:
                while chunk := source.read(CHUNK):
                    sizes[kept] += len(chunk)
                    total += len(chunk)
                    if total > spec.max_bytes:  # counted here, because sizes in headers may be false
                        problem = f"unpacks to more than {spec.max_bytes:,} bytes: archive refused"
                        raise BadArchiveError(archive, problem)
                    sink.write(chunk)
            for pattern in matched:
                missing.pop(pattern, None)
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:  # damaged gzip or bz2 data has no errno
            raise
        problem = f"truncated or damaged: {str(error) or type(error).__name__}"
        raise BadArchiveError(archive, problem, fix="fetch it again") from None
    if missing:
        raise InputError(archive, f"holds no member {' or '.join(missing)}", fix="is it the right version?")
    return sizes


def _members(archive: Path) -> Iterator[Member]:
    if archive.name.endswith(ZIP):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                mode = info.external_attr >> 16  # 0 if the archive was not made on a Unix system
                plain = stat.S_IFMT(mode) in (0, stat.S_IFREG)
                kind = _kind(info.is_dir(), stat.S_ISLNK(mode), plain)
                yield info.filename, kind, lambda info=info: packed.open(info)  # type: ignore[misc]
    elif archive.name.endswith(TAR):
        with tarfile.open(archive, "r:*") as tape:
            for entry in tape:
                kind = _kind(entry.isdir(), entry.issym() or entry.islnk(), entry.isreg())
                yield entry.name, kind, lambda entry=entry: tape.extractfile(entry)  # type: ignore[misc]
    else:
        raise InputError(archive, f"unknown kind of archive, expected one of {', '.join(ZIP + TAR)}")


def _kind(folder: bool, link: bool, plain: bool) -> str:
    return "folder" if folder else "link" if link else "file" if plain else "device"


@contextmanager
def _fresh_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `target` that replaces it only if the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)  # a killed run may have left one
    fresh.mkdir()
    try:
        yield fresh
        shutil.rmtree(target, ignore_errors=True)  # after a kill at this point, the next fetch unpacks again
        fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
