"""Figure 7: all pairs of a plan, averaged over seeds, one pair of files, and input that is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.states import States, states_file, write_states
from xling.cka.compare_encoders import compare, main
from xling.core.io import read_json
from xling.core.seeds import numpy_rng
from xling.model.similarity import linear_cka

Call = Callable[..., Any]


def layers(name: str, rows: int = 150) -> list[np.ndarray]:
    base, own = numpy_rng("study base").normal(size=(rows, 8)), numpy_rng("study own", name)
    return [(base @ own.normal(size=(8, 8)) + own.normal(size=(rows, 8))).astype(np.float32) for _ in range(3)]


def side(folder: Path, name: str, language: str, kind: str = "trained") -> dict[str, str]:
    """Write the states of one side and return how the plan names it."""
    write_states(states_file(folder / name, kind, "parallel", language), layers(f"{name} {kind}"), {})
    return {"folder": str(folder / name), "kind": kind, "language": language}


def write_plan(folder: Path) -> dict[str, Any]:
    seeds = [[side(folder, f"en{s}", "en"), side(folder, f"fr{s}", "fr")] for s in (1, 2)]
    untrained = [[side(folder, "en1", "en"), side(folder, "fr1", "fr", "untrained")]]
    mono = {"pair": "en-fr", "model": "monolingual", "seeds": seeds}
    random = {"pair": "en-fr", "model": "random", "seeds": untrained}
    return {"set": "parallel", "config": "abc", "comparisons": [mono, random]}


def run(call: Call, folder: Path, plan: object) -> Any:
    (folder / "plan.json").write_text(json.dumps(plan))
    return call(main, "--plan", folder / "plan.json", "--out", folder / "out.json")


def test_every_comparison_is_the_mean_over_seeds_of_every_layer_with_every_layer(call: Call, tmp_path: Path) -> None:
    done = run(call, tmp_path, write_plan(tmp_path))
    assert done.code == 0, done.error
    result = read_json(tmp_path / "out.json")
    mono, random = result["records"]
    sides = [[layers(f"{code}{seed} trained") for code in ("en", "fr")] for seed in (1, 2)]
    expected = np.array([[[linear_cka(x, y) for y in right] for x in left] for left, right in sides])
    mean = expected.mean(axis=0)
    np.testing.assert_allclose(mono["matrix"], mean, atol=1e-6)
    diagonal = {f"L{layer}": mean[layer, layer] for layer in range(3)}
    assert mono["cka"] == pytest.approx(diagonal | {"AVER": np.trace(mean) / 3}, abs=1e-6)
    assert mono["by_seed"] == pytest.approx([np.trace(one) / 3 for one in expected], abs=1e-6)
    first = linear_cka(layers("en1 trained")[0], layers("fr1 untrained")[0])
    assert random["cka"]["L0"] == pytest.approx(first, abs=1e-6)
    assert ((random["pair"], random["model"]), result["config"]) == (("en-fr", "random"), "abc")


def test_a_pair_of_files_is_read_once_in_blocks(call: Call, tmp_path: Path) -> None:
    left, right = layers("left", 2500), layers("right", 2500)
    for name, states in (("l", left), ("r", right)):
        write_states(tmp_path / f"{name}.safetensors", states, {})
    files = ["--left", tmp_path / "l.safetensors", "--right", tmp_path / "r.safetensors"]
    assert call(main, *files, "--out", tmp_path / "out.json").code == 0
    result = read_json(tmp_path / "out.json")
    expected = [linear_cka(x.astype(float), y.astype(float)) for x, y in zip(left, right, strict=True)]
    assert [result["cka"][f"L{layer}"] for layer in range(3)] == pytest.approx(expected, abs=5e-7)
    assert [result["matrix"][i][i] for i in range(3)] == pytest.approx(expected, abs=5e-7)
    assert result["cka"]["AVER"] == pytest.approx(np.mean(expected), abs=5e-7)
    assert result["sentences"] == 2500
    states, asked = States(tmp_path / "l.safetensors"), []
    read = states.read
    states.read = lambda layer, start, stop: asked.append(stop - start) or read(layer, start, stop)  # type: ignore[method-assign]
    compare(states, states)
    assert max(asked) <= 1024
    assert len(asked) == 2 * 3 * 3  # sides, layers, blocks: everything once


@pytest.mark.parametrize(
    ("comparisons", "problem"),
    [
        ([], "comparisons: expected a list of one or more"),
        ([{"pair": "en-fr"}], "comparisons[0]: expected an object with pair, model, seeds"),
        ([{"pair": "en-fr", "model": "x", "seeds": [[{}]]}], "comparisons[0].seeds[0]: expected a list of 2"),
        ([{"pair": "en-fr", "model": "x", "seeds": [[{}, {}]]}], "seeds[0][0]: expected an object with folder, kind"),
    ],
)
def test_a_plan_that_lacks_something_says_what(call: Call, tmp_path: Path, comparisons: Any, problem: str) -> None:
    refused(call, tmp_path, {"set": "parallel", "config": "", "comparisons": comparisons}, problem)


@pytest.mark.parametrize(
    ("spoilt", "problem"),
    [
        ([x[:9] for x in layers("fr")], "parallel.fr.safetensors: 9 rows, but"),
        ([x * 0 for x in layers("fr")], "CKA is undefined: all vectors of layer 0 or 0 are the same"),
    ],
)
def test_states_that_cannot_be_compared(call: Call, tmp_path: Path, spoilt: list[np.ndarray], problem: str) -> None:
    plan = write_plan(tmp_path)
    write_states(states_file(tmp_path / "fr2", "trained", "parallel", "fr"), spoilt, {})
    refused(call, tmp_path, plan, problem)


def refused(call: Call, folder: Path, plan: object, problem: str) -> None:
    done = run(call, folder, plan)
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (folder / "out.json").exists()
