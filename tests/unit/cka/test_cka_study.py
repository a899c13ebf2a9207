"""Figure 7 for all pairs in one job: which sides are compared, layers, averages, matrices and seeds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.represent_encoder import states_file
from xling.align.states import write_states
from xling.cka.compare_encoders import main
from xling.core.seeds import numpy_rng
from xling.model.similarity import linear_cka


def layers(name: str) -> list[np.ndarray]:
    base = numpy_rng("study base").normal(size=(150, 8))
    own = numpy_rng("study own", name)
    return [(base @ own.normal(size=(8, 8)) + own.normal(size=(150, 8))).astype(np.float32) for _ in range(3)]


def side(folder: Path, name: str, language: str, kind: str = "trained") -> dict[str, str]:
    """Write the states of one side and return how the plan names it."""
    write_states(states_file(folder / name, kind, "parallel", language), layers(f"{name} {kind}"), {})
    return {"folder": str(folder / name), "kind": kind, "language": language}


def write_plan(folder: Path) -> dict[str, Any]:
    seeds = [[side(folder, f"en{s}", "en"), side(folder, f"fr{s}", "fr")] for s in (1, 2)]
    untrained = [[side(folder, "en1", "en"), side(folder, "fr1", "fr", "untrained")]]
    mono = {"pair": "en-fr", "model": "monolingual", "seeds": seeds}
    return {"set": "parallel", "comparisons": [mono, {"pair": "en-fr", "model": "random", "seeds": untrained}]}


def test_every_comparison_is_the_mean_over_seeds_of_every_layer_with_every_layer(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    plan = json.dumps(write_plan(tmp_path))
    done = call(main, "--plan", plan, "--config-hash", "abc", "--out", tmp_path / "out.json")
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    mono, random = result["records"]
    expected = [
        [[linear_cka(x, y) for y in layers(f"fr{s} trained")] for x in layers(f"en{s} trained")] for s in (1, 2)
    ]
    mean = np.mean(expected, axis=0)
    np.testing.assert_allclose(mono["matrix"], mean, atol=1e-6)
    assert mono["cka"] == pytest.approx(
        {"L0": mean[0, 0], "L1": mean[1, 1], "L2": mean[2, 2], "AVER": np.trace(mean) / 3}, abs=1e-6
    )
    assert mono["by_seed"] == pytest.approx([np.trace(one) / 3 for one in np.array(expected)], abs=1e-6)
    first = linear_cka(layers("en1 trained")[0], layers("fr1 untrained")[0])
    assert random["cka"]["L0"] == pytest.approx(first, abs=1e-6)
    assert ((random["pair"], random["model"]), result["config"]) == (("en-fr", "random"), "abc")


@pytest.mark.parametrize(
    ("comparisons", "problem"),
    [
        ([], "--plan: comparisons: expected a JSON list of one or more"),
        ([{"pair": "en-fr"}], "--plan: comparisons[0]: expected a JSON object with pair, model, seeds"),
        (
            [{"pair": "en-fr", "model": "random", "seeds": [[{}]]}],
            "--plan: comparisons[0].seeds: expected a JSON list of 2",
        ),
        (
            [{"pair": "en-fr", "model": "random", "seeds": [[{}, {}]]}],
            "--plan: comparisons[0].seeds: expected a JSON object with folder, kind, language",
        ),
    ],
)
def test_a_plan_that_lacks_something_says_what(
    call: Callable[..., Any], tmp_path: Path, comparisons: list[Any], problem: str
) -> None:
    plan = json.dumps({"set": "parallel", "comparisons": comparisons})
    done = call(main, "--plan", plan, "--out", tmp_path / "out.json")
    assert (done.code, done.error) == (2, f"error: {problem}\n")
    assert not (tmp_path / "out.json").exists()


def test_sides_of_different_length_are_refused(call: Callable[..., Any], tmp_path: Path) -> None:
    plan = json.dumps(write_plan(tmp_path))
    write_states(states_file(tmp_path / "fr2", "trained", "parallel", "fr"), [x[:9] for x in layers("fr")], {})
    done = call(main, "--plan", plan, "--out", tmp_path / "out.json")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert "parallel.fr.safetensors: 9 rows, but" in done.error
    assert not (tmp_path / "out.json").exists()
