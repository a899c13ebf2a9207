"""Figure 7: all pairs of a plan, read in blocks; input that is wrong."""

import numpy as np
import pytest

from xling.align.states import States, states_file, write_states
from xling.cka.compare_encoders import main
from xling.core.io import read_json, write_json
from xling.core.seeds import numpy_rng
from xling.model.similarity import linear_cka


def layers(name, rows=1500):
    base, own = numpy_rng("study base").normal(size=(rows, 8)), numpy_rng("study own", name)
    return [(base @ own.normal(size=(8, 8)) + own.normal(size=(rows, 8))).astype(np.float32) for _ in range(3)]


def side(folder, name, language, kind="trained"):
    """Write the states of one side and return how the plan names it."""
    write_states(states_file(folder / name, kind, "parallel", language), layers(f"{name} {kind}"), {})
    return {"folder": str(folder / name), "kind": kind, "language": language}


def write_plan(folder):
    trained = [side(folder, code, code) for code in ("en", "fr")]
    mono = {"pair": "en-fr", "model": "monolingual", "sides": trained}
    random = {"pair": "en-fr", "model": "random", "sides": [trained[0], side(folder, "fr", "fr", "untrained")]}
    return {"set": "parallel", "seed": 1, "config": "abc", "comparisons": [mono, random]}


def test_a_comparison_is_that_of_every_layer_with_every_layer(call, tmp_path, monkeypatch):
    asked, read = [], States.read
    monkeypatch.setattr(States, "read", lambda *given: asked.append(given) or read(*given))
    write_json(tmp_path / "plan.json", write_plan(tmp_path))
    done = call(main, "--plan", tmp_path / "plan.json", "--out", tmp_path / "out.json")
    assert done.code == 0, done.error
    result = read_json(tmp_path / "out.json")
    mono, random = result["records"]
    assert len(asked) == 4 * 3 * 2  # sides, layers, blocks: everything once per comparison
    assert max(stop - start for _, _, start, stop in asked) <= 1024
    left, right = (layers(f"{code} trained") for code in ("en", "fr"))
    expected = np.array([[linear_cka(x, y) for y in right] for x in left])
    np.testing.assert_allclose(mono["matrix"], expected, atol=1e-6)
    diagonal = {f"L{layer}": expected[layer, layer] for layer in range(3)}
    assert mono["cka"] == pytest.approx(diagonal | {"AVER": np.trace(expected) / 3}, abs=1e-6)
    first = linear_cka(left[0], layers("fr untrained")[0])
    assert random["cka"]["L0"] == pytest.approx(first, abs=1e-6)
    assert ((random["pair"], random["model"]), result["config"]) == (("en-fr", "random"), "abc")


@pytest.mark.parametrize(
    ("states", "problem"),
    [
        ([x[:9] for x in layers("fr")], "parallel.fr.safetensors: 9 rows, but"),
        ([x * 0 for x in layers("fr")], "CKA is undefined: all vectors of layer 0 or 0 are the same"),
        ([], "comparisons: expected at least 1 items"),
    ],
)
def test_plans_that_lack_something_and_states_that_cannot_be_compared(refused, tmp_path, states, problem):
    plan, out = write_plan(tmp_path), tmp_path / "out.json"
    if states:
        write_states(states_file(tmp_path / "fr", "trained", "parallel", "fr"), states, {})
    write_json(tmp_path / "plan.json", plan if states else plan | {"comparisons": []})
    assert problem in refused(main, "--plan", tmp_path / "plan.json", "--out", out, out=out)
