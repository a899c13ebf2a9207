"""The grid is the paper's: 38 models, ten settings as Table 1 has them, and lists that choose."""

from embedded import DEMO, SEP_TOKENS, made, study

from workflow_scripts.checks import check
from workflow_scripts.grid import Model
from workflow_scripts.study import Study

WHOLE = made(study={"skip": []})

SETTINGS = ["default", "wiki-cc", "no-anchors", "default-anchors", "extra-anchors", "sep-emb"]
SETTINGS += ["sep-l1-3", "sep-l1-6", "sep-emb-l1-3", "sep-emb-l1-6"]
CODES = ("en", "en2", "fr", "de", "ru", "zh")
# The 38 models of the paper: Table 1, and those that Figures 4 to 7 add.
NAMES = {f"en-{code}.{setting}.s1" for code in ("fr", "ru", "zh") for setting in SETTINGS}
NAMES |= {"en-de.default.s1", "en-en2.sep-emb.s1", *(f"{code}.mono.s1" for code in CODES)}


def test_the_full_grid_is_the_38_models_of_the_paper_and_the_demo_has_all_settings_on_one_pair() -> None:
    assert (len(NAMES), set(WHOLE.models)) == (38, NAMES)
    wanted = {f"en-fr.{setting}.s1" for setting in SETTINGS} | {f"{code}.mono.s1" for code in CODES}
    assert wanted <= set(DEMO.models) < NAMES


def test_only_the_other_language_ever_changes_its_domain() -> None:
    model = Model(("en", "ru"), "wiki-cc", 1)
    assert (WHOLE.domain_of(model, "en"), WHOLE.domain_of(model, "ru")) == ("wiki", "crawl")
    assert WHOLE.domain_of(Model(("ru",), "mono", 1), "ru") == "wiki"


def test_seeds_multiply_the_grid_and_more_seeds_only_what_they_match() -> None:
    assert len(made(study={"skip": [], "seeds": [1, 2]}).models) == 76
    more = made(study={"skip": [], "more_seeds": [{"models": ["en-*.default", "*.mono"], "seeds": [1, 2]}]})
    both = {f"en-{code}.default.s2" for code in ("fr", "ru", "zh", "de")}
    assert set(more.models) == NAMES | both | {f"{code}.mono.s2" for code in CODES}


def test_skip_takes_patterns() -> None:
    skipped = NAMES - set(made(study={"skip": ["en-zh.sep-*", "*.wiki-cc"]}).models)
    crawled = {f"en-{code}.wiki-cc.s1" for code in ("fr", "ru", "zh")}
    assert skipped == crawled | {f"en-zh.{name}.s1" for name in SETTINGS if name.startswith("sep")}


def test_separate_tokens_are_a_setting_with_a_vocabulary_a_language() -> None:
    config = study(settings={"sep-tokens": SEP_TOKENS}, study={"extra": ["en-fr.sep-tokens"]})
    check(config)
    run, whole = (Study(config).run(f"en-fr.{name}.s1") for name in ("sep-tokens", "sep-emb"))
    assert {key for key in run if run[key] != whole[key]} == {"model", "separate"}
    assert (run["separate"], run["made_from"]["vocabulary"]["kind"]) == (
        {"embeddings": "tokens", "layers": 0, "start": "copies"},
        "separate",
    )
