"""The grid is the paper's: 38 models, ten settings as Table 1 has them, and lists that choose."""

import pytest
from embedded import SEP_TOKENS, study

from workflow_scripts.checks import check
from workflow_scripts.grid import Model, describe_run, domain_of, setting_of, trained_models, vocabulary_kind

WHOLE = study(study={"skip": []})

# Table 1 of the paper, read by hand: domain, BPE, anchors, separate embeddings, separate layers, softmax, vocabulary.
TABLE = {
    "default": ("wiki", "joint", "all", False, 0, "shared", "joint"),
    "wiki-cc": ("crawl", "joint", "all", False, 0, "shared", "joint"),
    "no-anchors": ("wiki", "per-language", "none", False, 0, "shared", "prefixed"),
    "default-anchors": ("wiki", "per-language", "all", False, 0, "shared", "union"),
    "extra-anchors": ("wiki", "joint", "extra", False, 0, "shared", "joint"),
    "sep-emb": ("wiki", "per-language", "none", True, 0, "per-language", "separate"),
    "sep-l1-3": ("wiki", "per-language", "all", False, 3, "shared", "union"),
    "sep-l1-6": ("wiki", "per-language", "all", False, 6, "shared", "union"),
    "sep-emb-l1-3": ("wiki", "per-language", "none", True, 3, "per-language", "separate"),
    "sep-emb-l1-6": ("wiki", "per-language", "none", True, 6, "per-language", "separate"),
}
LABELS = [
    "Default",
    "Wiki-CC",
    "No anchors",
    "Default anchors",
    "Extra anchors",
    "Sep Emb",
    "Sep L1-3",
    "Sep L1-6",
    "Sep Emb + L1-3",
    "Sep Emb + L1-6",
]


def expected_names() -> set[str]:
    """The 38 models of the paper (Table 1, and those that Figures 4 to 7 add), written out."""
    table = {f"en-{code}.{setting}.s1" for code in ("fr", "ru", "zh") for setting in TABLE}
    figure7 = {"en-de.default.s1", "en-en2.sep-emb.s1"}
    return table | figure7 | {f"{code}.mono.s1" for code in ("en", "en2", "fr", "de", "ru", "zh")}


def test_the_full_grid_is_the_38_models_of_the_paper() -> None:
    names = [model.name for model in trained_models(WHOLE)]
    assert len(names) == 38
    assert set(names) == expected_names()


@pytest.mark.parametrize("name", TABLE)
def test_each_setting_is_the_row_of_the_table(name: str) -> None:
    setting = setting_of(WHOLE, name)
    separate = setting["separate"]
    kind = vocabulary_kind(WHOLE, Model(("en", "fr"), name, 1))
    row = (
        setting["domain"],
        setting["bpe"],
        setting["anchors"],
        separate["embeddings"],
        separate["layers"],
        setting["softmax"],
        kind,
    )
    assert row == TABLE[name]


def test_the_labels_are_the_rows_of_table_1_in_order() -> None:
    assert [WHOLE["settings"][name]["label"] for name in WHOLE["study"]["settings"]] == LABELS


def test_the_demo_has_every_setting_on_one_pair_and_every_monolingual_model() -> None:
    names = {model.name for model in trained_models(study())}
    assert names < expected_names()
    assert {f"en-fr.{setting}.s1" for setting in TABLE} <= names
    assert {f"{code}.mono.s1" for code in ("en", "en2", "fr", "de", "ru", "zh")} <= names


def test_only_the_other_language_ever_changes_its_domain() -> None:
    model = Model(("en", "ru"), "wiki-cc", 1)
    assert (domain_of(WHOLE, model, "en"), domain_of(WHOLE, model, "ru")) == ("wiki", "crawl")
    assert domain_of(WHOLE, Model(("ru",), "mono", 1), "ru") == "wiki"


def test_seeds_multiply_the_grid_and_more_seeds_only_what_they_match() -> None:
    assert len(trained_models(study(study={"skip": [], "seeds": [1, 2]}))) == 76
    more = study(study={"skip": [], "more_seeds": [{"models": ["en-*.default", "*.mono"], "seeds": [1, 2]}]})
    names = {model.name for model in trained_models(more)}
    added = {f"en-{code}.default.s2" for code in ("fr", "ru", "zh", "de")} | {
        f"{c}.mono.s2" for c in more["study"]["languages"]
    }
    assert names == expected_names() | added


def test_skip_takes_patterns() -> None:
    names = {model.name for model in trained_models(study(study={"skip": ["en-zh.sep-*", "*.wiki-cc"]}))}
    assert expected_names() - names == {f"en-zh.{s}.s1" for s in TABLE if s.startswith("sep")} | {
        f"en-{c}.wiki-cc.s1" for c in ("fr", "ru", "zh")
    }


def test_a_setting_may_override_any_training_key_and_changes_no_other_run() -> None:
    changed = study(settings={"sep-emb": {"train": {"lr": 0.001}}})
    for model in trained_models(WHOLE):
        before, after = describe_run(WHOLE, model), describe_run(changed, model)
        assert (before != after) == (model.setting == "sep-emb")
    assert describe_run(changed, Model(("en", "fr"), "sep-emb", 1))["pretrain"]["lr"] == 0.001


def test_the_second_english_reads_english_in_its_own_order() -> None:
    run = describe_run(WHOLE, Model(("en", "en2"), "sep-emb", 1))
    assert run["made_from"]["corpus"]["en2"] == {
        "text_of": "en",
        "domain": "wiki",
        "switched": False,
        "own_order": True,
    }
    assert run["made_from"]["corpus"]["en"]["own_order"] is False


def test_separate_tokens_are_a_setting_with_a_vocabulary_a_language() -> None:
    config = study(settings={"sep-tokens": SEP_TOKENS}, study={"extra": ["en-fr.sep-tokens"]})
    check(config)
    model = Model(("en", "fr"), "sep-tokens", 1)
    assert model in trained_models(config)
    assert vocabulary_kind(config, model) == "separate"
    run, whole = (describe_run(config, Model(("en", "fr"), name, 1)) for name in ("sep-tokens", "sep-emb"))
    assert {key for key in run if run[key] != whole[key]} == {"model", "separate"}
    assert run["separate"] == {"embeddings": "tokens", "layers": 0}


def test_a_sixth_language_and_an_eleventh_setting_are_a_config_edit() -> None:
    it = study()["languages"]["fr"] | {"name": "Italian", "moses": "it"}
    config = study(
        study={
            "skip": [],
            "languages": ["en", "it"],
            "pairs": ["en-it"],
            "settings": ["default", "sep-l1-7"],
            "extra": [],
        },
        languages={"it": it},
        pairs={"en-it": {"ner": {"train": "wikiann", "test": "wikiann"}}},
        settings={"sep-l1-7": {"label": "Sep L1-7", "bpe": "per-language", "separate": {"layers": 7}}},
        synthetic={"languages": {"it": study()["synthetic"]["languages"]["fr"]}},
    )
    check(config)
    assert [model.name for model in trained_models(config)] == [
        "en-it.default.s1",
        "en-it.sep-l1-7.s1",
        "en.mono.s1",
        "it.mono.s1",
    ]
