"""Checkpoints: directories that are written atomically and record the size and hash of each of their files.

`checkpoints/step-0001000/` holds `weights.safetensors`, `optimiser.safetensors`, and a readable `meta.json` with its
checksum file. It contains no code and no state of random generators, because every random draw is seeded by its step
number. A run resumes from the newest undamaged checkpoint.
"""

import logging
import os
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from xling.core.errors import InputError
from xling.core.io import read_json, sha256_of, write_json

log = logging.getLogger(__name__)
META = "meta.json"


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint on disk."""

    folder: Path
    meta: dict[str, Any]

    def tensors(self, name: str) -> dict[str, Tensor]:
        """Read the tensors of `NAME.safetensors`."""
        return load_file(self.folder / f"{name}.safetensors")


def save(parent: Path, parts: Mapping[str, dict[str, Tensor]], meta: Mapping[str, Any]) -> Path:
    """Write a checkpoint under a temporary name, flush it to disk, then rename it."""
    final = parent / _name(meta["update"])
    temporary = parent / f".{final.name}.{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    files = {}
    try:
        for name, tensors in parts.items():
            path = temporary / f"{name}.safetensors"
            save_file(tensors, path)
            _sync(path)
            files[path.name] = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        write_json(temporary / META, {**meta, "files": files})
        _sync(temporary)
        shutil.rmtree(final, ignore_errors=True)  # a damaged checkpoint of this update
        temporary.replace(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # an incomplete checkpoint would waste disk space
    _sync(parent)
    return final


def newest(parent: Path, fields: Collection[str] = ()) -> Checkpoint | None:
    """Return the newest undamaged checkpoint whose meta.json has all `fields`; skip damaged ones with a warning."""
    for folder in sorted(parent.glob("step-*"), reverse=True):
        problem = damage(folder, fields)
        if not problem:
            return Checkpoint(folder, read_json(folder / META))
        log.warning("%s is damaged and passed over: %s", folder, problem)
    return None


def damage(folder: Path, fields: Collection[str] = ()) -> str:
    """Describe the first problem of a checkpoint, or return ""; `fields` are the required keys of meta.json."""
    try:
        meta = read_json(folder / META)
        if missing := [name for name in fields if name not in meta]:
            return f"{META} does not say {missing[0]}"
        if folder.name != _name(meta["update"]):
            return f"{META} is of update {meta['update']}"
        files = [(folder / name, known["bytes"], known["sha256"]) for name, known in meta["files"].items()]
        for path, size, sha256 in files:
            found = path.stat().st_size if path.is_file() else None
            if found != size:
                return f"{path.name} has {found} bytes, {META} says {size}"
            if sha256_of(path) != sha256:
                return f"{path.name} is not what was written"
    except InputError as error:
        return f"{META}: {error.problem}"
    except (OSError, AttributeError, KeyError, TypeError, ValueError):
        return f"{META} is missing or unreadable"
    return ""


def _name(update: int) -> str:
    return f"step-{update:07d}"


def prune(parent: Path, keep: int, best: int | None) -> None:
    """Delete all checkpoints except the newest `keep` and the best, and incomplete ones left by killed processes."""
    spared = "" if best is None else _name(best)
    for folder in sorted(parent.glob("step-*"))[:-keep]:
        if folder.name != spared:
            shutil.rmtree(folder)
    for folder in parent.glob(".step-*"):
        shutil.rmtree(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
