"""The grid is the paper's: 38 models, ten settings as Table 1 has them, and lists that choose."""

from embedded import DEMO, made, study

from workflow_scripts.checks import check
from workflow_scripts.describe import settings_rows
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


def test_seeds_multiply_the_grid_and_more_seeds_only_what_they_match() -> None:
    assert len(made(study={"skip": [], "seeds": [1, 2]}).models) == 76
    more = made(study={"skip": [], "more_seeds": [{"models": ["en-*.default", "*.mono"], "seeds": [1, 2]}]})
    both = {f"en-{code}.default.s2" for code in ("fr", "ru", "zh", "de")}
    assert set(more.models) == NAMES | both | {f"{code}.mono.s2" for code in CODES}


def test_skip_takes_patterns() -> None:
    skipped = NAMES - set(made(study={"skip": ["en-zh.sep-*", "*.wiki-cc"]}).models)
    crawled = {f"en-{code}.wiki-cc.s1" for code in ("fr", "ru", "zh")}
    assert skipped == crawled | {f"en-zh.{name}.s1" for name in SETTINGS if name.startswith("sep")}


def test_a_setting_is_like_another_in_all_that_it_does_not_say() -> None:
    short = {"like": "sep-l1-3", "label": "Sep L1-3, short", "train": {"updates": 107}}
    config = study(
        settings={"short": short}, study={"settings": ["default", "sep-l1-3", "short"], "skip": [], "extra": []}
    )
    check(config)
    whole, short_run = (Study(config).run(f"en-fr.{name}.s1") for name in ("sep-l1-3", "short"))
    assert {key for key in whole if short_run[key] != whole[key]} == {"model", "pretrain"}
    assert short_run["pretrain"] == whole["pretrain"] | {"updates": 107}
    updates = whole["pretrain"]["updates"]
    assert Study(config).lengths == {"default": updates, "sep-l1-3": updates, "short": 107}
    assert [row["group"] for row in settings_rows(Study(config))][1:] == 2 * ["Parameter Sharing (§4.3)"]
    assert DEMO.lengths == {}  # nothing to draw against updates
