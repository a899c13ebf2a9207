"""Sentence retrieval: equal to a direct count, the map undoes a rotation, intervals, and input that is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.intervals import summarise
from xling.align.retrieve_sentences import main, retrieve, retrieve_mapped
from xling.align.states import states_file, write_states
from xling.core.errors import XlingError
from xling.core.io import read_json, write_json
from xling.core.seeds import numpy_rng

Call = Callable[..., Any]
RNG = numpy_rng("sentences")
TURN = np.linalg.qr(RNG.normal(size=(32, 32)))[0].astype(np.float32)
FIT, TEST = RNG.normal(size=(600, 32)).astype(np.float32), RNG.normal(size=(300, 32)).astype(np.float32)
SETS = {"parallel": FIT, "tatoeba-fr": TEST}


def test_both_directions_equal_a_direct_count() -> None:
    other = TEST + 1.5 * numpy_rng("noise").normal(size=TEST.shape).astype(np.float32)
    cosines = (TEST / np.linalg.norm(TEST, axis=1)[:, None]) @ (other / np.linalg.norm(other, axis=1)[:, None]).T
    scores = retrieve(TEST, other)
    assert scores["left_to_right"] == pytest.approx(np.mean(cosines.argmax(axis=1) == np.arange(300)))
    assert scores["right_to_left"] == pytest.approx(np.mean(cosines.argmax(axis=0) == np.arange(300)))
    assert 0.1 < scores["mean"] < 1
    assert scores["left_to_right"] != scores["right_to_left"]
    assert retrieve(TEST, FIT[:300])["mean"] < 0.02  # chance
    with pytest.raises(XlingError, match="300 sentences on the left, 600 on the right"):
        retrieve(TEST, FIT)


def test_swapping_the_sides_swaps_the_directions_with_the_map_too() -> None:
    noise = numpy_rng("swap").normal(size=TEST.shape).astype(np.float32)
    one = retrieve_mapped(TEST, TEST @ TURN + noise, FIT, FIT @ TURN)
    other = retrieve_mapped(TEST @ TURN + noise, TEST, FIT @ TURN, FIT)
    assert (one["left_to_right"], one["right_to_left"]) == (other["right_to_left"], other["left_to_right"])


def write_folder(folder: Path, code: str) -> str:
    """Write two layers: what the sentences mean, turned in French, and noise; untrained encoders are noise only."""
    for name, meaning in SETS.items():
        for kind in ("trained", "untrained"):
            layers = [numpy_rng(folder.name, name, kind, i).normal(size=meaning.shape) for i in range(2)]
            if kind == "trained":
                layers[0] = meaning @ (TURN if code == "fr" else np.eye(32))
            items = list(map(str, range(len(meaning))))
            write_states(states_file(folder, kind, name, code), [x.astype(np.float32) for x in layers], {}, items)
    return str(folder)


@pytest.fixture
def plan(tmp_path: Path) -> dict[str, Any]:
    folders = {code: write_folder(tmp_path / code, code) for code in ("en", "fr")}
    fr = {"seeds": [folders], "fit": "parallel", "test": "tatoeba-fr"}
    return {"source": "en", "config": "abc", "languages": {"fr": fr}}


def test_a_study_has_every_layer_direction_and_space(call: Call, tmp_path: Path, plan: dict[str, Any]) -> None:
    write_json(tmp_path / "plan.json", plan)
    flags = ["--plan", tmp_path / "plan.json", "--device", "cpu"]
    done = call(main, *flags, "--out", tmp_path / "out.json")
    assert done.code == 0, done.error
    result = read_json(tmp_path / "out.json")
    records = {(r["encoders"], r["layer"], r["space"], r["direction"]): r for r in result["records"]}
    assert len(records) == len(result["records"]) == 2 * 2 * 2 * 2
    for direction in ("en-x", "x-en"):
        assert records["trained", 0, "mapped", direction]["p1"] == 1
        for kind, layer, space in (("trained", 0, "plain"), ("trained", 1, "mapped"), ("untrained", 0, "mapped")):
            assert records[kind, layer, space, direction]["p1"] < 0.2
    assert {record["chance"] for record in result["records"]} == {1 / 300}
    assert result["config"] == "abc"


@pytest.mark.usefixtures("plan")
def test_a_pair_of_files_has_every_layer_and_chance(call: Call, tmp_path: Path) -> None:
    names = {"left": "tatoeba-fr", "right": "tatoeba-fr", "fit-left": "parallel", "fit-right": "parallel"}
    codes = dict(zip(names, ("en", "fr", "en", "fr"), strict=True))
    files = {flag: states_file(tmp_path / codes[flag], "trained", name, codes[flag]) for flag, name in names.items()}
    flags = [part for flag, path in files.items() for part in (f"--{flag}", path)]
    assert call(main, *flags, "--device", "cpu", "--out", tmp_path / "out.json").code == 0
    result = read_json(tmp_path / "out.json")
    assert result["layers"]["L0"]["mapped"] == {"left_to_right": 1, "right_to_left": 1, "mean": 1}
    assert result["layers"]["L0"]["plain"]["mean"] < 0.05
    assert list(result["layers"]) == ["L0", "L1"]
    assert (result["chance"], result["sentences"], result["fitted_on"]) == (1 / 300, 300, 600)
    for wrong in (flags[:2], flags[:6], [*flags, "--plan", "x"], []):
        found = call(main, *wrong, "--out", tmp_path / "out.json")
        assert (found.code, found.error.count("\n")) == (2, 1)
        assert "--fit-left and --fit-right go together" in found.error or "either --plan, or --left and" in found.error


def test_sides_that_do_not_belong_together_are_one_line(call: Call, tmp_path: Path, plan: dict[str, Any]) -> None:
    for code in ("en", "fr"):  # parallel to each other, but deeper than the set that the map is fitted on
        path = states_file(tmp_path / code, "trained", "tatoeba-fr", code)
        write_states(path, [np.ones((300, 32), dtype=np.float32)] * 3, {})
    refused(call, tmp_path, json.dumps(plan), "parallel.en.safetensors: 2 layers, but")
    write_states(path, [np.ones((299, 32), dtype=np.float32)] * 3, {})
    refused(call, tmp_path, json.dumps(plan), "tatoeba-fr.fr.safetensors: 299 rows, but")


ONE = {"fit": "a", "test": "b"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"source":', "plan.json, line 1: not JSON"),
        ("{}", "plan.json: the plan: expected an object with source, languages, config"),
        ({"fr": {}}, "plan.json: languages.fr: expected an object with seeds, fit, test"),
        ({"fr": {"seeds": [], **ONE}}, "languages.fr.seeds: expected a list of one or more"),
        ({"fr": {"seeds": [{"en": "x"}], **ONE}}, "languages.fr.seeds[0]: expected an object with en, fr"),
        (["fr"], "plan.json: languages: expected an object"),
    ],
)
def test_a_plan_that_lacks_something_says_what(call: Call, tmp_path: Path, text: Any, problem: str) -> None:
    plan = text if isinstance(text, str) else json.dumps({"source": "en", "config": "", "languages": text})
    refused(call, tmp_path, plan, problem)


def refused(call: Call, folder: Path, plan: str, problem: str) -> None:
    (folder / "plan.json").write_text(plan)
    done = call(main, "--plan", folder / "plan.json", "--device", "cpu", "--out", folder / "out.json")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (folder / "out.json").exists()


def test_an_interval_is_the_binomial_one_and_seeds_are_averaged_item_by_item() -> None:
    hits = np.arange(400) % 4 == 0
    always, (single,) = summarise([[np.ones(400, dtype=bool)]], "a"), summarise([[hits]], "a")
    assert (always[0]["p1"], always[0]["low"], always[0]["high"]) == (1, 1, 1)
    half_width = 1.96 * np.sqrt(0.25 * 0.75 / 400)
    assert single["p1"] == 0.25
    assert [single["low"], single["high"]] == pytest.approx([0.25 - half_width, 0.25 + half_width], abs=0.008)
    (both,) = summarise([[hits, ~hits]], "a")
    assert (both["p1"], both["low"], both["high"]) == (0.5, 0.5, 0.5)  # every item is right for one of two seeds
    assert both["by_seed"] == [0.25, 0.75]
    with pytest.raises(XlingError, match=r"different numbers of test items: \[3, 400\]"):
        summarise([[hits], [hits[:3]]], "a")
