"""Files of layer states: what is written is read, and what is wrong is said in one line."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from xling.align.states import check_parallel, read_states, write_states
from xling.core.errors import InputError
from xling.core.seeds import numpy_rng

LAYERS = [numpy_rng("states", layer).normal(size=(7, 3)).astype(np.float16) for layer in range(2)]


@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"en.{suffix}"
    write_states(path, LAYERS, {"model": "en"}, items=list("abcdefg"))
    states = read_states(path)
    assert (states.rows, states.layers, states.width) == (7, 2, 3)
    assert states.items == list("abcdefg")
    assert states.meta["model"] == "en"
    np.testing.assert_array_equal(states.read(1), LAYERS[1])
    np.testing.assert_array_equal(states.read(0, 5, 100), LAYERS[0][5:])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_same_states_give_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_states(tmp_path / f"{name}.safetensors", LAYERS, {"z": 1, "a": 2})
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_a_layer_that_does_not_exist(tmp_path: Path, suffix: str) -> None:
    write_states(tmp_path / f"en.{suffix}", LAYERS, {})
    with pytest.raises(InputError, match=rf"en.{suffix}: no layer 9: the layers are 0 to 1"):
        read_states(tmp_path / f"en.{suffix}").read(9)


def test_nan_is_named_by_layer_and_row(tmp_path: Path) -> None:
    broken = LAYERS[0].copy()
    broken[4, 1] = np.nan
    write_states(tmp_path / "en.safetensors", [LAYERS[0], broken], {})
    states = read_states(tmp_path / "en.safetensors")
    np.testing.assert_array_equal(states.read(1, 0, 4), broken[:4])
    with pytest.raises(InputError, match="layer 1, row 4 holds a number that is not finite"):
        states.read(1, 2)


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"L0": np.zeros((2, 3), np.float32), "L2": np.zeros((2, 3), np.float32)}, "layers must be L0, L1, …"),
        ({"L0": np.zeros((2, 3), np.float32), "L1": np.zeros((3, 3), np.float32)}, "layers must share one shape"),
        ({"L0": np.zeros((2, 3), np.float64)}, "L0 is neither float16 nor float32"),
        ({"L0": np.zeros((0, 3), np.float32)}, "empty where vectors were expected"),
    ],
)
@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_files_that_are_no_states(tmp_path: Path, suffix: str, arrays: dict[str, np.ndarray], problem: str) -> None:
    path = tmp_path / f"en.{suffix}"
    if suffix == "npz":
        np.savez(path, **arrays)
    else:
        save_file(arrays, path)
    with pytest.raises(InputError, match=problem):
        read_states(path)


@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_a_truncated_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"en.{suffix}"
    write_states(path, LAYERS, {})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=f"not a whole .{suffix} file"):
        read_states(path)


def test_other_suffixes_and_wrong_item_counts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"states are \.safetensors or \.npz"):
        read_states(tmp_path / "en.txt")
    write_states(tmp_path / "en.npz", LAYERS, {}, items=["one"])
    with pytest.raises(InputError, match="1 items but 7 rows"):
        read_states(tmp_path / "en.npz")


def test_states_of_different_length_or_depth(tmp_path: Path) -> None:
    write_states(tmp_path / "en.npz", LAYERS, {})
    write_states(tmp_path / "fr.npz", [layer[:5] for layer in LAYERS], {})
    write_states(tmp_path / "de.npz", LAYERS[:1], {})
    en, fr, de = (read_states(tmp_path / f"{code}.npz") for code in ("en", "fr", "de"))
    with pytest.raises(InputError, match=r"fr.npz: 5 rows, but .*en.npz has 7"):
        check_parallel(en, fr)
    with pytest.raises(InputError, match=r"de.npz: 1 layers, but .*en.npz has 2"):
        check_parallel(en, de)
