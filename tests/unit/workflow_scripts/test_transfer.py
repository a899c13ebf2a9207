"""Which encoders a study fine-tunes, beside which floors, in which jobs, and what Table 1 calls its settings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from embedded import ROOT, SEP_TOKENS, study

from workflow_scripts.config import read_config
from workflow_scripts.rows import settings_rows
from workflow_scripts.study import Study
from workflow_scripts.transfer import Transfer
from xling.finetune import run
from xling.finetune.settings import grid_points, parse_settings
from xling.report import published

PAPER = read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml")


def transfer(**changes: Any) -> Transfer:
    return Transfer(Study(study(**changes)))


DEMO = transfer()
FULL = transfer(study={"skip": []})
WHOLE = Transfer(Study(PAPER))


def test_every_model_of_table_1_is_fine_tuned_and_no_other() -> None:
    assert len(FULL.models) == 30
    assert len(DEMO.models) == 10 + 2 * 4
    assert not {"en-de.default.s1", "en-en2.sep-emb.s1", "en-ru.default-anchors.s1"} & set(DEMO.encoders)


def test_floors_are_once_per_pair_and_kind_of_vocabulary() -> None:
    kinds = ("joint", "union", "prefixed", "separate")
    expected = {f"{pair}.untrained-{kind}.s1" for pair in ("en-fr", "en-ru", "en-zh") for kind in kinds}
    assert set(FULL.floors) == expected
    assert expected - set(DEMO.floors) == {f"{pair}.untrained-union.s1" for pair in ("en-ru", "en-zh")}
    seeds = transfer(study={"seeds": [3, 4], "more_seeds": [{"models": ["en-fr.*"], "seeds": [5]}]})
    assert len(seeds.floors) == 10
    assert {floor.seed for floor in seeds.floors.values()} == {3}
    assert len(seeds.models) == 2 * 18 + 10


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("default", "joint"), ("wiki-cc", "joint"), ("extra-anchors", "joint"), ("no-anchors", "prefixed"),
        ("default-anchors", "union"), ("sep-l1-6", "union"), ("sep-emb", "separate"), ("sep-emb-l1-6", "separate"),
    ],
)  # fmt: skip
def test_a_setting_has_the_floor_of_its_vocabulary(setting: str, kind: str) -> None:
    floor = FULL.floor_of(f"en-zh.{setting}.s1")
    assert floor == f"en-zh.untrained-{kind}.s1"
    assert FULL.vocabulary(floor).parent.name == f"en-zh.{kind}.wiki"


def test_a_floor_reads_the_crawl_vocabulary_only_where_there_is_no_other() -> None:
    alone = transfer(study={"settings": ["wiki-cc"], "skip": []})
    assert {floor.domain for floor in alone.floors.values()} == {"crawl"}
    assert alone.vocabulary("en-fr.untrained-joint.s1") == alone.vocabulary("en-fr.wiki-cc.s1")


@pytest.mark.parametrize("setting", ["sep-emb-l1-6", "sep-tokens"])
def test_a_floor_shares_its_layers_and_never_trains(setting: str) -> None:
    only = transfer(study={"settings": [setting], "skip": []}, settings={"sep-tokens": SEP_TOKENS})
    described = only.run("en-fr.untrained-separate.s1")
    assert described["separate"] == {"embeddings": True, "layers": 0, "start": "apart"}
    assert described["pretrain"]["updates"] == 0
    assert described["model"] == "en-fr.untrained-separate.s1"
    assert only.encoder_files("en-fr.untrained-separate.s1") == [
        Path("results/demo/transfer/en-fr.untrained-separate.s1/run.json")
    ]


def test_how_a_setting_is_trained_changes_no_floor() -> None:
    other = transfer(settings={"default": {"train": {"lr": 0.5}}, "sep-emb": {"train": {"updates": 7}}})
    assert [other.run_json(name) for name in DEMO.floors] == [DEMO.run_json(name) for name in DEMO.floors]
    assert other.config_hash("en-fr.default.s1", "ner") != DEMO.config_hash("en-fr.default.s1", "ner")


@pytest.mark.parametrize("changes", [{"lr": 0.5}, {"updates": 7, "warmup": 1}, {"mask_rate": 0.2}])
def test_how_all_models_are_trained_changes_no_floors_score(changes: dict[str, Any]) -> None:
    other, name = transfer(pretrain=changes), "en-fr.untrained-joint.s1"
    assert other.config_hash(name, "ner") == DEMO.config_hash(name, "ner")
    assert transfer(model={"width": 64}).config_hash(name, "ner") != DEMO.config_hash(name, "ner")


def test_a_result_belongs_to_what_decides_it_and_to_nothing_else() -> None:
    name, task = "en-fr.default.s1", "ner"
    known = DEMO.config_hash(name, task)
    same = transfer(tasks={"ner": {"points_per_job": 1}, "xnli": {"epochs": 99}}, study={"skip": []})
    assert same.config_hash(name, task) == known
    changed = [
        transfer(tasks={"ner": {"epochs": 99}}), transfer(pretrain={"lr": 0.1}), transfer(text={"lowercase": False}),
        transfer(pairs={"en-fr": {"ner": {"train": "conll2003"}}}), Transfer(Study(study(), {"finetune": 2})),
    ]  # fmt: skip
    hashes = {one.config_hash(name, task) for one in changed} | {known, DEMO.config_hash(name, "parsing")}
    assert len(hashes) == len(changed) + 2


def test_one_job_does_all_tasks_in_the_embedded_study_and_one_point_in_the_papers() -> None:
    assert (DEMO.together, DEMO.apart) == (["xnli", "ner", "parsing"], [])
    assert (WHOLE.together, WHOLE.apart) == ([], ["xnli", "ner", "parsing"])
    assert [len(WHOLE.batches(task)) for task in WHOLE.tasks] == [18, 6, 6]
    assert WHOLE.batches("ner") == ["0", "1", "2", "3", "4", "5"]
    assert sum(len(WHOLE.jobs(name, task)) for name in WHOLE.encoders for task in WHOLE.tasks) == 42 * 30


def test_every_point_is_in_one_job() -> None:
    uneven = transfer(tasks={"xnli": {"points_per_job": 4, "grid": PAPER["tasks"]["xnli"]["grid"]}})
    assert uneven.together == ["ner", "parsing"]
    assert uneven.batches("xnli") == ["0,1,2,3", "4,5,6,7", "8,9,10,11", "12,13,14,15", "16,17"]
    settings, _ = parse_settings(json.dumps(uneven.settings("xnli")))
    assert grid_points(settings) == uneven.points("xnli")
    assert len(uneven.points("xnli")) == 18


def test_a_pair_has_its_own_data_sets() -> None:
    data = DEMO.data("en-zh.default.s1", "ner")
    assert data["train"].endswith("tasks/ner/en.conll2003.train.jsonl")
    assert {code: Path(path).name for code, path in data["test"].items()} == {
        "en": "en.conll2003.test.jsonl",
        "zh": "zh.msra.test.jsonl",
    }
    assert DEMO.data("en-zh.untrained-joint.s1", "pos")["dev"].endswith("tasks/parsing/en.ud.dev.jsonl")
    assert len(DEMO.data_files("en-fr.default.s1", DEMO.tasks)) == 3 * 4


def test_the_command_understands_its_plan(tmp_path: Path) -> None:
    for name in ("en-ru.sep-emb.s1", "en-ru.untrained-separate.s1"):
        (tmp_path / "plan.json").write_text(WHOLE.fine_tuning(name, ["parsing"], 3))
        (part,) = run.read_plan(tmp_path / "plan.json")
        assert (part.name, part.points, list(part.test)) == ("parsing.3", [3], ["en", "ru"])
        assert part.config == WHOLE.config_hash(name, "parsing")
        (tmp_path / "plan.json").write_text(DEMO.fine_tuning(name, DEMO.together))
        jobs = {job.name: job for job in run.read_plan(tmp_path / "plan.json")}
        assert set(jobs) == set(DEMO.together)
        assert (jobs["ner"].config, jobs["ner"].points) == (DEMO.config_hash(name, "ner"), None)
        assert WHOLE.untrained_flag(name) == ("--untrained" if "untrained" in name else "")


def test_the_papers_rows_are_the_published_ones() -> None:
    assert settings_rows(PAPER) == [asdict(row) for row in published.settings()]


def test_an_eleventh_setting_is_a_row_of_its_own() -> None:
    eleventh = {"label": "Top shared", "bpe": "per-language", "separate": {"layers": 7}}
    rows = settings_rows(
        study(settings={"top": eleventh}, study={"settings": ["default", "top"]}, bpe={"language_merges": 450})
    )
    assert [row["setting"] for row in rows] == ["Default", "Top shared"]
    assert rows[1] == {
        "setting": "Top shared", "group": "Other", "domain": "-", "merges": "450/450", "anchors": "-",
        "share": "Sep L1-7", "softmax": "-",
    }  # fmt: skip


@pytest.mark.parametrize(("layers", "share"), [(0, "Sep Tokens"), (1, "Sep Tokens + L1"), (3, "Sep Tokens + L1-3")])
def test_separate_tokens_are_named_in_the_table(layers: int, share: str) -> None:
    setting = SEP_TOKENS | {"separate": {"embeddings": "tokens", "layers": layers}}
    (row,) = settings_rows(study(settings={"sep-tokens": setting}, study={"settings": ["sep-tokens"]}))
    assert (row["anchors"], row["share"], row["softmax"]) == ("0*", share, "lang-specific")


def test_the_plan_names_every_score_once() -> None:
    plan = json.loads(DEMO.plan_json())
    names = [one["model"] for one in [*plan["models"], *plan["floors"]]]
    assert names == DEMO.encoders
    assert {DEMO.score(name, task) for name in names for task in DEMO.tasks} == set(DEMO.scores())
    assert {one["floor"] for one in plan["models"]} == set(DEMO.floors)
    assert len(DEMO.plan_json()) < 32_000  # it travels on a command line
