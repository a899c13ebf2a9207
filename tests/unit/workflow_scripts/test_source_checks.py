"""Where a study's data come from: files that are missing, shared or without a column, told before any job."""

from pathlib import Path
from typing import Any

import pytest
from embedded import ROOT, study

from workflow_scripts.config import merge, read_config
from workflow_scripts.files import needed_files
from workflow_scripts.study import load_study


def test_a_dump_and_a_word_list_may_serve_several_languages_and_a_copy_its_originals_files() -> None:
    words = {"segmenter": "jieba", "segmenter_dictionary": "jieba/zh.dict.txt"}
    copied = {"copy_of": "fr", "text": study()["languages"]["fr"]["text"]}
    assert load_study(study(languages={"de": words, "ru": copied})).original("ru") == "fr"


def test_absent_file_is_named_with_the_nearest_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "xnli").mkdir()
    (tmp_path / "xnli/multinli.train.en.csv").touch()
    with pytest.raises(SystemExit):
        load_study(study(data={"origin": "local", "root": str(tmp_path)}))
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith(f"config: data.nli.train: no such file: {tmp_path}/xnli/multinli.train.en.tsv")
    assert "did you mean 'multinli.train.en.csv'?" in first


def local_study(root: Path, header: str, **changes: Any) -> dict[str, Any]:
    """Return a description whose files are all there, the table of parallel sentences with this header."""
    config = study(data={"origin": "local", "root": str(root)}, **changes)
    for path in needed_files(config).values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (root / config["data"]["parallel"]).write_text(header, encoding="utf-8")
    return config


def test_a_language_without_a_column_of_parallel_sentences_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = "de\ten\tfr\tru\n"
    with pytest.raises(SystemExit):
        load_study(local_study(tmp_path, columns))
    (line,) = capsys.readouterr().err.splitlines()
    table = tmp_path / "xnli/xnli.15way.orig.tsv"
    assert line.startswith(f"config: languages.zh.parallel: missing, but {table} has no column 'zh' (expected a file")
    load_study(local_study(tmp_path, columns, languages={"zh": {"parallel": "own/zh.txt"}}))


def test_a_table_of_parallel_sentences_without_a_header_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        load_study(local_study(tmp_path, ""))
    assert "config: data.parallel: " in capsys.readouterr().err


def test_a_file_that_no_dataset_brings_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The date of a dump is in its name: changing only one of the two would fetch nothing."""
    paper = read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml")
    load_study(paper)
    with pytest.raises(SystemExit):
        load_study(merge(paper, {"data": {"wikipedia_date": "20261101"}}))
    first = capsys.readouterr().err.splitlines()[0]
    assert "languages.en.text.wiki.files[0]: no such file: results/data/paper/wikipedia/enwiki-20261001" in first


def test_files_of_tasks_that_are_not_run_are_not_asked_for() -> None:
    paper = read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml")
    names = " ".join(map(str, needed_files(merge(paper, {"study": {"tasks": ["xnli"]}})).values()))
    assert "multinli" in names
    assert not any(word in names for word in ("conll2003", "msra", "wikiann", "conllu"))
