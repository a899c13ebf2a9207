"""A result's hash changes with every value that decides it, and with no other (see also tests/workflow/edits.yaml)."""

import ast
import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest
from embedded import EMBEDDED, ROOT, leaves, nested, results, study

from workflow_scripts.collect_provenance import is_own
from workflow_scripts.config import merge, read_config
from workflow_scripts.study import Study
from xling.core.io import read_json
from xling.core.tasks import TASKS

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
    "data.root", "data.wikipedia_date", "languages.*.name", "languages.*.script", "languages.de.*",
    "languages.ru.*", "synthetic.languages.de.*", "synthetic.languages.ru.*", "languages.en.dictionary.format",
    "languages.en.dictionary.path", "languages.zh.ner.wikiann.*",
    "text.keep", "pretrain.save_every", "pretrain.keep_checkpoints", "settings.*.label",
    "settings.*.group", "settings.no-anchors.*", "settings.default-anchors.*", "settings.sep-l1-*",
    "settings.sep-emb-l1-*", "settings.default.anchors", "settings.sep-emb.anchors",
    *(f"tasks.{task}.*" for task in TASKS if task not in EMBEDDED["study"]["tasks"]),
]  # fmt: skip
STRUCTURE = ("study.", "pairs.", "languages.en2.copy_of")  # names of other parts: no value can just be another

FIRST = Study(study(study=SMALL))
BEFORE = {key: FIRST.identity(*key) for key in results(FIRST)}


def changes(config):
    """Yield the results whose hashes are no longer what they were; those that are gone come last."""
    one = Study(config)
    now = results(one)
    yield from (key for key in now if key in BEFORE and one.identity(*key) != BEFORE[key])
    yield from (key for key in BEFORE if key not in now)


def other(value):
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


def with_other(*paths):
    """Return the small study with another value at some places."""
    return study(**merge({"study": SMALL}, nested({path: other(ALL[path]) for path in paths})))


ALL = {path: value for path, value in leaves(study(study=SMALL)) if not path.startswith(STRUCTURE)}
NEUTRAL = [path for path in ALL if any(fnmatchcase(path, pattern) for pattern in DECIDES_NOTHING)]


def test_every_value_that_is_not_known_to_decide_nothing_changes_a_result():
    assert len(ALL) > 250
    assert [path for path in ALL if path not in NEUTRAL and not any(changes(with_other(path)))] == []


def test_what_decides_nothing_changes_no_result():
    if any(changes(with_other(*NEUTRAL))):  # else all at once, which takes a hundredth of the time
        assert {path: found for path in NEUTRAL if (found := set(changes(with_other(path))))} == {}
        pytest.fail("some of them change a result together")
    assert [one for one in DECIDES_NOTHING if not any(fnmatchcase(path, one) for path in ALL)] == []


def test_the_dictionary_of_a_segmenter_reaches_all_that_reads_its_language():
    found = set(changes(with_other("languages.zh.segmenter_dictionary")))
    others = {("states", "en.mono.s1"), ("contextual", "en.mono.s1"), ("contextual", "en.untrained.s1")}
    assert found == {key for key in BEFORE if "zh" in key[1] or key[0] == "analysis"} | others


RULES = (ROOT / "rules" / "common.smk").read_text(encoding="utf-8")
REVISIONS = ast.literal_eval(re.findall(r"^REV = ({.*?^})", RULES, re.MULTILINE | re.DOTALL)[0])


@pytest.mark.parametrize(("name", "trained"), [("demo-full", 114), ("mini", 64)])
def test_the_committed_results_still_have_the_identity_that_the_code_gives_them(name, trained, monkeypatch):
    """Fails for a change of the hashes that is not meant: everybody's results would be refused or made again."""
    monkeypatch.setenv("XLING_DATA", "/data")
    kept = ROOT / "results" / "reference" / name
    one = Study(read_config(ROOT / "config.yaml", kept / "config.yaml"), REVISIONS)
    scored = [(model, task) for model in one.transfer.encoders for task in one.transfer.tasks]
    wanted = [("score", *key) for key in scored] + [("contextual", key) for key in one.contextual.jobs]
    lines = {
        name: [json.loads(x) for x in (kept / f"{name}.jsonl").read_text().splitlines()]
        for name in ("transfer", "contextual", "models")
    }
    carried = {("score", line["model"], line["task"]): line["config"] for line in lines["transfer"]}
    carried |= {("contextual", line["model"]): line["config"] for line in lines["contextual"]}
    # mini is older than analyses of one seed each (words.s1.json); what it has of all seeds is not checked.
    analyses = [path for path in (kept / "analyses").glob("*.json") if path.stem in one.alignment.jobs]
    carried |= {("analysis", path.stem): read_json(path)["config"] for path in analyses}
    assert [key for key in {*wanted, *carried} if carried[key] != one.identity(*key)] == []
    runs = {line["model"]: line["run"] for line in lines["models"] if line["model"] in one.models}
    assert [model for model, run in runs.items() if run != one.run(model)] == []
    assert (len(carried) > 150, len(runs)) == (True, trained)


def test_only_the_studys_own_jobs_are_its_time():
    plan = FIRST.provenance()
    own = ["en-fr.default.s1", "en-fr.untrained-joint.s1", "en.untrained.s1", "en.wiki", "parallel"]
    own += ["en-fr.joint.wiki.fr.plain", "translate_words", "en-fr"]
    gone = ["en-ru.default.s1", "en-fr.no-anchors.s1", "ru.mono.s1", "ru.wiki", "en-ru.joint.wiki.en.plain"]
    assert [name for name in own if not is_own(name, plan)] == []
    assert [name for name in [*gone, "en-ru"] if is_own(name, plan)] == []
