"""Checkpoints: a directory that appears whole or not at all, and knows the length and hash of each file in it.

`checkpoints/step-0001000/` holds `weights.safetensors`, `optimiser.safetensors` and a readable `meta.json` with its
seal: no code, and no state of random generators, because whatever is random is seeded by its number. A run resumes from
the newest whole checkpoint.
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
    """A whole checkpoint on disk."""

    folder: Path
    meta: dict[str, Any]

    def tensors(self, name: str) -> dict[str, Tensor]:
        """Read one of its files."""
        return load_file(self.folder / f"{name}.safetensors")


def save(parent: Path, parts: Mapping[str, dict[str, Tensor]], meta: Mapping[str, Any]) -> Path:
    """Write a checkpoint under a temporary name, bring it to disk, then rename it."""
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
        shutil.rmtree(final, ignore_errors=True)  # a damaged one that was passed over
        temporary.replace(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # half a checkpoint would keep a full disk full
    _sync(parent)
    return final


def newest(parent: Path, fields: Collection[str] = ()) -> Checkpoint | None:
    """Return the newest whole checkpoint that says all of these; damaged ones are passed over with a warning."""
    for folder in sorted(parent.glob("step-*"), reverse=True):
        problem = damage(folder, fields)
        if not problem:
            return Checkpoint(folder, read_json(folder / META))
        log.warning("%s is damaged and passed over: %s", folder, problem)
    return None


def damage(folder: Path, fields: Collection[str] = ()) -> str:
    """Return what is wrong with a checkpoint, or nothing; `fields` are what meta.json must say."""
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
    """Delete all but the newest `keep` checkpoints and the best, and what killed processes left half-written."""
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
