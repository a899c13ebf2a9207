"""Schema and defaults are kept in step: every key is described, every default stands in config.yaml."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from embedded import EMBEDDED, ROOT
from sacremoses.corpus import NonbreakingPrefixes

from workflow_scripts.checks import check
from workflow_scripts.config import merge, read_config, read_yaml, schema, schema_problems
from workflow_scripts.grid import describe_run, trained_models


def properties(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every described key of a schema with its path."""
    if isinstance(node, dict):
        for key, value in node.get("properties", {}).items():
            yield f"{path}/{key}", value
        for key, value in node.items():
            yield from properties(value, f"{path}/{key}")
    elif isinstance(node, list):
        for item in node:
            yield from properties(item, path)


def test_every_key_has_a_description() -> None:
    found = list(properties(schema()))
    assert len(found) > 100
    assert [path for path, value in found if not value.get("description")] == []


def test_every_object_refuses_unknown_keys() -> None:
    def objects(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            if node.get("type") in ("object", ["object", "null"]):
                yield node
            for value in node.values():
                yield from objects(value)
        elif isinstance(node, list):
            for item in node:
                yield from objects(item)

    assert [node for node in objects(schema()) if node.get("additionalProperties", True) is True] == []


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_languages_of_moses_are_those_that_it_has_rules_for() -> None:
    listed = schema()["$defs"]["language"]["properties"]["moses"]["enum"]
    assert listed == [None, *sorted(set(NonbreakingPrefixes().available_langs.values()))]


def test_config_yaml_is_complete() -> None:
    """Keys of fixed sections (not languages, pairs, settings) are exactly the schema's."""
    for section, rules in schema()["properties"].items():
        if "properties" in rules:
            assert set(EMBEDDED[section]) == set(rules["properties"]), section


@pytest.mark.parametrize("preset", sorted(path.name for path in (ROOT / "presets").glob("*.yaml")))
def test_each_preset_is_sound_and_holds_only_what_differs(preset: str) -> None:
    path = ROOT / "presets" / preset
    config = read_config(ROOT / "config.yaml", path)
    assert schema_problems(config) == []
    if config["data"]["origin"] != "local":
        check(config)
    assert config["study"]["name"] == path.stem
    assert list(repeated(EMBEDDED, read_yaml(path))) == []


@pytest.mark.parametrize("preset", ["demo-full.yaml", "mini.yaml", "paper.yaml"])
def test_the_second_seed_goes_on_top_of_any_preset(preset: str) -> None:
    overlay = ROOT / "presets/overlays/two-seeds.yaml"
    once = read_config(ROOT / "config.yaml", ROOT / "presets" / preset)
    twice = read_config(ROOT / "config.yaml", ROOT / "presets" / preset, overlay)
    assert schema_problems(twice) == []
    added = {model.name for model in trained_models(twice)} - {model.name for model in trained_models(once)}
    assert {name.rsplit(".", 1)[1] for name in added} == {"s2"}
    assert len(added) == 6 * 3 + 2 + 6  # settings of every pair, what Figure 7 has besides, monolingual models


OVERLAYS = [
    ("sep-tokens.yaml", ["demo-full.yaml", "mini.yaml", "paper.yaml"]),
    ("mini-levers.yaml", ["mini.yaml"]),
    ("mini-seeds.yaml", ["mini.yaml"]),
]
STUDIES = {  # on top of mini: studies of their own, with other budgets, text or subwords
    "mini-exposure.yaml": "ru",
    "mini-web.yaml": "ru",
    "mini-longer.yaml": "ru",
    "mini-merges.yaml": "zh",
}


def test_every_overlay_is_tried() -> None:
    there = {path.name for path in (ROOT / "presets/overlays").glob("*.yaml")}
    assert there == {"two-seeds.yaml", *STUDIES, *(name for name, _ in OVERLAYS)}


def mini(*overlays: str) -> dict[str, Any]:
    """Return mini's configuration with some overlays on top."""
    return read_config(
        ROOT / "config.yaml", ROOT / "presets/mini.yaml", *(ROOT / "presets/overlays" / o for o in overlays)
    )


@pytest.mark.parametrize(("overlay", "other"), STUDIES.items())
def test_a_study_on_top_of_mini_has_a_name_of_its_own_and_the_same_models(overlay: str, other: str) -> None:
    """So that neither overwrites what the other made, and they can be compared model by model."""
    config = mini(overlay)
    assert schema_problems(config) == []
    assert f"{config['study']['name']}.yaml" == overlay
    names, known = ({model.name for model in trained_models(c)} for c in (config, mini()))
    assert {"en.mono.s1", f"{other}.mono.s1", f"en-{other}.default.s1"} <= names <= known


def test_a_third_seed_changes_nothing_but_the_seed() -> None:
    config, twice = mini("mini-seeds.yaml"), mini("two-seeds.yaml")
    models, known = trained_models(config), {model.name: model for model in trained_models(twice)}
    assert {model.seed for model in models}.isdisjoint(model.seed for model in known.values())
    for model in models:
        first = known[f"{model.name.rsplit('.', 1)[0]}.s1"]
        runs = [describe_run(config, model), describe_run(twice, first)]
        assert {key for key in runs[0] | runs[1] if runs[0].get(key) != runs[1].get(key)} == {"model", "seed"}


def test_monolingual_models_of_equal_exposure_read_as_much_of_a_language_as_bilingual_ones() -> None:
    def tokens(config: dict[str, Any]) -> dict[str, float]:
        """Return how many tokens of each of its languages a model reads, the languages taken as equally large."""
        runs = [describe_run(config, model) for model in trained_models(config)]
        parts = [(run, run["pretrain"]) for run in runs]
        return {
            run["model"]: p["updates"] * p["micro_batches"] * p["micro_batch_tokens"] / len(run["languages"])
            for run, p in parts
        }

    here, below = tokens(mini("mini-exposure.yaml")), tokens(mini())
    assert here["ru.mono.s1"] == here["en-ru.default.s1"] == below["en-ru.default.s1"]
    assert below["ru.mono.s1"] == 2 * here["ru.mono.s1"]


@pytest.mark.parametrize(("overlay", "preset"), [(name, preset) for name, fits in OVERLAYS for preset in fits])
def test_each_setting_of_an_overlay_is_a_model_of_its_own(overlay: str, preset: str) -> None:
    """All differ in what decides their weights, and those of the paper stay what they are."""
    below = read_config(ROOT / "config.yaml", ROOT / "presets" / preset)
    config = read_config(ROOT / "config.yaml", ROOT / "presets" / preset, ROOT / "presets/overlays" / overlay)
    assert schema_problems(config) == []
    known, runs = ({m.name: describe_run(c, m) for m in trained_models(c)} for c in (below, config))
    described = [json.dumps({k: v for k, v in run.items() if k != "model"}, sort_keys=True) for run in runs.values()]
    assert len(set(described)) == len(runs)
    assert all(runs[name] == known[name] for name in runs.keys() & known.keys())
    assert runs.keys() - known.keys()


def repeated(base: Any, top: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the keys of a preset that say what config.yaml says already."""
    for key, value in top.items():
        if key not in base:
            continue
        if isinstance(value, dict) and isinstance(base[key], dict):
            yield from repeated(base[key], value, f"{path}.{key}")
        elif base[key] == value:
            yield f"{path}.{key}"


def test_merging_replaces_lists_and_keeps_other_keys() -> None:
    assert merge({"a": {"b": [1, 2], "c": 3}}, {"a": {"b": [4]}}) == {"a": {"b": [4], "c": 3}}
