"""Fetch the data of a study and nothing else, on a machine with network, so that compute nodes need none.

    python -m xling.data.fetch_dataset --sources sources.json --root DIR

The sources are a JSON list such as [{"name": "ud", "substitutions": {"lg": "fr"}}]. Files that are there as they were
accepted are left alone. "Verified" is a file whose hash was compared; one that nobody has published a hash of is
"accepted, checksum unknown", and must be the same in later fetches.
Exit: 0 all there, 1 something failed, 2 the user must supply files, 3 no space left.
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

LEDGER = "sources.lock.json"  # below the data root: what each fetched file was when it was accepted
NOTE = ".unpacked.json"  # inside an unpacked folder: what it was made from
THERE, ASK, VERIFY, DOWNLOAD, UNPACK = "there", "yours to supply", "verify", "download", "unpack"  # to be done
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
    """What each downloaded file was: its hash, and size and time to see without reading it that nobody touched it."""

    root: Path
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path) -> "Ledger":
        """Read the ledger of a data root, empty where there is none."""
        path = root / LEDGER
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
        write_json(self.root / LEDGER, self.entries, sealed=False)  # people remove entries

    def _stat(self, path: str) -> dict[str, int]:
        status = (self.root / path).stat()
        return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def list_items(requests: Sequence[Request]) -> list[Item]:
    """Return every file that the requests need, once."""
    items: dict[tuple[str, str], Item] = {}
    for request in requests:
        dataset = resolve(request.name, **request.substitutions)
        for file in dataset.files:
            items.setdefault((file.path, file.unpack.to if file.unpack else ""), (dataset, file))
    return list(items.values())


def to_do(file: SourceFile, ledger: Ledger) -> str:
    """Return what is to be done for one file."""
    path, spec = ledger.root / file.path, file.unpack
    if not file.urls:
        return THERE if path.exists() and path.stat().st_size else ASK
    if spec and _is_unpacked(ledger.root / spec.to, spec, ledger.sha256(file.path)):
        return THERE
    if ledger.untouched(file.path):
        return UNPACK if spec else THERE
    return VERIFY if path.exists() else DOWNLOAD


def obtain(file: SourceFile, ledger: Ledger) -> str:
    """Make sure that one file, and the folder unpacked from it, are there; return how sure its bytes are."""
    sure, path, first = UNCHANGED, ledger.root / file.path, ledger.sha256(file.path)
    expected = Expected(file.size, file.sha256)
    if file.sha256 is None and first:  # what is not in the manifest is what it was at the first download
        expected = Expected(file.size, first, origin=f"{LEDGER}; remove the entry if the change is wanted")
    if to_do(file, ledger) == VERIFY:  # there but not known: a wrong one is set aside and fetched again
        try:
            sure = _accepted(ledger, file.path, verify(path, expected), expected)
        except RefusedError as problem:
            log.warning("%s %s; kept as %s", path, problem, set_aside(path, path))
    if to_do(file, ledger) == DOWNLOAD:
        if file.sums and expected.digest is None and (digest := listed_hash(file.sums.url, path.name)):
            origin = "the publisher's list"
            expected = replace(expected, digest=digest, algorithm=file.sums.algorithm, origin=origin)
        sure = _accepted(ledger, file.path, download(file.urls, path, expected), expected)
    if to_do(file, ledger) == UNPACK and file.unpack:
        try:
            sizes = unpack(path, ledger.root / file.unpack.to, file.unpack)
        except BadArchiveError:
            if file.sha256 is None:  # nothing vouched for these bytes: a rerun has to fetch new ones
                set_aside(path, path)
                ledger.record(file.path, None)
            raise
        note = {"archive": ledger.sha256(file.path), "spec": _described(file.unpack), "files": sizes}
        write_json(ledger.root / file.unpack.to / NOTE, note, sealed=False)
    return sure


def _accepted(ledger: Ledger, path: str, sha256: str, expected: Expected) -> str:
    """Remember a file that is as expected, as far as anything was; return whether its hash was."""
    ledger.record(path, sha256)
    if expected.digest:
        return VERIFIED
    log.warning("%s: %s; its sha256 %s is in %s, later fetches must match it", path, UNKNOWN, sha256, LEDGER)
    return UNKNOWN


def ask_block(items: Sequence[Item], ledger: Ledger) -> str:
    """Return what the user has to supply, with the exact paths; empty where nothing is missing."""
    missing: dict[str, list[str]] = {}
    for dataset, file in items:
        if to_do(file, ledger) == ASK:
            head = f"{dataset.name}: {dataset.description} ({dataset.licence})\n{dataset.ask.rstrip()}"
            missing.setdefault(head, []).append(f"  -> {ledger.root / file.path}\n")
    head = "These files need your own copy. Put them in place, then run the same command again.\n\n"
    return head + "\n".join(f"{how}\n{''.join(paths)}" for how, paths in missing.items()) if missing else ""


def _is_unpacked(folder: Path, spec: Unpack, sha256: str | None) -> bool:
    """Tell whether the folder was made from this archive in this way, with every file at its size."""
    if sha256 is None or not (folder / NOTE).exists():
        return False
    note = read_json(folder / NOTE)
    whole = all((folder / name).is_file() and (folder / name).stat().st_size == n for name, n in note["files"].items())
    return bool(whole and note["archive"] == sha256 and note["spec"] == _described(spec))


def _described(spec: Unpack) -> dict[str, Any]:
    return {**vars(spec), "members": list(spec.members)}


def main() -> None:
    """Fetch what is missing and say what failed or is the user's to supply."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="JSON: list of {name, substitutions}")
    parser.add_argument("--root", type=Path, required=True, help="data root that everything is put below")
    parser.add_argument("--receipt", type=Path, help="write the hash of each file here, once all are there")
    args = parser.parse_args()
    items = list_items(read_record(list[Request], read_json(args.sources), args.sources))
    args.root.mkdir(parents=True, exist_ok=True)
    sure, failed = Counter[str](), False
    with Lock(args.root, wait=True):  # two fetches never write the same files
        ledger = Ledger.load(args.root)
        for dataset, file in items:
            if (todo := to_do(file, ledger)) != THERE:
                log.info("%s: %s (%s; terms: %s): %s", dataset.name, file.path, dataset.licence, dataset.terms, todo)
            try:
                sure[obtain(file, ledger)] += 1
            except XlingError as error:  # the others may still be had
                print(f"error: {dataset.name}: {error}", file=sys.stderr, flush=True)
                failed = True
            except OSError as error:
                error.filename = error.filename or str(args.root / file.path)  # writing does not say where
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
