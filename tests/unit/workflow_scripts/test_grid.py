"""The grid is the paper's: 38 models, ten settings as Table 1 has them, and lists that choose."""

from embedded import SEP_TOKENS, study

from workflow_scripts.checks import check
from workflow_scripts.grid import Model, describe_run, domain_of, trained_models, vocabulary_kind

WHOLE = study(study={"skip": []})

SETTINGS = ["default", "wiki-cc", "no-anchors", "default-anchors", "extra-anchors", "sep-emb"]
SETTINGS += ["sep-l1-3", "sep-l1-6", "sep-emb-l1-3", "sep-emb-l1-6"]


def expected_names() -> set[str]:
    """The 38 models of the paper (Table 1, and those that Figures 4 to 7 add), written out."""
    table = {f"en-{code}.{setting}.s1" for code in ("fr", "ru", "zh") for setting in SETTINGS}
    figure7 = {"en-de.default.s1", "en-en2.sep-emb.s1"}
    return table | figure7 | {f"{code}.mono.s1" for code in ("en", "en2", "fr", "de", "ru", "zh")}


def test_the_full_grid_is_the_38_models_of_the_paper() -> None:
    names = [model.name for model in trained_models(WHOLE)]
    assert len(names) == 38
    assert set(names) == expected_names()


def test_the_demo_has_every_setting_on_one_pair_and_every_monolingual_model() -> None:
    codes = ("en", "en2", "fr", "de", "ru", "zh")
    wanted = {f"en-fr.{setting}.s1" for setting in SETTINGS} | {f"{code}.mono.s1" for code in codes}
    assert wanted <= {model.name for model in trained_models(study())} < expected_names()


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
    assert expected_names() - names == {f"en-zh.{s}.s1" for s in SETTINGS if s.startswith("sep")} | {
        f"en-{c}.wiki-cc.s1" for c in ("fr", "ru", "zh")
    }


def test_a_setting_may_override_any_training_key_and_changes_no_other_run() -> None:
    changed = study(settings={"sep-emb": {"train": {"lr": 0.001}}})
    for model in trained_models(WHOLE):
        before, after = describe_run(WHOLE, model), describe_run(changed, model)
        assert (before != after) == (model.setting == "sep-emb")
    assert describe_run(changed, Model(("en", "fr"), "sep-emb", 1))["pretrain"]["lr"] == 0.001


def test_separate_tokens_are_a_setting_with_a_vocabulary_a_language() -> None:
    config = study(settings={"sep-tokens": SEP_TOKENS}, study={"extra": ["en-fr.sep-tokens"]})
    check(config)
    model = Model(("en", "fr"), "sep-tokens", 1)
    assert model in trained_models(config)
    assert vocabulary_kind(config, model) == "separate"
    run, whole = (describe_run(config, Model(("en", "fr"), name, 1)) for name in ("sep-tokens", "sep-emb"))
    assert {key for key in run if run[key] != whole[key]} == {"model", "separate"}
    assert run["separate"] == {"embeddings": "tokens", "layers": 0}
