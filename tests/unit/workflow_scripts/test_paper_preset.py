"""presets/paper.yaml, and the constants of the package, against the paper: every number of its study."""

from functools import reduce
from importlib import import_module
from operator import getitem
from pathlib import Path

import pytest
import yaml
from embedded import PAPER, leaves, made

from xling.data.manifest import load_manifest
from xling.finetune.metrics import spans

CONFIG = PAPER.config

FACTS = yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text(encoding="utf-8"))


def found(where):
    """Return what stands at a key of the resolved config, or a constant named as module:name."""
    if ":" not in where:
        return reduce(getitem, where.split("."), CONFIG)
    module, name = where.split(".:")
    value = getattr(import_module(module), name)
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("section", "where", "value"), [(section, *leaf) for section, part in FACTS.items() for leaf in leaves(part)]
)
def test_a_number_of_the_paper(section, where, value):
    if isinstance(value, float):
        value = pytest.approx(value, rel=1e-12)
    assert found(where) == value, section


def test_no_number_is_lost():
    """Of a key that stands in a table twice, YAML keeps only the last."""
    assert sum(1 for part in FACTS.values() for _ in leaves(part)) == 134


# Table 1: domain of the other language, kind of vocabulary, merges, code-switched, own embeddings, own layers, softmax.
TABLE = {
    "default": ("wiki", "joint", 80_000, False, False, 0, "shared"),
    "wiki-cc": ("crawl", "joint", 80_000, False, False, 0, "shared"),
    "no-anchors": ("wiki", "prefixed", 40_000, False, False, 0, "shared"),
    "default-anchors": ("wiki", "union", 40_000, False, False, 0, "shared"),
    "extra-anchors": ("wiki", "joint", 80_000, True, False, 0, "shared"),
    "sep-emb": ("wiki", "separate", 40_000, False, True, 0, "per-language"),
    "sep-l1-3": ("wiki", "union", 40_000, False, False, 3, "shared"),
    "sep-l1-6": ("wiki", "union", 40_000, False, False, 6, "shared"),
    "sep-emb-l1-3": ("wiki", "separate", 40_000, False, True, 3, "per-language"),
    "sep-emb-l1-6": ("wiki", "separate", 40_000, False, True, 6, "per-language"),
}


@pytest.mark.parametrize("setting", TABLE)
@pytest.mark.parametrize("one", [PAPER, made(study={"skip": []}, bpe=PAPER.config["bpe"])], ids=["paper", "embedded"])
def test_a_row_of_table_1(one, setting):
    for other in ("fr", "ru", "zh"):
        run = one.run(f"en-{other}.{setting}.s1")
        corpus, vocabulary = run["made_from"]["corpus"], run["made_from"]["vocabulary"]
        assert corpus["en"]["domain"] == "wiki"
        assert corpus["en"]["switched"] == corpus[other]["switched"]  # both languages
        row = (corpus[other]["domain"], vocabulary["kind"], vocabulary["merges"], corpus[other]["switched"])
        assert (*row, run["separate"]["embeddings"], run["separate"]["layers"], run["softmax"]) == TABLE[setting]
        assert run["selection_language"] == "en"


def test_models_outside_table_1():
    names = ["en-en2.sep-emb.s1", "en-de.default.s1", *(f"{code}.mono.s1" for code in CONFIG["study"]["languages"])]
    runs = {name: PAPER.run(name) for name in names}
    vocabularies = [run["made_from"]["vocabulary"] for run in runs.values()]
    assert [(one["kind"], one["merges"]) for one in vocabularies] == [
        ("separate", 40_000), ("joint", 80_000), *6 * [("mono", 40_000)],
    ]  # fmt: skip
    assert [run["selection_language"] for run in runs.values()] == ["en", "en", *CONFIG["study"]["languages"]]
    copied = runs[names[0]]["made_from"]["corpus"]["en2"]
    assert copied | {"text_of": "en", "domain": "wiki", "switched": False, "own_order": True} == copied


def test_the_first_metric_of_a_task_decides():
    measures = import_module("xling.finetune.metrics").MEASURES
    assert {task: next(iter(measures[task])) for task in ("xnli", "ner", "parsing")} == {
        "xnli": "accuracy", "ner": "f1", "parsing": "las",
    }  # fmt: skip
    assert spans(["B-X", "I-Y", "I-Z", "O", "I-X"]) == [("Z", 0, 3), ("X", 4, 5)]


def test_all_data_is_what_the_paper_names():
    date, manifest = CONFIG["data"]["wikipedia_date"], load_manifest()
    for code in ("en", "fr", "de", "ru", "zh"):
        name = f"wikipedia/{code}wiki-{date}-pages-articles.xml.bz2"
        assert PAPER.language(code)["text"]["wiki"].items() >= {"format": "wikipedia", "files": [name]}.items()
    versions = {"ud": "2.3", "xnli": "1.0", "xnli-mt": "1.0", "xnli-15way": "1.0", "panlex": "2019-09-01"}
    assert {name: manifest[name].version for name in versions} == versions


def test_figures_5_and_8_have_three_pairs_and_two_tasks():
    contextual = PAPER.contextual
    assert (contextual.targets(), contextual.tasks()) == (["fr", "ru", "zh"], ["ner", "parsing"])
    assert {name: job.ways for name, job in contextual.jobs.items()} == {
        "en.mono.s1": ("aligned",), "en.untrained.s1": ("aligned",),
        **{f"en-{code}.{model}.s1": ("plain", "aligned") for code in ("fr", "ru", "zh") for model in ("default", "untrained")},
    }  # fmt: skip
