"""Files of layer states: what is written is read, and what is wrong is reported in one line."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from xling.align.states import States, write_states
from xling.core.errors import InputError
from xling.core.io import seal_of
from xling.core.seeds import numpy_rng

LAYERS = [numpy_rng("states", layer).normal(size=(7, 3)).astype(np.float16) for layer in range(2)]


def test_round_trip_and_the_same_bytes_each_time(tmp_path):
    paths = [tmp_path / f"{name}.safetensors" for name in "ab"]
    for path in paths:
        write_states(path, LAYERS, {"model": "en", "a": 1}, items=list("abcdefg"))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    states = States(paths[0])
    assert (states.rows, states.layers, states.items) == (7, 2, list("abcdefg"))
    assert states.meta["model"] == "en"
    np.testing.assert_array_equal(states.read(1), LAYERS[1])
    np.testing.assert_array_equal(states.read(0, 5, 100), LAYERS[0][5:])
    assert sorted(tmp_path.iterdir()) == [*map(seal_of, paths), *paths]


def test_damaged_files_and_numbers_that_are_not_finite(tmp_path):
    path, broken = tmp_path / "en.safetensors", LAYERS[0].copy()
    broken[4, 1] = np.nan
    write_states(path, [LAYERS[0], broken], {})
    states = States(path)
    np.testing.assert_array_equal(states.read(1, 0, 4), broken[:4])
    with pytest.raises(InputError, match="layer 1, row 4 holds a number that is not finite"):
        states.read(1, 2)
    path.write_bytes(path.read_bytes()[:-20])
    for problem in ("damaged, or changed since it was written", r"not a whole \.safetensors file"):
        with pytest.raises(InputError, match=problem):
            States(path)
        seal_of(path).unlink(missing_ok=True)
    save_file({"other": broken}, path)
    with pytest.raises(InputError, match="does not contain tensor L0"):
        States(path)
