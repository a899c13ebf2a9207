"""Sentence retrieval: equal to a direct count, the map undoes a rotation, intervals, and input that is wrong."""

from functools import partial

import numpy as np
import pytest

from xling.align.mapping import map_pair
from xling.align.retrieve_sentences import main, retrieval_hits
from xling.align.states import States, states_file, write_states
from xling.core.errors import XlingError
from xling.core.io import read_json, write_json
from xling.core.seeds import numpy_rng
from xling.core.stats import summarise

RNG = numpy_rng("sentences")
TURN = np.linalg.qr(RNG.normal(size=(32, 32)))[0].astype(np.float32)
FIT, TEST = RNG.normal(size=(600, 32)).astype(np.float32), RNG.normal(size=(300, 32)).astype(np.float32)
SETS = {"parallel": FIT, "tatoeba-fr": TEST}


def test_both_directions_equal_a_direct_count():
    other = TEST + 1.5 * numpy_rng("noise").normal(size=TEST.shape).astype(np.float32)
    cosines = (TEST / np.linalg.norm(TEST, axis=1)[:, None]) @ (other / np.linalg.norm(other, axis=1)[:, None]).T
    expected = [cosines.argmax(axis=axis) == np.arange(300) for axis in (1, 0)]
    np.testing.assert_array_equal(retrieval_hits(TEST, other), expected)
    assert 0.1 < expected[0].mean() != expected[1].mean() < 1
    one = retrieval_hits(*map_pair(TEST, other @ TURN, FIT, FIT @ TURN))
    swapped = retrieval_hits(*map_pair(other @ TURN, TEST, FIT @ TURN, FIT))
    np.testing.assert_array_equal(one, swapped[::-1])  # the side that is mapped does not matter


def write_folder(folder, code):
    """Write two layers: what the sentences mean, turned in French, and that with noise; untrained ones are noise only."""
    for name, meaning in SETS.items():
        for kind in ("trained", "untrained"):
            layers = [numpy_rng(folder.name, name, kind, i).normal(size=meaning.shape) for i in range(2)]
            if kind == "trained":
                layers = [meaning @ (TURN if code == "fr" else np.eye(32)), meaning + layers[1]]
            items = list(map(str, range(len(meaning))))
            write_states(states_file(folder, kind, name, code), [x.astype(np.float32) for x in layers], {}, items)
    return str(folder)


@pytest.fixture
def plan(tmp_path):
    folders = {code: write_folder(tmp_path / code, code) for code in ("en", "fr")}
    fr = {"states": folders, "fit": "parallel", "test": "tatoeba-fr"}
    return {"source": "en", "seed": 1, "config": "abc", "languages": {"fr": fr}}


def written(folder, plan):
    """Write a plan and return the flags of the command."""
    write_json(folder / "plan.json", plan)
    return ["--plan", folder / "plan.json", "--device", "cpu", "--out", folder / "out.json"]


def test_a_study_has_every_layer_direction_and_space(call, tmp_path, plan):
    done = call(main, *written(tmp_path, plan))
    assert done.code == 0, done.error
    result = read_json(tmp_path / "out.json")
    records = {(r["encoders"], r["layer"], r["space"], r["direction"]): r for r in result["records"]}
    assert len(records) == len(result["records"]) == 2 * 2 * 2 * 2
    for direction in ("en-x", "x-en"):
        assert records["trained", 0, "mapped", direction]["p1"] == 1
        for kind, space in (("trained", "plain"), ("untrained", "mapped")):
            assert records[kind, 0, space, direction]["p1"] < 0.2
    files = (states_file(tmp_path / code, "trained", name, code) for name in SETS for code in ("en", "fr"))
    *fit, left, right = (States(file).read(1) for file in files)
    for space, sides in (("plain", (left, right)), ("mapped", map_pair(left, right, *fit))):
        shares = [hits.mean() for hits in retrieval_hits(*sides)]
        assert [records["trained", 1, space, x]["p1"] for x in ("en-x", "x-en")] == shares
        assert 0.1 < shares[0] != shares[1]
    assert {record["chance"] for record in result["records"]} == {1 / 300}
    assert result["config"] == "abc"


def test_sides_that_do_not_belong_together_are_one_line(refused, tmp_path, plan):
    refuse = partial(refused, out=tmp_path / "out.json")
    for code in ("en", "fr"):  # parallel to each other, but deeper than the set that the map is fitted on
        path = states_file(tmp_path / code, "trained", "tatoeba-fr", code)
        write_states(path, [np.ones((300, 32), dtype=np.float32)] * 3, {})
    assert "parallel.en.safetensors: 2 layers, but" in refuse(main, *written(tmp_path, plan))
    write_states(path, [np.ones((299, 32), dtype=np.float32)] * 3, {})
    assert "tatoeba-fr.fr.safetensors: 299 rows, but" in refuse(main, *written(tmp_path, plan))
    plan["languages"]["fr"]["states"] = {"en": "x"}
    assert "languages.fr.states: expected folders of en and fr" in refuse(main, *written(tmp_path, plan))


def test_all_scores_are_resampled_with_the_same_items():
    hits = np.arange(400) % 4 == 0
    one, other = summarise([({"x": 1}, hits), ({"x": 2}, ~hits)], "a")
    assert (one["x"], one["p1"], other["p1"]) == (1, 0.25, 0.75)
    assert (1 - one["high"], 1 - one["low"]) == pytest.approx((other["low"], other["high"]))
    half = 1.96 * np.sqrt(0.25 * 0.75 / 400)
    assert (one["low"], one["high"]) == pytest.approx((0.25 - half, 0.25 + half), abs=0.008)
    with pytest.raises(XlingError, match=r"different numbers of test items: \[3, 400\]"):
        summarise([({}, hits), ({}, hits[:3])], "a")
