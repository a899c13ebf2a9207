"""Files of layer states: the vectors of the same sentences or words at every layer of an encoder.

A `.safetensors` or `.npz` file holds arrays L0, L1, … of shape (rows, width) in float16 or float32, and a JSON text
`meta`: an object that says where the states come from, with the words or sentences under `items` where they are known.
"""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from xling.core.errors import InputError
from xling.core.io import atomic_path

Matrix = NDArray[np.floating]
Rows = Callable[[str, int, int], Matrix]
FIX = "make the states again"


class States:
    """The layers of one file; a range of rows is read when it is asked for."""

    def __init__(self, path: Path, shapes: Mapping[str, tuple[int, ...]], meta: dict[str, Any], rows: Rows) -> None:
        self.path, self.meta, self._rows = path, meta, rows
        self.layers = len(shapes)
        self.rows, self.width = _shape(path, shapes)
        self.items: list[str] | None = meta.get("items")
        if self.items is not None and len(self.items) != self.rows:
            raise InputError(path, f"{len(self.items)} items but {self.rows} rows", fix=FIX)

    def read(self, layer: int, start: int = 0, stop: int | None = None) -> Matrix:
        """Return rows of a layer; one that is not there, or a number that is not finite, is refused."""
        if not 0 <= layer < self.layers:
            raise InputError(self.path, f"no layer {layer}: the layers are 0 to {self.layers - 1}")
        block = self._rows(f"L{layer}", start, self.rows if stop is None else min(stop, self.rows))
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise InputError(self.path, f"layer {layer}, row {row} holds a number that is not finite", fix=FIX)
        return block


def read_states(path: Path) -> States:
    """Open a file of layer states."""
    path = Path(path)
    readers = {".safetensors": _open_safetensors, ".npz": _open_npz}
    if path.suffix not in readers:
        raise InputError(path, f"states are .safetensors or .npz, not {path.suffix or 'without a suffix'}")
    try:
        return readers[path.suffix](path)
    except (SafetensorError, zipfile.BadZipFile, EOFError, ValueError) as error:
        raise InputError(path, f"not a whole {path.suffix} file: {error}", fix=FIX) from None


def write_states(path: Path, layers: Sequence[Matrix], meta: Mapping[str, Any], items: Sequence[str] = ()) -> None:
    """Write layers with what is known about them; the file appears only when whole."""
    arrays = {f"L{number}": np.ascontiguousarray(layer) for number, layer in enumerate(layers)}
    about = dict(meta) | ({"items": list(items)} if len(items) else {})
    text = json.dumps(about, sort_keys=True, ensure_ascii=False)
    with atomic_path(Path(path)) as temporary:
        if temporary.suffix == ".npz":
            np.savez(temporary, **arrays, meta=np.array(text))  # type: ignore[arg-type]  # stubs know no named arrays
        else:
            save_file(arrays, temporary, metadata={"meta": text})


def check_parallel(left: States, right: States) -> None:
    """Refuse states of different sentences or of encoders with different numbers of layers."""
    if left.rows != right.rows:
        raise InputError(right.path, f"{right.rows} rows, but {left.path} has {left.rows}", fix="they must be aligned")
    if left.layers != right.layers:
        raise InputError(right.path, f"{right.layers} layers, but {left.path} has {left.layers}")


def check_same_items(states: States, known: States) -> None:
    """Refuse states of other words or sentences, or of another number of layers, than those of another file."""
    if states.items != known.items or states.rows != known.rows:
        raise InputError(states.path, f"other words or sentences than {known.path}", fix=FIX)
    if states.layers != known.layers:
        raise InputError(states.path, f"{states.layers} layers, but {known.path} has {known.layers}", fix=FIX)


def _open_safetensors(path: Path) -> States:
    path.open("rb").close()  # so that a missing file is reported like any other
    handle: Any = safe_open(path, framework="numpy")
    shapes = {name: tuple(handle.get_slice(name).get_shape()) for name in handle.keys()}  # noqa: SIM118
    for name in shapes:
        _check_type(path, name, str(handle.get_slice(name).get_dtype()) in ("F16", "F32"))
    meta = json.loads((handle.metadata() or {}).get("meta", "{}"))
    return States(path, shapes, meta, lambda name, start, stop: handle.get_slice(name)[start:stop])


def _open_npz(path: Path) -> States:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    meta = json.loads(str(arrays.pop("meta", "{}")))
    for name, array in arrays.items():
        _check_type(path, name, array.dtype in (np.float16, np.float32))
    shapes = {name: array.shape for name, array in arrays.items()}
    return States(path, shapes, meta, lambda name, start, stop: arrays[name][start:stop])


def _check_type(path: Path, name: str, good: bool) -> None:
    if not good:
        raise InputError(path, f"{name} is neither float16 nor float32", fix=FIX)


def _shape(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int]:
    wanted = [f"L{number}" for number in range(len(shapes))]
    if not shapes or set(shapes) != set(wanted):
        raise InputError(path, f"layers must be L0, L1, …, found {', '.join(sorted(shapes)) or 'nothing'}", fix=FIX)
    different = {shapes[name] for name in wanted}
    shape = shapes["L0"]
    if len(different) > 1 or len(shape) != 2:
        raise InputError(path, f"layers must share one shape (rows, width), found {sorted(different)}", fix=FIX)
    if 0 in shape:
        raise InputError(path, "empty where vectors were expected", fix=FIX)
    return shape[0], shape[1]
