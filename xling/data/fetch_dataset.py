"""Fetch only the data that a study needs, on a machine with network access; compute nodes then need none.

    python -m xling.data.fetch_dataset --sources sources.json --root DIR

The sources are a JSON list such as [{"name": "ud", "substitutions": {"lg": "fr"}}]. Files that have not changed since
they were accepted are skipped. A file is "verified" if its hash matches a known hash. A file without a published hash
is "accepted, checksum unknown", and later fetches must give the same bytes.
Exit codes: 0 all files present, 1 something failed, 2 the user must supply files, 3 no space left.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from xling.core.errors import EXIT_BAD_INPUT, InputError, XlingError, run
from xling.core.io import read_json, sha256_of, write_json
from xling.core.lock import Lock
from xling.core.log import log_to_stderr
from xling.core.records import read_record, record
from xling.data.archive import BadArchiveError, unpack
from xling.data.download import DownloadError, Expected, RefusedError, download, listed_hash, set_aside, verify
from xling.data.manifest import Dataset, SourceFile, Unpack, resolve

LEDGER = "sources.lock.json"  # below the data root: hash, size and time of each file when it was accepted
NOTE = ".unpacked.json"  # inside an unpacked folder: the archive and options it was made with
VERIFIED, UNKNOWN, UNCHANGED = "verified", "accepted, checksum unknown", "unchanged or your own"
log = log_to_stderr(__name__)
Item = tuple[Dataset, SourceFile]


@record
class Request:
    """A dataset that a study needs, for a language or a date."""

    name: str
    substitutions: dict[str, str] = Field(default_factory=dict)


@dataclass
class Ledger:
    """The hash of each accepted file, and its size and time, which show without reading it that it is unchanged."""

    root: Path
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path) -> "Ledger":
        """Read the ledger of a data root; it is empty if there is no file."""
        path = root / LEDGER
        entries = read_json(path) if path.exists() else {}
        if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
            raise InputError(path, "expected a mapping from paths to hashes", fix="remove it, all is verified again")
        return cls(root, entries)

    def sha256(self, path: str) -> str | None:
        """Return the hash that a file had when it was accepted, or None if it is unknown."""
        return self.entries.get(path, {}).get("sha256")

    def untouched(self, path: str) -> bool:
        """Return whether the file exists and has not changed since it was accepted."""
        known = self.entries.get(path)
        return known is not None and (self.root / path).exists() and self._stat(path).items() <= known.items()

    def record(self, path: str, sha256: str | None) -> None:
        """Add an accepted file, or remove it if `sha256` is None, and write the ledger to disk at once."""
        self.entries.pop(path, None)
        if sha256:
            self.entries[path] = {"sha256": sha256, **self._stat(path)}
        write_json(self.root / LEDGER, self.entries, sealed=False)  # no seal (checksum file): users may remove entries

    def _stat(self, path: str) -> dict[str, int]:
        status = (self.root / path).stat()
        return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def list_items(requests: Sequence[Request]) -> list[Item]:
    """Return every file that the requests need, without duplicates."""
    items: dict[tuple[str, str], Item] = {}
    for request in requests:
        dataset = resolve(request.name, **request.substitutions)
        for file in dataset.files:
            items.setdefault((file.path, file.unpack.to if file.unpack else ""), (dataset, file))
    return list(items.values())


def is_there(file: SourceFile, ledger: Ledger) -> bool:
    """Return whether a file needs no work: supplied by the user, or unchanged since it was fetched or unpacked."""
    path, spec = ledger.root / file.path, file.unpack
    if not file.urls:
        return path.exists() and path.stat().st_size > 0
    if spec:
        return _is_unpacked(ledger.root / spec.to, spec, ledger.sha256(file.path))
    return ledger.untouched(file.path)


def obtain(file: SourceFile, ledger: Ledger) -> str:
    """Make sure that a file and the folder unpacked from it exist; return VERIFIED, UNKNOWN or UNCHANGED."""
    path, spec = ledger.root / file.path, file.unpack
    if not file.urls or is_there(file, ledger):
        return UNCHANGED
    sure = UNCHANGED if ledger.untouched(file.path) else _accept(file, ledger)
    if spec:
        try:
            sizes = unpack(path, ledger.root / spec.to, spec)
        except BadArchiveError:
            if file.sha256 is None:  # the bytes were never verified, so a rerun must fetch new ones
                set_aside(path, path)
                ledger.record(file.path, None)
            raise
        note = {"archive": ledger.sha256(file.path), "spec": _described(spec), "files": sizes}
        write_json(ledger.root / spec.to / NOTE, note, sealed=False)
    return sure


def _accept(file: SourceFile, ledger: Ledger) -> str:
    """Verify the file on disk or download it, and record it; return VERIFIED if its hash was known, else UNKNOWN."""
    path, first, sha256 = ledger.root / file.path, ledger.sha256(file.path), ""
    expected = Expected(file.size, file.sha256)
    if file.sha256 is None and first:  # without a hash in the manifest, the first download counts
        expected = Expected(file.size, first, origin=f"{LEDGER}; remove the entry if the change is wanted")
    if path.exists():  # unknown or changed: a wrong file is renamed and fetched again
        try:
            sha256 = verify(path, expected)
        except RefusedError as problem:
            log.warning("%s %s; kept as %s", path, problem, set_aside(path, path))
    if not sha256:
        if file.sums and expected.digest is None and (digest := listed_hash(file.sums.url, path.name)):
            origin = "the publisher's list"
            expected = replace(expected, digest=digest, algorithm=file.sums.algorithm, origin=origin)
        sha256 = download(file.urls, path, expected)
    ledger.record(file.path, sha256)
    if expected.digest:
        return VERIFIED
    log.warning("%s: %s; its sha256 %s is in %s, later fetches must match it", file.path, UNKNOWN, sha256, LEDGER)
    return UNKNOWN


def ask_block(items: Sequence[Item], ledger: Ledger) -> str:
    """Return a text that names the files that the user must supply, with their paths; empty if none is missing."""
    missing: dict[str, list[str]] = {}
    for dataset, file in items:
        if not (file.urls or is_there(file, ledger)):
            head = f"{dataset.name}: {dataset.description} ({dataset.licence})\n{dataset.ask.rstrip()}"
            missing.setdefault(head, []).append(f"  -> {ledger.root / file.path}\n")
    head = "These files need your own copy. Put them in place, then run the same command again.\n\n"
    return head + "\n".join(f"{how}\n{''.join(paths)}" for how, paths in missing.items()) if missing else ""


def _is_unpacked(folder: Path, spec: Unpack, sha256: str | None) -> bool:
    """Return whether the folder was unpacked from this archive with these options, and every file has its size."""
    if sha256 is None or not (folder / NOTE).exists():
        return False
    note = read_json(folder / NOTE)
    whole = all((folder / name).is_file() and (folder / name).stat().st_size == n for name, n in note["files"].items())
    return bool(whole and note["archive"] == sha256 and note["spec"] == _described(spec))


def _described(spec: Unpack) -> dict[str, Any]:
    return {**vars(spec), "members": list(spec.members)}


def main() -> None:
    """Fetch the missing files, and report failures and files that the user must supply."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="JSON: list of {name, substitutions}")
    parser.add_argument("--root", type=Path, required=True, help="data root that everything is put below")
    parser.add_argument("--receipt", type=Path, help="write the hash of each file here, once all are there")
    args = parser.parse_args()
    items = list_items(read_record(list[Request], read_json(args.sources), args.sources))
    args.root.mkdir(parents=True, exist_ok=True)
    sure, failed = Counter[str](), False
    with Lock(args.root, wait=True):  # only one fetch at a time may write
        ledger = Ledger.load(args.root)
        for dataset, file in items:
            if file.urls and not is_there(file, ledger):
                log.info("%s: %s (%s; terms: %s)", dataset.name, file.path, dataset.licence, dataset.terms)
            try:
                sure[obtain(file, ledger)] += 1
            except XlingError as error:  # continue with the other files
                print(f"error: {dataset.name}: {error}", file=sys.stderr, flush=True)
                failed = True
            except OSError as error:
                error.filename = error.filename or str(args.root / file.path)  # errors in writing lack the path
                raise
    asked = ask_block(items, ledger)
    print(asked, flush=True)
    if failed or asked:
        sys.exit(DownloadError.exit_code if failed else EXIT_BAD_INPUT)
    if args.receipt:
        paths = {file.path for _, file in items}
        hashes = {path: ledger.sha256(path) or sha256_of(ledger.root / path) for path in paths}
        write_json(args.receipt, {"files": hashes})
    log.info("%d files below %s: %s", len(items), args.root, "; ".join(f"{n} {how}" for how, n in sure.items()))


if __name__ == "__main__":
    run(main)
