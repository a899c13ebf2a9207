"""Hashes that tie a result to its configuration, and the check of the hash before a result or weights are read."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json

FIX = "delete it and run Snakemake again, without --rerun-triggers mtime, or take the configuration it was made with"


def hashed(value: object) -> str:
    """Return the hash of any value that JSON can represent."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def untrained_parts(run: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a run.json that determine an untrained encoder: its initial weights and its input."""
    weights = {key: run[key] for key in ("languages", "selection_language", "seed", "shape", "separate", "softmax")}
    return [weights, [run["pretrain"]["length"], run["made_from"]["vocabulary"]]]


def read_result(path: Path, wanted: str) -> Any:
    """Read a result and raise an error if it belongs to another configuration.

    The hash of a result is its `config`. A run.json is identified by the hash of its whole content or, for an untrained
    encoder, by the hash of `untrained_parts`.
    """
    result = read_json(path)
    try:
        known = [str(result["config"])] if "config" in result else [hashed(result), hashed(untrained_parts(result))]
    except (KeyError, TypeError):
        raise InputError(path, "says nothing of the configuration it was made with", fix=FIX) from None
    if wanted not in known:
        raise InputError(path, f"of another configuration: {known[0] or 'none'}, not {wanted}", fix=FIX)
    return result
