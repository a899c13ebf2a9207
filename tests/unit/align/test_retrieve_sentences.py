"""Figure 6 for several languages and seeds: layers, directions, with and without the map, untrained encoders beside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.intervals import summarise
from xling.align.represent_encoder import states_file
from xling.align.retrieve_sentences import main
from xling.align.states import write_states
from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

TURN = np.linalg.qr(numpy_rng("sentence turn").normal(size=(16, 16)))[0].astype(np.float32)
SIZES = {"parallel": 120, "tatoeba-fr": 80}


def meaning(name: str) -> np.ndarray:
    return numpy_rng("meaning", name).normal(size=(SIZES[name], 16)).astype(np.float32)


def write_folder(folder: Path, code: str) -> str:
    """Write two layers: what the sentences mean, turned in French, and noise; untrained encoders are noise only."""
    for name in SIZES:
        for kind in ("trained", "untrained"):
            layers = [numpy_rng(folder.name, name, kind, i).normal(size=(SIZES[name], 16)) for i in range(2)]
            if kind == "trained":
                layers[0] = meaning(name) @ (TURN if code == "fr" else np.eye(16))
            path = states_file(folder, kind, name, code)
            write_states(path, [layer.astype(np.float32) for layer in layers], {}, list(map(str, range(SIZES[name]))))
    return str(folder)


def write_plan(folder: Path) -> dict[str, Any]:
    folders = {code: write_folder(folder / code, code) for code in ("en", "fr")}
    return {"source": "en", "languages": {"fr": {"seeds": [folders], "fit": "parallel", "test": "tatoeba-fr"}}}


def test_the_map_finds_what_a_rotation_hid(call: Callable[..., Any], tmp_path: Path) -> None:
    plan = json.dumps(write_plan(tmp_path))
    done = call(main, "--plan", plan, "--config-hash", "abc", "--device", "cpu", "--out", tmp_path / "out.json")
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    records = {(r["encoders"], r["layer"], r["space"], r["direction"]): r for r in result["records"]}
    assert len(records) == len(result["records"]) == 2 * 2 * 2 * 2
    for direction in ("en-x", "x-en"):
        assert records["trained", 0, "mapped", direction]["p1"] == 1
        assert records["trained", 0, "plain", direction]["p1"] < 0.2
        assert records["trained", 1, "mapped", direction]["p1"] < 0.2
        assert records["untrained", 0, "mapped", direction]["p1"] < 0.2
    assert {record["chance"] for record in result["records"]} == {1 / 80}
    assert result["config"] == "abc"


@pytest.mark.parametrize(
    ("rows", "layers", "problem"),
    [
        (79, 2, "tatoeba-fr.fr.safetensors: 79 rows, but"),
        (80, 3, "tatoeba-fr.fr.safetensors: 3 layers, but"),
        (0, 2, "empty where vectors were expected"),
    ],
)
def test_bad_input_is_one_line(call: Callable[..., Any], tmp_path: Path, rows: int, layers: int, problem: str) -> None:
    plan = json.dumps(write_plan(tmp_path))
    path = states_file(tmp_path / "fr", "trained", "tatoeba-fr", "fr")
    write_states(path, [np.ones((rows, 16), dtype=np.float32)] * layers, {})
    done = call(main, "--plan", plan, "--device", "cpu", "--out", tmp_path / "out.json")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"source": "en", "languages": ["fr"]}, "--plan: languages: expected a JSON object"),
        ({"source": "en", "languages": {"fr": {}}}, "languages.fr: expected a JSON object with seeds, fit, test"),
        (
            {"source": "en", "languages": {"fr": {"seeds": [], "fit": "a", "test": "b"}}},
            "--plan: languages.fr.seeds: expected a JSON list of one or more",
        ),
        (
            {"source": "en", "languages": {"fr": {"seeds": [{"en": "x"}], "fit": "a", "test": "b"}}},
            "--plan: languages.fr.seeds: expected a JSON object with en, fr",
        ),
    ],
)
def test_a_plan_that_lacks_something_says_what(
    call: Callable[..., Any], tmp_path: Path, plan: Any, problem: str
) -> None:
    done = call(main, "--plan", json.dumps(plan), "--device", "cpu", "--out", tmp_path / "out.json")
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert not (tmp_path / "out.json").exists()


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
