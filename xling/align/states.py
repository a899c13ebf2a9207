"""Files of hidden states: the vectors of the same sentences or words at every layer of an encoder.

A safetensors file holds arrays L0, L1, … of shape (rows, width) in float16 or float32, and a JSON object `meta` that
describes the origin of the states; if the words or sentences are known, `items` lists them. The states folder of an
encoder contains `trained/NAME.LANGUAGE.safetensors`, and `untrained/…` for its untrained twin.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from xling.align.mapping import Matrix
from xling.core.errors import InputError
from xling.core.io import atomic_path, check_seal

FIX = "make the states again"
TRAINED, UNTRAINED = "trained", "untrained"


class States:
    """The layers of one file; rows are read on demand."""

    def __init__(self, path: Path) -> None:
        path.open("rb").close()  # raises the usual error if the file is missing
        check_seal(path)
        opener: Any = safe_open
        try:
            self._file = opener(path, framework="numpy")
            self.layers = len(self._file.offset_keys())
            self.rows = self._file.get_slice("L0").get_shape()[0]
        except SafetensorError as error:
            raise InputError(path, f"not a whole .safetensors file: {error}", fix=FIX) from None
        self.path = path
        self.meta = json.loads((self._file.metadata() or {}).get("meta", "{}"))
        self.items: list[str] | None = self.meta.get("items")

    def read(self, layer: int, start: int = 0, stop: int | None = None) -> Matrix:
        """Return the rows `start` to `stop` of a layer; raise InputError if a value is not finite."""
        block: Matrix = self._file.get_slice(f"L{layer}")[start : self.rows if stop is None else min(stop, self.rows)]
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise InputError(self.path, f"layer {layer}, row {row} holds a number that is not finite", fix=FIX)
        return block


def write_states(path: Path, layers: Sequence[Matrix], meta: Mapping[str, Any], items: Sequence[str] = ()) -> None:
    """Write layers and their metadata; the file appears only once it is complete."""
    arrays = {f"L{number}": np.ascontiguousarray(layer) for number, layer in enumerate(layers)}
    about = dict(meta) | ({"items": list(items)} if len(items) else {})
    with atomic_path(path, sealed=True) as temporary:
        save_file(arrays, temporary, metadata={"meta": json.dumps(about, sort_keys=True, ensure_ascii=False)})


def states_file(folder: Path, kind: str, name: str, language: str) -> Path:
    """Return the path of the states of a set of words or sentences in the states folder of an encoder."""
    return folder / kind / f"{name}.{language}.safetensors"


def check_parallel(left: States, right: States) -> None:
    """Raise InputError if two files differ in their number of rows or layers."""
    if left.rows != right.rows:
        raise InputError(right.path, f"{right.rows} rows, but {left.path} has {left.rows}", fix="they must be aligned")
    check_layers(right, left)


def check_layers(states: States, known: States) -> None:
    """Raise InputError if two files differ in their number of layers."""
    if states.layers != known.layers:
        raise InputError(states.path, f"{states.layers} layers, but {known.path} has {known.layers}", fix=FIX)
