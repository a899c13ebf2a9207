"""Where a study's data come from: files that are missing, shared or without a column, told before any job."""

from pathlib import Path
from typing import Any

import pytest
from embedded import ROOT, study

from workflow_scripts.checks import check
from workflow_scripts.config import ConfigError, merge, read_config
from workflow_scripts.study import Study, load_study

PAPER = read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml")
TABLE = "xnli/xnli.15way.orig.tsv"


def first_problem(config: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        check(config)
    return str(caught.value.problems[0])


def test_a_dump_and_a_word_list_may_serve_several_languages_and_a_copy_its_originals_files() -> None:
    words = {"segmenter": "jieba", "segmenter_dictionary": "jieba/zh.dict.txt"}
    copied = {"copy_of": "fr", "text": study()["languages"]["fr"]["text"]}
    assert load_study(study(languages={"de": words, "ru": copied})).original("ru") == "fr"


def test_absent_file_is_named_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "xnli").mkdir()
    (tmp_path / "xnli/multinli.train.en.csv").touch()
    first = first_problem(study(data={"origin": "local", "root": str(tmp_path)}))
    assert first.startswith(f"data.nli.train: no such file: {tmp_path}/xnli/multinli.train.en.tsv")
    assert "did you mean 'multinli.train.en.csv'?" in first


def test_an_absent_data_root_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        check(study(data={"origin": "local", "root": str(tmp_path / "none")}))
    assert caught.value.problems == [
        f"data.root: no such folder: {tmp_path}/none (expected the folder that the paths of all data start from)"
    ]


def local_study(root: Path, header: str, **changes: Any) -> dict[str, Any]:
    """Return a description whose files are all there, the table of parallel sentences with this header."""
    config = study(data={"origin": "local", "root": str(root)}, **changes)
    for path in Study(config).needed_files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (root / TABLE).write_text(header, encoding="utf-8")
    return config


def test_every_language_needs_its_parallel_sentences(tmp_path: Path) -> None:
    assert first_problem(local_study(tmp_path, "")).startswith("data.parallel: ")
    columns, missing = "de\ten\tfr\tru\n", f"languages.zh.parallel: missing, but {tmp_path / TABLE} has no column 'zh'"
    assert first_problem(local_study(tmp_path, columns)).startswith(f"{missing} (expected a file")
    check(local_study(tmp_path, columns, languages={"zh": {"parallel": "own/zh.txt"}}))


def test_a_file_that_no_dataset_brings_is_named() -> None:
    """The date of a dump is in its name: changing only one of the two would fetch nothing."""
    check(PAPER)
    first = first_problem(merge(PAPER, {"data": {"wikipedia_date": "20261101"}}))
    assert "languages.en.text.wiki.files[0]: no such file: results/data/paper/wikipedia/enwiki-20261001" in first


def test_what_a_study_does_not_use_need_not_be_there_nor_be_described(tmp_path: Path) -> None:
    bare = {
        "pairs": ["en-nds"],
        "languages": [],
        "settings": ["default"],
        "extra": [],
        "skip": [],
        "tasks": ["parsing"],
    }
    text = {"wiki": {"format": "text", "files": ["nds.txt"]}}
    own = {"name": "Low German", "script": "Latin", "moses": "de", "segmenter": "none", "text": text}
    own["treebank"] = {"train": "unused.conllu", "test": "test.conllu"}
    described = {"languages": {"nds": own}, "data": {"origin": "local", "root": str(tmp_path), "parallel": None}}
    config = merge(study(), {"study": bare, **described})
    used = {f"languages.en.treebank.{split}" for split in ("train", "dev", "test")}
    assert Study(config).needed_files.keys() == used | {
        "languages.en.text.wiki.files[0]", "languages.nds.text.wiki.files[0]", "languages.nds.treebank.test",
    }  # fmt: skip
    for path in Study(config).needed_files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert load_study(config).parallel_sides == {}


def test_files_of_tasks_that_are_not_run_are_not_asked_for() -> None:
    names = " ".join(map(str, Study(merge(PAPER, {"study": {"tasks": ["xnli"]}})).needed_files.values()))
    assert "multinli" in names
    assert not any(word in names for word in ("conll2003", "msra", "wikiann", "conllu"))
