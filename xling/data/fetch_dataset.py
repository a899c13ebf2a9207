"""Fetch the data of a study and nothing else, on a machine with network, so that compute nodes need none.

    python -m xling.data.fetch_dataset --sources sources.json --root DIR

The sources are a JSON list such as [{"name": "ud", "substitutions": {"lg": "fr"}}]. Files that are there as they were
accepted are left alone. "Verified" is a file whose hash was compared; one that nobody has published a hash of is
"accepted, checksum unknown", and must be the same in later fetches. With --local DIR (or "local" beside a source's
name) files are copied from that folder, by their path below the data root or by their bare name, and the network is
not used.
Exit: 0 all there, 1 something failed, 2 the user must supply files, 3 no space left.
"""

import argparse
import fcntl
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from xling.core.errors import EXIT_BAD_INPUT, EXIT_NO_SPACE, InputError, XlingError, run
from xling.core.io import atomic_path, read_json, sha256_of, write_json
from xling.core.log import log_to_stderr
from xling.core.records import read_record, record
from xling.data.archive import BadArchiveError, unpack
from xling.data.download import (
    NO_SPACE,
    DownloadError,
    Expected,
    MismatchError,
    download,
    listed_hash,
    set_aside,
    verify,
)
from xling.data.manifest import Dataset, SourceFile, Unpack, resolve

LOCK = "sources.lock.json"  # below the data root: what each fetched file was when it was accepted
NOTE = ".unpacked.json"  # inside an unpacked folder: what it was made from
VERIFIED, UNKNOWN, UNCHANGED = "verified", "accepted, checksum unknown", "unchanged or your own"
log = log_to_stderr(__name__)


@dataclass
class Lock:
    """What each downloaded file was: its hash, and size and time to see without reading it that nobody touched it."""

    root: Path
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path) -> "Lock":
        """Read the lock file of a data root, empty where there is none."""
        path = root / LOCK
        entries = read_json(path) if path.exists() else {}
        if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
            raise InputError(path, "expected a mapping from paths to hashes", fix="remove it, all is verified again")
        return cls(root, entries)

    def sha256(self, path: str) -> str | None:
        """Return the hash that a file had when it was first accepted."""
        return self.entries.get(path, {}).get("sha256")

    def untouched(self, path: str) -> bool:
        """Tell whether the file is there as it was accepted."""
        known = self.entries.get(path)
        return known is not None and (self.root / path).exists() and self._stat(path).items() <= known.items()

    def record(self, path: str, sha256: str | None) -> None:
        """Remember an accepted file, or without a hash drop one that turned out to be no good; on disk at once."""
        self.entries.pop(path, None)
        if sha256:
            self.entries[path] = {"sha256": sha256, **self._stat(path)}
        write_json(self.root / LOCK, self.entries, sealed=False)  # people remove entries

    def _stat(self, path: str) -> dict[str, int]:
        status = (self.root / path).stat()
        return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


@record
class Request:
    """A dataset that a study needs, for a language or a date, from a local folder if one is named."""

    name: str
    substitutions: dict[str, str] = Field(default_factory=dict)
    local: str = ""


@dataclass(frozen=True)
class Item:
    """One file to fetch for one dataset, from a local folder if one is named."""

    dataset: Dataset
    file: SourceFile
    local: Path | None

    def local_file(self) -> Path | None:
        """Return the file in the local folder, by its path or by its bare name."""
        folder, path = self.local or Path(), Path(self.file.path)
        return next((folder / name for name in (path, path.name) if (folder / name).is_file()), None)


def list_items(requests: Sequence[Request], local: Path | None) -> list[Item]:
    """Return every file that the requests need, once."""
    items: dict[tuple[str, str], Item] = {}
    for request in requests:
        dataset = resolve(request.name, **request.substitutions)
        folder = Path(request.local.removeprefix("file://")) if request.local else local
        for file in dataset.files:
            items.setdefault((file.path, file.unpack.to if file.unpack else ""), Item(dataset, file, folder))
    return list(items.values())


def state(item: Item, lock: Lock) -> str:
    """Return what is to be done for one file: nothing, check, get, unpack or ask."""
    path, spec = lock.root / item.file.path, item.file.unpack
    if item.dataset.ask and not (item.local and item.local_file()):
        return "nothing" if path.exists() and path.stat().st_size else "ask"
    if spec and _is_unpacked(lock.root / spec.to, spec, lock.sha256(item.file.path)):
        return "nothing"
    if lock.untouched(item.file.path):
        return "unpack" if spec else "nothing"
    return "check" if path.exists() else "get"


def obtain(item: Item, lock: Lock) -> str:
    """Make sure that one file, and the folder unpacked from it, are there; return how sure its bytes are."""
    sure = UNCHANGED
    file, path, first = item.file, lock.root / item.file.path, lock.sha256(item.file.path)
    expected = Expected(file.size, file.sha256)
    if file.sha256 is None and first:  # what is not in the manifest is what it was at the first download
        expected = Expected(file.size, first, origin=f"{LOCK}; remove the entry if the change is wanted")
    if state(item, lock) == "check":  # there but not known: a wrong one is set aside and fetched again
        try:
            sure = _accepted(lock, file.path, verify(path, expected), expected)
        except MismatchError as problem:
            log.warning("%s %s; kept as %s", path, problem, set_aside(path, path))
    if state(item, lock) == "get":
        if not item.local and file.sums and expected.sha256 is None:
            digest = listed_hash(file.sums.url, path.name)
            expected = replace(expected, listed=(file.sums.algorithm, digest) if digest else None)
        sha256 = _copy(item, path, expected) if item.local else download(file.urls, path, expected)
        sure = _accepted(lock, file.path, sha256, expected)
    if state(item, lock) == "unpack" and file.unpack:
        try:
            sizes = unpack(path, lock.root / file.unpack.to, file.unpack)
        except BadArchiveError:
            if file.sha256 is None:  # nothing vouched for these bytes: a rerun has to fetch new ones
                set_aside(path, path)
                lock.record(file.path, None)
            raise
        note = {"archive": lock.sha256(file.path), "spec": _described(file.unpack), "files": sizes}
        write_json(lock.root / file.unpack.to / NOTE, note, sealed=False)
    return sure


def _accepted(lock: Lock, path: str, sha256: str, expected: Expected) -> str:
    """Remember a file that is as expected, as far as anything was; return whether its hash was."""
    lock.record(path, sha256)
    if expected.hashed:
        return VERIFIED
    log.warning("%s: %s; its sha256 %s is in %s, later fetches must match it", path, UNKNOWN, sha256, LOCK)
    return UNKNOWN


def plan_table(items: Sequence[Item], lock: Lock) -> str:
    """Return the plan for people: source, file, size, licence, what will be done."""
    rows, terms = [("source", "file", "size", "licence", "to do")], {}
    for item in items:
        file, path, todo = item.file, lock.root / item.file.path, state(item, lock)
        known = path.stat().st_size if path.exists() else file.size
        size = f"{known:,}" if known is not None else f"about {file.about:,}" if file.about else "unknown"
        words = {"nothing": "there", "check": "verify", "get": "copy" if item.local else "download"}
        then = f", unpack to {file.unpack.to}/" if file.unpack and todo in ("check", "get") else ""
        words |= {"ask": "yours to supply", "unpack": "unpack"}
        rows.append((item.dataset.name, file.path, size, item.dataset.licence, words[todo] + then))
        if todo != "nothing":
            terms[item.dataset.name] = item.dataset.terms
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines + [f"terms of {name}: {text}" for name, text in terms.items()])


def ask_block(items: Sequence[Item], lock: Lock) -> str:
    """Return what the user has to supply, with the exact paths; empty where nothing is missing."""
    missing = [item for item in items if state(item, lock) == "ask"]
    lines = []
    for dataset in {item.dataset.name: item.dataset for item in missing}.values():
        paths = [f"  -> {lock.root / item.file.path}" for item in missing if item.dataset.name == dataset.name]
        lines += [f"{dataset.name}: {dataset.description} ({dataset.licence})", dataset.ask.rstrip(), *paths, ""]
    head = "These files need your own copy. Put them in place, then run the same command again.\n\n"
    return head + "\n".join(lines) if lines else ""


def obtain_all(items: Sequence[Item], lock: Lock) -> tuple[Counter[str], list[tuple[str, int]]]:
    """Fetch every file; count how sure they are, with one line and one exit code for each that failed."""
    sure, failures = Counter[str](), []
    for item in items:
        try:
            sure[obtain(item, lock)] += 1
        except XlingError as error:
            failures.append((f"{item.dataset.name}: {error}", 1))
        except OSError as error:
            code = EXIT_NO_SPACE if error.errno in NO_SPACE else 1
            where = error.filename or lock.root / item.file.path
            failures.append((f"{item.dataset.name}: {where}: {(error.strerror or str(error)).lower()}", code))
    return sure, failures


def _copy(item: Item, target: Path, expected: Expected) -> str:
    """Copy a file of the local folder and verify the copy; a link would let a change of one change the other."""
    source = item.local_file()
    if source is None:
        names = f"{item.file.path} or {target.name}"
        raise InputError(item.local or "", f"holds no {names}", fix="put the file there or leave --local out")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with atomic_path(target) as temporary:
            shutil.copyfile(source, temporary)
            return verify(temporary, expected)
    except MismatchError as problem:
        raise DownloadError(f"{source}: {problem}") from None


def _is_unpacked(folder: Path, spec: Unpack, sha256: str | None) -> bool:
    """Tell whether the folder was made from this archive in this way, with every file at its size."""
    if sha256 is None or not (folder / NOTE).exists():
        return False
    note = read_json(folder / NOTE)
    whole = all((folder / name).is_file() and (folder / name).stat().st_size == n for name, n in note["files"].items())
    return bool(whole and note["archive"] == sha256 and note["spec"] == _described(spec))


def _described(spec: Unpack) -> dict[str, Any]:
    return {**vars(spec), "members": list(spec.members)}


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Keep two fetches from writing the same files: the second waits for the first."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".fetch").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("another fetch is at work in %s: waiting for it to end", root)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            log.warning("%s: this file system has no locks; run one fetch at a time", root)
        yield


def main() -> None:
    """Show the plan, fetch what is missing and say what failed or is the user's to supply."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="JSON: list of {name, substitutions, local}")
    parser.add_argument("--root", type=Path, required=True, help="data root that everything is put below")
    parser.add_argument("--local", type=Path, help="take files from this folder instead of the network")
    parser.add_argument("--receipt", type=Path, help="write the hash of each file here, once all are there")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    args = parser.parse_args()
    items = list_items(read_record(list[Request], read_json(args.sources), args.sources), args.local)
    lock = Lock.load(args.root)
    print(plan_table(items, lock), flush=True)
    if args.dry_run:
        print(ask_block(items, lock))
        return
    with alone(args.root):
        lock = Lock.load(args.root)  # again: another fetch may have ended since the plan
        sure, failures = obtain_all(items, lock)
    for line, _ in failures:
        print(f"error: {line}", file=sys.stderr, flush=True)
    asked = ask_block(items, lock)
    print(asked, flush=True)
    code = max((code for _, code in failures), default=EXIT_BAD_INPUT if asked else 0)
    if code:
        sys.exit(code)
    if args.receipt:
        paths = {item.file.path for item in items}
        hashes = {path: lock.sha256(path) or sha256_of(lock.root / path) for path in paths}
        write_json(args.receipt, {"files": hashes})
    log.info("%d files below %s: %s", len(items), args.root, "; ".join(f"{n} {how}" for how, n in sure.items()))


if __name__ == "__main__":
    run(main)
