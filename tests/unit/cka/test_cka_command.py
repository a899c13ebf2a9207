"""The CKA command: files in, one JSON out, one line where the files are wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.states import read_states, write_states
from xling.cka.run import compare, main
from xling.core.seeds import numpy_rng
from xling.model.similarity import linear_cka

LEFT = [numpy_rng("left", layer).normal(size=(2500, 8)).astype(np.float32) for layer in range(3)]
RIGHT = [layer[:, ::-1] + numpy_rng("right").normal(size=(2500, 8)).astype(np.float32) for layer in LEFT]


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_layers_and_matrix(call: Callable[..., Any], tmp_path: Path, suffix: str) -> None:
    write_states(tmp_path / f"l.{suffix}", LEFT, {})
    write_states(tmp_path / f"r.{suffix}", RIGHT, {})
    files = ["--left", tmp_path / f"l.{suffix}", "--right", tmp_path / f"r.{suffix}"]
    done = call(main, *files, "--matrix", "--config-hash", "abc", "--out", tmp_path / "out.json")
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    expected = [linear_cka(x.astype(float), y.astype(float)) for x, y in zip(LEFT, RIGHT, strict=True)]
    rows = {f"L{layer}": score for layer, score in enumerate(expected)} | {"AVER": np.mean(expected)}
    assert result["cka"] == pytest.approx(rows, abs=5e-7)
    assert [result["matrix"][i][i] for i in range(3)] == pytest.approx(expected, abs=5e-7)
    assert (result["sentences"], result["config"]) == (2500, "abc")


def test_memory_does_not_grow_with_the_sentences(tmp_path: Path) -> None:
    write_states(tmp_path / "l.safetensors", LEFT, {})
    states = read_states(tmp_path / "l.safetensors")
    asked: list[int] = []
    read = states.read
    states.read = lambda layer, start, stop: asked.append(stop - start) or read(layer, start, stop)  # type: ignore[method-assign]
    assert compare(states, states).layerwise()["AVER"] == pytest.approx(1)
    assert max(asked) <= 1024
    assert len(asked) == 2 * 3 * 3  # sides, layers, blocks: everything once


@pytest.mark.parametrize(
    ("right", "problem"),
    [
        ([layer[:9] for layer in RIGHT], "r.npz: 9 rows, but"),
        (RIGHT[:2], "r.npz: 2 layers, but"),
        ([layer * np.nan for layer in RIGHT], "r.npz: layer 0, row 0 holds a number that is not finite"),
        ([layer * 0 for layer in RIGHT], "CKA is undefined: all vectors of layer 0 or 0 are the same"),
    ],
)
def test_bad_input_is_one_line(call: Callable[..., Any], tmp_path: Path, right: list[np.ndarray], problem: str) -> None:
    write_states(tmp_path / "l.npz", LEFT, {})
    write_states(tmp_path / "r.npz", right, {})
    done = call(main, "--left", tmp_path / "l.npz", "--right", tmp_path / "r.npz", "--out", tmp_path / "out.json")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (tmp_path / "out.json").exists()
