"""Files of layer states: what is written is read, and what is wrong is reported in one line."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from xling.align.states import States, write_states
from xling.core.errors import InputError
from xling.core.io import seal_of
from xling.core.seeds import numpy_rng

LAYERS = [numpy_rng("states", layer).normal(size=(7, 3)).astype(np.float16) for layer in range(2)]
ZEROS = np.zeros((2, 3), np.float32)


def test_round_trip_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.safetensors" for name in "ab"]
    for path in paths:
        write_states(path, LAYERS, {"model": "en", "a": 1}, items=list("abcdefg"))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    states = States(paths[0])
    assert (states.rows, states.layers, states.width, states.items) == (7, 2, 3, list("abcdefg"))
    assert states.meta["model"] == "en"
    np.testing.assert_array_equal(states.read(1), LAYERS[1])
    np.testing.assert_array_equal(states.read(0, 5, 100), LAYERS[0][5:])
    assert sorted(tmp_path.iterdir()) == [*map(seal_of, paths), *paths]


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    broken = LAYERS[0].copy()
    broken[4, 1] = np.nan
    write_states(tmp_path / "en.safetensors", [LAYERS[0], broken], {})
    states = States(tmp_path / "en.safetensors")
    np.testing.assert_array_equal(states.read(1, 0, 4), broken[:4])
    with pytest.raises(InputError, match="layer 1, row 4 holds a number that is not finite"):
        states.read(1, 2)


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"L0": ZEROS, "L2": ZEROS}, "layers must be L0, L1, …"),
        ({"L0": ZEROS, "L1": np.zeros((3, 3), np.float32)}, "layers must share one shape"),
        ({"L0": ZEROS.astype(np.float64)}, "L0 is neither float16 nor float32"),
        ({"L0": ZEROS[:0]}, "empty where vectors were expected"),
        ({}, "found nothing"),
    ],
)
def test_files_that_are_no_states(tmp_path: Path, arrays: dict[str, np.ndarray], problem: str) -> None:
    save_file(arrays, tmp_path / "en.safetensors")
    with pytest.raises(InputError, match=problem):
        States(tmp_path / "en.safetensors")


def test_truncated_files_other_suffixes_and_wrong_item_counts(tmp_path: Path) -> None:
    path = tmp_path / "en.safetensors"
    write_states(path, LAYERS, {})
    path.write_bytes(path.read_bytes()[:-20])
    for problem in ("damaged, or changed since it was written", r"not a whole \.safetensors file"):
        with pytest.raises(InputError, match=problem):
            States(path)
        seal_of(path).unlink(missing_ok=True)
    with pytest.raises(InputError, match=r"states are \.safetensors files, not \.npz"):
        write_states(tmp_path / "en.npz", LAYERS, {})
    write_states(path, LAYERS, {}, items=["one"])
    with pytest.raises(InputError, match="1 items but 7 rows"):
        States(path)
