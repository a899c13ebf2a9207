"""What the rules ask a study: its models, files, flags, and the datasets that it needs."""

import cProfile
import shlex
from pathlib import Path

import numpy as np
from embedded import DEMO, PAPER, leaves, made, many_languages, study

from workflow_scripts import flags
from workflow_scripts.checks import check
from workflow_scripts.config import merge
from workflow_scripts.describe import settings_rows
from workflow_scripts.schema import schema_problems
from workflow_scripts.study import Study
from xling.data.manifest import load_manifest


def test_skip_and_seeds_choose_from_the_grid():
    """The whole grid is that of the committed results (test_identity.py)."""
    whole = set(made(study={"skip": []}).models)
    proved = {model.setting for name, model in DEMO.models.items() if DEMO.anchors(name) == "none"}
    assert (len(whole), proved) == (38, {"no-anchors", "sep-emb", "sep-emb-l1-3", "sep-emb-l1-6"})
    skipped = whole - set(made(study={"skip": ["en-zh.sep-*", "*.wiki-cc"]}).models)
    separate = {name for name in whole if name.startswith("en-zh.sep")}
    assert skipped == separate | {f"en-{code}.wiki-cc.s1" for code in ("fr", "ru", "zh")}
    more = made(study={"skip": [], "more_seeds": [{"models": ["en-*.default", "*.mono"], "seeds": [1, 2]}]})
    again = [name for name in whole if name.endswith((".default.s1", ".mono.s1"))]
    assert set(more.models) == whole | {name.replace(".s1", ".s2") for name in again}


def test_a_setting_is_like_another_in_all_that_it_does_not_say():
    short = {"like": "sep-l1-3", "label": "Sep L1-3, short", "train": {"updates": 107}}
    chosen = {"settings": ["default", "sep-l1-3", "short"], "skip": [], "extra": []}
    config = study(settings={"short": short}, study=chosen)
    check(config)
    whole, short_run = (Study(config).run(f"en-fr.{name}.s1") for name in ("sep-l1-3", "short"))
    assert {key for key in whole if short_run[key] != whole[key]} == {"model", "pretrain"}
    assert short_run["pretrain"] == whole["pretrain"] | {"updates": 107}
    updates = whole["pretrain"]["updates"]
    assert Study(config).differing_updates == {"sep-l1-3": updates, "short": 107}
    alone = study(
        settings={"sep-l1-3": {"train": {"updates": 107}}}, study=chosen | {"settings": ["default", "sep-l1-3"]}
    )
    assert Study(alone).differing_updates == {}  # another length, but of no other setting
    assert [row["group"] for row in settings_rows(Study(config))][1:] == 2 * ["Parameter Sharing (§4.3)"]
    assert DEMO.differing_updates == {}  # nothing to draw against updates


def test_texts_are_unlike_those_before_them_and_tasks_unlike_all_others(tmp_path):
    source = {code: {"format": "text", "files": [f"{code}.txt"]} for code in ("en", "fr", "ru", "zh")}
    for code in source:
        (tmp_path / f"{code}.txt").touch()
    text = {code: {"text": {"wiki": own}} for code, own in source.items()}
    local = made(data={"origin": "local", "root": str(tmp_path)}, languages=text)
    english, french = (f"--unlike {name}={tmp_path}/{code}.txt" for name, code in (("English", "en"), ("French", "fr")))
    assert flags.text_checks(local, "en", "wiki").split() == ["--script", "Latin"]
    assert flags.text_checks(local, "fr", "wiki") == flags.text_checks(local, "fr") == f"--script Latin {english}"
    assert flags.text_checks(local, "en") == flags.text_checks(local, "en2") == f"--script Latin {french}"
    assert "--unlike" not in flags.text_checks(local, "ru") + flags.text_checks(DEMO, "fr")


def test_a_source_that_is_null_is_as_one_that_was_never_named():
    sources = ["treebank", "ner", "dictionary", "muse", "tatoeba"]
    taken = study(languages={"de": {**dict.fromkeys(sources), "text": {"crawl": None}}})
    without = study()
    for key in sources:
        del without["languages"]["de"][key]
    del without["languages"]["de"]["text"]["crawl"]
    assert schema_problems(taken) == []
    assert Study(taken).language("de") == Study(without).language("de")
    assert Study(taken).needed_files == Study(without).needed_files
    assert not any("-de." in name or "deu" in name for name in Study(taken).generated_together())


def test_what_jobs_are_told_of_languages():
    odd = made(
        data={"root": "results/da ta/it's"}, text={"han_script": "simplified"}, study={"languages": ["fr", "en"]}
    )
    assert [odd.tokeniser(code)["script"] for code in ("zh", "ru")] == ["simplified", "none"]
    stanford = PAPER.tokeniser("zh")
    assert (stanford["dictionary"], Path(stanford["stanford_home"]).name) == (None, "stanford-segmenter-2018-10-16")
    english = DEMO.results / "bpe/en.wiki.model"
    assert DEMO.vocabulary_models("en2.mono.wiki") == {"en2": english}  # the same text, so the same subwords
    assert DEMO.vocabulary_models(DEMO.vocabulary("en-en2.sep-emb.s1")) == {"en": english, "en2": english}
    assert [PAPER.task_source("nli", "en", "xnli", split)[0] for split in ("train", "dev")] == [
        "xnli-mt-tokenised",
        "xnli",
    ]
    words = shlex.split(flags.dictionary_flags(odd, "en-fr"))
    assert words[words.index("--input") + 1] == "results/da ta/it's/panlex"
    assert flags.parallel_flags(DEMO, "fr") == "--languages fr"  # and of no other language
    assert flags.parallel_flags(DEMO, "en2") == f"--file en2={DEMO.raw('xnli/xnli.15way.en2.txt')}"
    assert flags.order_flag(DEMO, "en") == ""
    seeds = [flags.order_flag(PAPER, "en"), *(flags.order_flag(one, "en2") for one in (PAPER, DEMO))]
    assert seeds[0] != seeds[1] == seeds[2]
    assert all(seed.startswith("--shuffle-seed ") for seed in seeds)
    unshuffled = Study(merge(PAPER.config, {"text": {"shuffle": False}}))
    assert PAPER.identity("corpus", "en", "wiki") != unshuffled.identity("corpus", "en", "wiki")
    assert PAPER.identity("corpus", "en2", "wiki") == unshuffled.identity("corpus", "en2", "wiki")
    assert [(one["code"], one["iso3"]) for one in odd.embedded()][:2] == [("en", "eng"), ("fr", "fra")]
    assert odd.embedded()[1]["traits"]["accents"] == "éèô"


def test_every_file_of_the_paper_comes_from_a_dataset_and_a_smaller_study_fetches_less():
    files = [str(path) for path in PAPER.needed_files.values()]
    named = {
        path: key for key, value in leaves(PAPER.config["languages"]) for path in np.ravel(value) if "/" in str(path)
    }
    unread = [key for path, key in named.items() if PAPER.raw(path) not in files]
    assert unread == ["de.text.crawl.files", "de.treebank.test", "de.ner.wikiann.test", "zh.ner.wikiann.test"]
    assert PAPER.datasets_of(files) == sorted(load_manifest())
    assert [path for path in files if not PAPER.datasets_of([path])] == []
    chosen = {"languages": ["en"], "pairs": ["en-fr"], "extra": [], "skip": [], "settings": ["default"]}
    small = Study(merge(PAPER.config, {"study": chosen}))
    names = small.datasets_of(map(str, small.needed_files.values()))
    assert not {"panlex", "cc100", "msra", "conll2003", "en-prime", "stanford-segmenter"} & set(names)
    assert {request["substitutions"]["lg"] for request in small.requests("wikipedia")} == {"en", "fr"}


def test_a_language_that_no_list_knows_is_fetched_by_its_paths():
    files = {"wiki": "wikipedia/arwiki-20261001-pages-articles.xml.bz2", "crawl": "cc100/ar.txt.xz"}
    arabic = {
        "name": "Arabic", "script": "Arabic", "moses": "en", "segmenter": "none", "tatoeba": "ara",
        "text": {domain: {"format": "crawl", "files": [path]} for domain, path in files.items()},
        "treebank": {"test": "ud/UD_Arabic-PADT/ar_padt-ud-test.conllu"},
        "ner": {"wikiann": {"format": "wikiann", "test": "wikiann/ar/test"}},
        "dictionary": {"format": "panlex", "path": "panlex", "code": "arb-000"},
    }  # fmt: skip
    added = {"languages": {"ar": arabic}, "pairs": {"en-ar": {"ner": {"train": "wikiann", "test": "wikiann"}}}}
    config = merge(PAPER.config, {**added, "study": {"pairs": ["en-fr", "en-ar"], "languages": ["en", "fr", "ar"]}})
    bigger = Study(config)
    assert [path for path in map(str, bigger.needed_files.values()) if not bigger.datasets_of([path])] == []
    asked = {name: [r["substitutions"] for r in bigger.requests(name)] for name in ("ud", "cc100", "tatoeba")}
    assert {"lg": "ar", "treebank": "UD_Arabic-PADT", "stem": "ar_padt"} in asked["ud"]
    assert {"lg": "ar", "crawl": "ar"} in asked["cc100"]
    assert {"lg": "ar", "iso": "ara"} in asked["tatoeba"]
    assert {"lg": "fr"} in asked["ud"]  # what the manifest knows is asked for as before
    assert all("UD_Arabic-PADT" not in request.values() for request in asked["ud"] if request["lg"] != "ar")


def function_calls(languages):
    """Return the work of checking a study, describing all its encoders and naming all that it reads and makes."""
    config = many_languages(languages)
    with cProfile.Profile() as profile:
        check(config)
        many = Study(config)
        many.identity("verdicts")
        for name in many.transfer.encoders:
            many.transfer.run(name)
        for name in many.models:
            many.streams(name)
        for code in many.languages:
            many.trimmed_to(code, "crawl")
        for job in many.alignment.jobs:
            many.alignment.plan(job)
    assert len(many.models) == languages * 10 * 3 + 3 * (languages + 1)
    return sum(entry.callcount for entry in profile.getstats())


def test_the_work_of_laying_out_a_study_grows_with_its_models_and_not_with_their_square():
    function_calls(1)  # pydantic builds its records at their first use
    few, some, many = map(function_calls, (2, 6, 10))
    assert many - some < 1.1 * (some - few)
