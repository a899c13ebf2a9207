"""What each fetched file was when it was accepted: its hash, kept in sources.lock.json below the data root."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json, write_json

LOCK = "sources.lock.json"


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

    def record(self, path: str, sha256: str) -> None:
        """Remember an accepted file, on disk at once."""
        self.entries[path] = {"sha256": sha256, **self._stat(path)}
        write_json(self.root / LOCK, self.entries)

    def forget(self, path: str) -> None:
        """Drop a file that turned out to be no good."""
        self.entries.pop(path, None)
        write_json(self.root / LOCK, self.entries)

    def _stat(self, path: str) -> dict[str, int]:
        status = (self.root / path).stat()
        return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
