"""Which encoders a study fine-tunes, beside which floors, and what Table 1 calls its settings."""

from dataclasses import asdict
from pathlib import Path

import pytest
from embedded import DEMO as STUDY
from embedded import PAPER, SEP_TOKENS, made

from workflow_scripts.describe import settings_rows
from xling.report import published

DEMO = STUDY.transfer


def transfer(**changes):
    return made(**changes).transfer


def test_floors_are_once_per_pair_kind_of_vocabulary_and_seed():
    full, kinds = transfer(study={"skip": []}), ("joint", "union", "prefixed", "separate")
    expected = {f"{pair}.untrained-{kind}.s1" for pair in ("en-fr", "en-ru", "en-zh") for kind in kinds}
    assert set(full.floors) == expected
    unused = {"en-ru.untrained-union.s1", *(f"en-zh.untrained-{kind}.s1" for kind in kinds[1:])}
    assert expected - set(DEMO.floors) == unused
    settings = ("wiki-cc", "extra-anchors", "sep-l1-6", "no-anchors", "sep-emb-l1-6")
    floors = [full.floor_of(f"en-zh.{setting}.s1").split("-")[-1] for setting in settings]
    assert floors == ["joint.s1", "joint.s1", "union.s1", "prefixed.s1", "separate.s1"]


def test_each_seed_has_its_floors_and_a_further_seed_of_some_models_none_of_its_own():
    seeds = transfer(study={"seeds": [3, 4], "more_seeds": [{"models": ["en-fr.*"], "seeds": [5]}]})
    assert (len(seeds.floors), {floor.seed for floor in seeds.floors.values()}) == (2 * 8, {3, 4})
    assert len(seeds.models) == 2 * 15 + 10
    assert [seeds.floor_of(f"en-fr.default.s{seed}")[-2:] for seed in (3, 4, 5)] == ["s3", "s4", "s3"]
    run, other = (seeds.run(f"en-fr.untrained-joint.s{seed}") for seed in (3, 4))
    assert {key for key in run if run[key] != other[key]} == {"model", "seed"}


def test_a_floor_reads_the_crawl_vocabulary_only_where_there_is_no_other():
    for settings, model in ((["wiki-cc"], "wiki-cc"), (["wiki-cc", "default"], "default")):
        some = transfer(study={"settings": settings, "skip": []})
        assert some.vocabulary("en-fr.untrained-joint.s1") == some.vocabulary(f"en-fr.{model}.s1")


@pytest.mark.parametrize("setting", ["sep-emb-l1-6", "sep-tokens"])
def test_a_floor_shares_its_layers_and_never_trains(setting):
    only = transfer(study={"settings": [setting], "skip": []}, settings={"sep-tokens": SEP_TOKENS})
    name = "en-fr.untrained-separate.s1"
    described = only.run(name)
    assert (described["model"], described["pretrain"]["updates"]) == (name, 0)
    assert described["separate"] == {"embeddings": True, "layers": 0, "start": "equal"}
    assert only.encoder_files(name) == [Path(f"results/demo/transfer/{name}/run.json")]


def test_the_papers_rows_are_the_published_ones():
    assert settings_rows(PAPER) == [asdict(row) for row in published.settings()]


@pytest.mark.parametrize(
    ("setting", "row"),
    [
        ({"label": "Top", "bpe": "per-language", "separate": {"layers": 7}}, ("450/450", "-", "Sep L1-7", "-")),
        (SEP_TOKENS, ("450/450", "0*", "Sep Tokens", "lang-specific")),
        (SEP_TOKENS | {"separate": {"embeddings": "tokens", "layers": 1}}, ("450/450", "0*", "Sep Tokens + L1", "lang-specific")),
    ],
)  # fmt: skip
def test_an_eleventh_setting_is_a_row_of_its_own(setting, row):
    more = made(settings={"new": setting}, study={"settings": ["default", "new"]}, bpe={"language_merges": 450})
    default, new = settings_rows(more)
    assert (default["setting"], new["setting"]) == ("Default", setting["label"])
    assert (new["group"], new["domain"]) == ("Other", "-")
    assert tuple(new[key] for key in ("merges", "anchors", "share", "softmax")) == row


def test_the_plan_names_every_score_once():
    plan = DEMO.plan()
    assert [one["model"] for one in [*plan["models"], *plan["floors"]]] == list(DEMO.encoders)
    assert {one["floor"] for one in plan["models"]} == set(DEMO.floors)
    assert plan["models"][0]["config"] == DEMO.hashes(plan["models"][0]["model"])
