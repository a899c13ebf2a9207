"""Sentence retrieval: exact where it must be, chance where it must be, one line where the input is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.sentences import main, retrieve, retrieve_mapped
from xling.align.states import write_states
from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

RNG = numpy_rng("sentences")
ROTATION = np.linalg.qr(RNG.normal(size=(32, 32)))[0].astype(np.float32)
FIT, TEST = RNG.normal(size=(600, 32)).astype(np.float32), RNG.normal(size=(300, 32)).astype(np.float32)


def test_the_map_finds_what_cosine_alone_does_not() -> None:
    other = TEST @ ROTATION * 5
    assert retrieve(TEST, other)["mean"] < 0.05
    assert retrieve_mapped(TEST, other, FIT, FIT @ ROTATION) == {"left_to_right": 1, "right_to_left": 1, "mean": 1}


def test_both_directions_equal_a_direct_count() -> None:
    other = TEST + 1.5 * numpy_rng("noise").normal(size=TEST.shape).astype(np.float32)
    cosines = (TEST / np.linalg.norm(TEST, axis=1)[:, None]) @ (other / np.linalg.norm(other, axis=1)[:, None]).T
    scores = retrieve(TEST, other)
    assert scores["left_to_right"] == pytest.approx(np.mean(cosines.argmax(axis=1) == np.arange(300)))
    assert scores["right_to_left"] == pytest.approx(np.mean(cosines.argmax(axis=0) == np.arange(300)))
    assert 0.1 < scores["mean"] < 1
    assert scores["left_to_right"] != scores["right_to_left"]


def test_swapping_the_sides_swaps_the_directions_with_the_map_too() -> None:
    noise = numpy_rng("swap").normal(size=TEST.shape).astype(np.float32)
    one = retrieve_mapped(TEST, TEST @ ROTATION + noise, FIT, FIT @ ROTATION)
    other = retrieve_mapped(TEST @ ROTATION + noise, TEST, FIT @ ROTATION, FIT)
    assert (one["left_to_right"], one["right_to_left"]) == (other["right_to_left"], other["left_to_right"])


def test_unrelated_vectors_are_near_chance() -> None:
    assert retrieve(TEST, FIT[:300])["mean"] < 0.02


def test_different_numbers_of_sentences() -> None:
    with pytest.raises(XlingError, match="300 sentences on the left, 600 on the right"):
        retrieve(TEST, FIT)


def test_the_command_reports_every_layer_and_chance(call: Callable[..., Any], tmp_path: Path) -> None:
    for name, layers in (("a", TEST), ("b", TEST @ ROTATION), ("fit-a", FIT), ("fit-b", FIT @ ROTATION)):
        write_states(tmp_path / f"{name}.safetensors", [layers, layers * 2], {})
    files = {name: tmp_path / f"{name}.safetensors" for name in ("a", "b", "fit-a", "fit-b")}
    done = call(main, "--left", files["a"], "--right", files["b"], "--fit-left", files["fit-a"],
                   "--fit-right", files["fit-b"], "--out", tmp_path / "out.json")  # fmt: skip
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    assert list(result["layers"]) == ["L0", "L1"]
    assert result["layers"]["L1"]["mapped"]["mean"] == 1
    assert result["layers"]["L1"]["plain"]["mean"] < 0.05
    assert (result["chance"], result["sentences"], result["fitted_on"]) == (1 / 300, 300, 600)


@pytest.mark.parametrize(
    ("left", "right", "flags", "problem"),
    [
        ("a", "short", [], "short.npz: 9 rows, but"),
        ("a", "shallow", [], "shallow.npz: 1 layers, but"),
        ("a", "a", ["--layers", 5], "no layer 5: the layers are 0 to 1"),
        ("a", "a", ["--fit-left", "x.npz"], "--fit-left and --fit-right go together"),
        ("a", "empty", [], "empty where vectors were expected"),
        ("a", "missing", [], "missing.npz: no such file or directory"),
    ],
)
def test_bad_input_is_one_line(
    call: Callable[..., Any], tmp_path: Path, left: str, right: str, flags: list[object], problem: str
) -> None:
    for name, layers in (("a", [TEST] * 2), ("short", [TEST[:9]] * 2), ("shallow", [TEST]), ("empty", [TEST[:0]] * 2)):
        write_states(tmp_path / f"{name}.npz", layers, {})
    files = ["--left", tmp_path / f"{left}.npz", "--right", tmp_path / f"{right}.npz"]
    done = call(main, *files, *flags, "--out", tmp_path / "out.json")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (tmp_path / "out.json").exists()
