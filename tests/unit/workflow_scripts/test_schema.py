"""The tree of keys, the files made from it, config.yaml and the presets are kept in step."""

import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
from embedded import EMBEDDED, ROOT, leaves
from sacremoses.corpus import NonbreakingPrefixes

from workflow_scripts.checks import check
from workflow_scripts.config import read_config, read_yaml
from workflow_scripts.config_reference import json_schema, markdown
from workflow_scripts.files import TASK_DATA
from workflow_scripts.schema import Tasks, schema_problems
from workflow_scripts.study import Study
from xling.core.provenance import git
from xling.core.tasks import TASKS

SCHEMA = json_schema()


def test_the_reference_is_up_to_date():
    """After a change of a key: python -m workflow_scripts.config_reference"""
    assert json.loads((ROOT / "docs/config.schema.json").read_text(encoding="utf-8")) == SCHEMA
    assert (ROOT / "docs/config.md").read_text(encoding="utf-8") == markdown(SCHEMA, EMBEDDED)


def test_an_editor_takes_what_is_right_and_marks_what_is_wrong():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    editor = jsonschema.Draft202012Validator(SCHEMA)
    for path in [ROOT / "config.yaml", *(ROOT / "presets").rglob("*.yaml")]:
        assert list(editor.iter_errors(read_yaml(path))) == [], path
    for wrong in ({"pretrain": {"warm_up": 1}}, {"languages": {"EN": {}}}, {"settings": {"default": {"bpe": "two"}}}):
        assert not editor.is_valid(wrong)


def test_the_languages_of_moses_are_those_that_it_has_rules_for():
    listed = SCHEMA["$defs"]["Language"]["properties"]["moses"]["enum"]
    assert listed == [None, *sorted(set(NonbreakingPrefixes().available_langs.values()))]


def read(*names):
    """Return the study of config.yaml with a preset and overlays on top, each named without its suffix."""
    paths = [next((ROOT / "presets").rglob(f"{name}.yaml")) for name in names]
    config = read_config(ROOT / "config.yaml", *paths)
    assert schema_problems(config) == []
    return Study(config)


def runs(*names):
    """Return what decides each model, apart from the data it reads."""
    one = read(*names)
    return {name: one.describe_run(model) for name, model in one.models.items()}


@pytest.mark.parametrize("preset", ["demo-full", "mini", "paper"])
def test_each_preset_is_sound_holds_only_what_differs_and_takes_a_second_seed(preset):
    one, base = read(preset), dict(leaves(EMBEDDED))
    if one.config["data"]["origin"] != "local":
        check(one.config)
    assert one.config["study"]["name"] == preset
    own = leaves(read_yaml(ROOT / f"presets/{preset}.yaml"))
    assert [path for path, value in own if path in base and base[path] == value] == []
    more = read(preset, "two-seeds").models.keys() - one.models
    assert {name.rsplit(".", 1)[1] for name in more} == {"s2"}
    assert len(more) == 6 * 3 + 2 + 6  # settings of every pair, what Figure 7 has besides, monolingual models
    assert len(read(preset, "three-seeds").models) == 3 * len(one.models)


SETTINGS = {"sep-tokens": ["demo-full", "mini", "paper"], "starts": ["demo-full"]}


def test_every_preset_is_tried():
    """Apart from a user's own, which are not committed."""
    listed = git(ROOT, "-c", "safe.directory=*", "ls-files", "presets")  # the checkout may be another user's
    if not listed:
        pytest.skip("not a checkout, so it is not known which presets are committed")
    elsewhere = {"two-seeds", "three-seeds", "mini-updates", "mini-starts"}  # above and below
    elsewhere |= {"mini-next", "mini-recipe"}  # test_recipe.py
    tried = {"demo-full", "mini", "paper"} | elsewhere | {*SETTINGS}
    assert {Path(name).stem for name in listed.split()} == tried, "name it in SETTINGS or `elsewhere`"


def test_the_workflow_knows_every_task():
    assert list(Tasks.__pydantic_fields__) == list(TASKS), "workflow_scripts/schema.py"
    assert set(TASK_DATA) == {task.data for task in TASKS.values()}, "workflow_scripts/files.py"


def test_settings_whose_separate_parameters_begin_apart_join_mini_next():
    known, joined = runs("mini", "mini-next"), runs("mini", "mini-next", "mini-starts")
    apart = {name: run for name, run in joined.items() if name not in known}
    assert len(apart) == 2 * 2 * 3  # settings, pairs, seeds
    for name, run in apart.items():
        equal = known[name.replace("-apart", "")]
        assert run | {"model": equal["model"], "separate": run["separate"] | {"start": "equal"}} == equal
    assert all(joined[name] == known[name] for name in joined.keys() - apart)


def test_the_study_of_updates_has_every_setting_at_four_lengths_and_else_as_in_mini_next():
    known, lengths = runs("mini", "mini-next"), {"3k": 3050, "6k": 6100, "12k": 12200, "244k": 244000}
    for name, run in runs("mini", "mini-next", "mini-updates").items():
        cell, _, length = name.removesuffix(".s1").rpartition("-")
        base = known[f"{cell}.s1" if length in lengths else name]
        own = {"updates": lengths[length]} if length in lengths else {}
        assert run == base | {"model": name, "pretrain": base["pretrain"] | own}
    counted = Counter(read("mini", "mini-next", "mini-updates").differing_updates.values())
    assert counted == {24400: 10, 3050: 10, 6100: 10, 12200: 10, 244000: 2}


@pytest.mark.parametrize(("overlay", "preset"), [(name, one) for name, some in SETTINGS.items() for one in some])
def test_each_setting_of_an_overlay_is_a_model_of_its_own(overlay, preset):
    """All differ in what decides their weights, and those of the paper stay what they are."""
    known, now = runs(preset), runs(preset, overlay)
    described = [json.dumps({k: v for k, v in run.items() if k != "model"}, sort_keys=True) for run in now.values()]
    assert len(set(described)) == len(now)
    assert all(now[name] == known[name] for name in now.keys() & known.keys())
    assert now.keys() - known.keys()
