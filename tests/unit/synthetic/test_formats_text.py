"""Crawled text, the files of XNLI and jieba's dictionary."""

from pathlib import Path

import jieba
import pytest

from xling.synthetic.formats import text
from xling.synthetic.types import Document, NliPair, Sentence


def test_training_file_says_contradictory() -> None:
    labels = ["entailment", "neutral", "contradiction"]
    lines = list(text.xnli_training(("A cat.", "No cat.", label) for label in labels))
    assert lines[:2] == ["premise\thypo\tlabel", "A cat.\tNo cat.\tentailment"]
    assert [line.split("\t")[2] for line in lines[2:]] == ["neutral", "contradictory"]


def test_evaluation_has_all_languages_in_19_columns(spaced: list[Sentence], unspaced: Sentence) -> None:
    labels = ["entailment", "contradiction", "neutral"]
    pairs = [NliPair(unspaced.meaning, unspaced.meaning, label) for label in labels]
    realised = {"zh": [(unspaced, unspaced)] * 3, "fr": [(spaced[0], spaced[1])] * 3}
    header, *rows = (line.split("\t") for line in text.xnli_evaluation(pairs, realised))
    assert len(header) == 19
    found = [dict(zip(header, row, strict=True)) for row in rows]
    for column, values in (
        ("language", ["fr"] * 3 + ["zh"] * 3),
        ("gold_label", labels * 2),
        ("label5", labels * 2),
        ("pairID", ["1", "2", "3"] * 2),
        ("sentence1", [spaced[0].text] * 3 + [unspaced.text] * 3),
        ("sentence1_tokenized", ["Le chat voit la maison du roi ."] * 3 + ["王明 爱 北京 。"] * 3),
    ):
        assert [row[column] for row in found] == values


@pytest.mark.real_data
def test_columns_are_those_of_the_real_files(real_data: Path) -> None:
    with (real_data / "xnli" / "xnli.dev.tsv").open(encoding="utf-8") as handle:
        assert tuple(handle.readline().rstrip("\n").split("\t")) == text.XNLI_COLUMNS


def test_parallel_columns_are_sorted_and_aligned_and_unequal_ones_leave_no_file(tmp_path: Path) -> None:
    assert list(text.parallel_columns({"fr": ["un", "deux"], "en": ["one", "two"]})) == [
        "en\tfr",
        "one\tun",
        "two\tdeux",
    ]
    with pytest.raises(ValueError, match="shorter"):
        text.write_lines(tmp_path / "xnli.15way.orig.tsv", text.parallel_columns({"fr": ["un"], "en": ["one", "two"]}))
    assert list(tmp_path.iterdir()) == []


def test_crawl_has_one_line_per_paragraph_and_a_blank_line_after_a_document(pages: list[Document]) -> None:
    expected = [[" ".join(paragraph.sentences) for paragraph in page.paragraphs] for page in pages[:2]]
    assert list(text.crawl(pages[:2], " ")) == [*expected[0], "", *expected[1], ""]


def test_jieba_loads_its_dictionary_and_cuts_with_it(tmp_path: Path) -> None:
    lines = list(text.jieba_dictionary([("王明", 500.0), ("爱", 0.2), ("北京", 800.0), ("a b", 3.0)]))
    assert lines == ["北京 800", "王明 500", "爱 1"]
    text.write_lines(tmp_path / "zh.dict.txt", lines)
    tokeniser = jieba.Tokenizer(dictionary=str(tmp_path / "zh.dict.txt"))
    tokeniser.tmp_dir = str(tmp_path)
    assert tokeniser.lcut("王明爱北京", HMM=False) == ["王明", "爱", "北京"]
