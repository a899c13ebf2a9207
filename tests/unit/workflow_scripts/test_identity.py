"""A result's hash changes with every value that decides it, wherever in the chain it stands, and with no other."""

import ast
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from embedded import ROOT, study

from workflow_scripts.alignment import Alignment
from workflow_scripts.collect_provenance import Names
from workflow_scripts.config import read_config
from workflow_scripts.contextual import Contextual
from workflow_scripts.reporting import encoders, texts, verdict_hash
from workflow_scripts.study import Study
from workflow_scripts.transfer import Transfer

SMALL: dict[str, Any] = {
    "pairs": ["en-fr", "en-zh"],
    "settings": ["default", "wiki-cc", "extra-anchors", "sep-emb"],
    "languages": ["en", "en2", "fr", "zh"],
    "extra": [],
    "skip": [],
}
OTHER_WORDS = {
    "wiki": "crawl", "crawl": "wiki", "joint": "per-language", "per-language": "joint", "all": "none", "none": "all",
    "extra": "all", "shared": "per-language", "generated": "local",
}  # fmt: skip
# What decides no result of the small study: names, places, ways to work, and values that only other models read.
DECIDES_NOTHING = [
    "data.root", "data.wikipedia_date", "encoders.*", "languages.*.name", "languages.*.script", "languages.de.*",
    "languages.ru.*", "synthetic.languages.de.*", "synthetic.languages.ru.*", "languages.en.dictionary.format",
    "languages.en.dictionary.path", "languages.zh.ner.wikiann.*",
    "pretrain.save_every", "pretrain.keep_checkpoints", "tasks.*.points_per_job", "tasks.pos.*", "settings.*.label",
    "settings.*.group", "settings.no-anchors.*", "settings.default-anchors.*", "settings.sep-l1-*",
    "settings.sep-emb-l1-*", "settings.default.anchors", "settings.sep-emb.anchors",
]  # fmt: skip

Key = tuple[str, ...]


def hashes(config: dict[str, Any], revisions: dict[str, int] | None = None) -> dict[Key, str]:
    """Return the hash of every model and every result of a study."""
    one = Study(config, revisions or {})
    transfer, alignment, contextual = Transfer(one), Alignment(one), Contextual(one)
    found: dict[Key, str] = {("model", name): one.identity.model(name) for name in one.models}
    found |= {
        ("transfer", n, task): transfer.config_hash(n, task) for n in transfer.encoders for task in transfer.tasks
    }
    found |= {("analysis", name): alignment.config_hash(name) for name in alignment.analyses}
    found |= {("states", name): alignment.states_hash(name) for name in alignment.encoders}
    return found | {("contextual", name): contextual.config_hash(name) for name in contextual.jobs}


BEFORE = hashes(study(study=SMALL))


def changed(config: dict[str, Any], revisions: dict[str, int] | None = None) -> set[Key]:
    """Return the results whose hashes are no longer what they were."""
    now = hashes(config, revisions)
    return {key for key in BEFORE if now.get(key) != BEFORE[key]}


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted path of every value of a description; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}".lstrip("."))
    else:
        yield path


def other(value: Any) -> Any:
    """Return another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return OTHER_WORDS.get(value, f"{value}x")
        case list():
            return [*value, other(value[-1])] if value else ["x"]
        case None:
            return "1"
    return {"lr": 0.5}  # the training keys of a setting


def with_other(path: str) -> dict[str, Any]:
    """Return the small study with another value at one place."""
    config = study(study=SMALL)
    place, *rest = config, *path.split(".")
    for key in rest[:-1]:
        place = place[key]
    place[rest[-1]] = other(place[rest[-1]])
    return config


STRUCTURE = ("study.", "pairs.", "languages.en2.copy_of")  # names of other parts: no value can just be another
ALL = [path for path in leaves(study(study=SMALL)) if not path.startswith(STRUCTURE)]


def is_neutral(path: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in DECIDES_NOTHING)


def test_every_value_that_is_not_known_to_decide_nothing_changes_a_result() -> None:
    forgotten = [path for path in ALL if not is_neutral(path) and not changed(with_other(path))]
    assert len(ALL) > 250
    assert forgotten == []


def test_what_decides_nothing_changes_no_result() -> None:
    assert {path: changed(with_other(path)) for path in ALL if is_neutral(path)} == {
        path: set() for path in ALL if is_neutral(path)
    }
    assert [one for one in DECIDES_NOTHING if not any(fnmatchcase(path, one) for path in ALL)] == []


def everything(_: Key) -> bool:
    return True


def nothing(_: Key) -> bool:
    return False


def joint(key: Key) -> bool:
    """Default, Wiki-CC and Extra anchors, the floor of their vocabulary, and the analyses that show Default."""
    shown = key == ("analysis", "cka") or (key[0] == "contextual" and "-" in key[1])
    return shown or any(name in key[1] for name in ("default", "wiki-cc", "extra-anchors", "-joint"))


def floor(key: Key) -> bool:
    return "untrained" in key[1]


def switched(key: Key) -> bool:
    return "extra-anchors" in key[1]


def chinese(key: Key) -> bool:
    """Whatever reads Chinese: its models, the analyses of all languages, contextual jobs that it is a target of."""
    return "zh" in key[1] or key[0] == "analysis" or (key[1] in ("en.mono.s1", "en.untrained.s1") and key[0] != "model")


def represented(key: Key, *codes: str) -> bool:
    return key in {("states", f"{code}.mono.s1") for code in codes}


ONLY: dict[str, Callable[[Key], bool]] = {
    "bpe.train_lines": everything,
    "bpe.sentence_ends": lambda key: not floor(key),  # a vocabulary is made from text without them
    "bpe.joint_merges": joint,
    "codeswitch.keep": switched,
    "synthetic.world_seed": everything,
    "synthetic.ner_sentences": lambda key: key[-1] == "ner" or key[0] == "contextual",
    "synthetic.treebank_sentences": lambda key: key[-1] == "parsing" or key[0] == "contextual",
    "synthetic.nli_pairs": lambda key: key[-1] == "xnli",
    "synthetic.parallel_sentences": lambda key: key in {("analysis", "sentences"), ("analysis", "cka")}
    or key[0] in ("states", "contextual"),
    "synthetic.tatoeba_sentences": lambda key: key == ("analysis", "sentences") or represented(key, "en", "fr", "zh"),
    "synthetic.vector_size": lambda key: key == ("analysis", "words"),
    "synthetic.dictionary_share": switched,
    "synthetic.languages.zh.names": lambda key: chinese(key) or switched(key),
    "languages.zh.segmenter_dictionary": chinese,
    "languages.fr.treebank.test": lambda key: (key[0] == "transfer" and "fr" in key[1] and key[-1] == "parsing")
    or (key[0] == "contextual" and "zh" not in key[1]),
    "languages.fr.dictionary.path": lambda key: switched(key) and "fr" in key[1],
    "data.nli.dev": lambda key: key[-1] == "xnli",
    "pretrain.lr": lambda key: not floor(key),
    "pretrain.length": everything,
    "settings.sep-emb.softmax": lambda key: "sep-emb" in key[1] or "untrained-separate" in key[1],
    "tasks.ner.epochs": lambda key: key[-1] == "ner",
    "tasks.parsing.biaffine.arc": lambda key: key[-1] == "parsing" or key[0] == "contextual",
    "align.word_sentences": lambda key: key == ("analysis", "words") or represented(key, "en", "fr", "zh"),
    "align.contextual.lr": lambda key: key[0] == "contextual",
}  # fmt: skip


@pytest.mark.parametrize("path", ONLY)
def test_a_value_reaches_exactly_what_is_made_with_it(path: str) -> None:
    assert changed(with_other(path)) == {key for key in BEFORE if ONLY[path](key)}


def test_separate_tokens_reach_the_models_of_their_setting_and_no_floor() -> None:
    tokens = study(study=SMALL, settings={"sep-emb": {"separate": {"embeddings": "tokens"}}})
    assert changed(tokens) == {key for key in BEFORE if "sep-emb" in key[1]}


def test_another_data_set_reaches_the_tasks_of_its_pair() -> None:
    other_set = study(study=SMALL, pairs={"en-fr": {"ner": {"train": "conll2003"}}})
    tuned = {key for key in BEFORE if key[0] == "transfer" and "en-fr" in key[1] and key[2] == "ner"}
    assert changed(other_set) == tuned | {key for key in BEFORE if key[0] == "contextual" and "zh" not in key[1]}


def code_revisions() -> dict[str, int]:
    """Return REV as rules/common.smk has it."""
    text = (ROOT / "rules" / "common.smk").read_text(encoding="utf-8")
    begin = text.index("REV = {") + len("REV = ")
    return dict(ast.literal_eval(text[begin : text.index("}", begin) + 1]))


STAGES: dict[str, Callable[[Key], bool]] = {
    "synthetic": everything,
    "data": everything,
    "tokenization": everything,
    "bpe": everything,
    "codeswitch": switched,
    "pretrain": everything,
    "finetune": lambda key: key[0] in ("transfer", "contextual"),
    "align": lambda key: key[0] in ("analysis", "states", "contextual"),
    "contextual": lambda key: key[0] == "contextual",
    "cka": lambda key: key == ("analysis", "cka"),
    "report": nothing,
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_raised_revision_reaches_everything_after_its_stage(stage: str) -> None:
    assert set(code_revisions()) == set(STAGES)
    assert changed(study(study=SMALL), {stage: 1}) == {key for key in BEFORE if STAGES[stage](key)}


def test_other_pairs_languages_and_settings_are_no_ones_business() -> None:
    """Not even that there is a Wiki-CC changes what the others read."""
    alone = SMALL | {"pairs": ["en-fr"], "languages": ["en", "fr"], "settings": ["default", "wiki-cc", "sep-emb"]}
    now = hashes(study(study=alone))
    kept = {key for key in BEFORE if key in now and key[0] in ("model", "transfer")}
    assert {key[1] for key in kept} >= {"en-fr.default.s1", "en-fr.untrained-separate.s1", "fr.mono.s1"}
    assert {key for key in kept if now[key] != BEFORE[key]} == set()
    apart = hashes(study(study=alone | {"settings": ["default", "sep-emb"]}))
    assert apart["model", "fr.mono.s1"] == now["model", "fr.mono.s1"]
    assert apart["model", "en.mono.s1"] == now["model", "en.mono.s1"]


def test_a_published_text_is_known_by_its_path_and_not_by_the_generator() -> None:
    paper = read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml")
    known = Study(paper).identity
    moved = Study(paper | {"data": paper["data"] | {"root": "/elsewhere"}, "synthetic": {}}).identity
    assert moved.model("en-fr.extra-anchors.s1") == known.model("en-fr.extra-anchors.s1")
    assert moved.prepared("tasks/nli/fr.xnli.test.jsonl") == known.prepared("tasks/nli/fr.xnli.test.jsonl")
    assert known.words("fr", "wiki") != known.words("fr", "crawl")


def verdicts(**changes: Any) -> str:
    one = Study(study(**changes))
    return verdict_hash(Transfer(one), Alignment(one), Contextual(one))


def test_verdicts_belong_to_the_results_that_they_are_judged_on() -> None:
    before = verdicts(study=SMALL)
    assert verdicts(study=SMALL, tasks={"ner": {"points_per_job": 1}}, pretrain={"save_every": 7}) == before
    assert verdicts(study=SMALL, encoders={"models": {"x": {"hub": "a/b"}}}) == before
    others = [{"bpe": {"train_lines": 5}}, {"tasks": {"ner": {"epochs": 9}}}, {"align": {"contextual": {"lr": 1.0}}}]
    assert len({before, *(verdicts(study=SMALL, **change) for change in others)}) == 4


def test_only_the_studys_own_jobs_are_its_time() -> None:
    one = Study(study(study=SMALL))
    names = Names(encoders(Transfer(one), Contextual(one)), texts(one), one.config["languages"])
    own = [
        "en-fr.default.s1",
        "en-fr.untrained-joint.s1.ner.0",
        "en.untrained.s1",
        "en.wiki",
        "en-fr.joint.wiki.fr.plain",
    ]
    own += ["parallel", "translate_words", "en-fr", "bert-en+bert-fr.en-fr"]
    gone = [
        "en-ru.default.s1",
        "en-fr.no-anchors.s1.ner.0",
        "ru.mono.s1",
        "ru.wiki",
        "en-ru.joint.wiki.en.plain",
        "en-ru",
    ]
    assert [name for name in own if not names.include(name)] == []
    assert [name for name in gone if names.include(name)] == []
