"""presets/paper.yaml, and the constants of the package, against the paper: every number of its study."""

from functools import reduce
from importlib import import_module
from operator import getitem
from pathlib import Path

import pytest
import yaml
from embedded import PAPER, leaves

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
    assert sum(1 for part in FACTS.values() for _ in leaves(part)) == 135


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
