from pathlib import Path

import pytest

from xling.synthetic.formats.crawl import write_crawl
from xling.synthetic.formats.xnli import COLUMNS, write_column, write_evaluation, write_parallel, write_training
from xling.synthetic.types import Document, NliPair, Sentence


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def pairs(spaced: list[Sentence]) -> list[NliPair]:
    one = spaced[0].meaning
    return [NliPair(one, one, "entailment"), NliPair(one, one, "contradiction"), NliPair(one, one, "neutral")]


def test_training_file_says_contradictory(tmp_path: Path, spaced: list[Sentence]) -> None:
    labels = ["entailment", "neutral", "contradiction"]
    write_training(tmp_path / "multinli.train.en.tsv", [(spaced[0], spaced[1], label) for label in labels])
    header, *found = rows(tmp_path / "multinli.train.en.tsv")
    assert header == ["premise", "hypo", "label"]
    assert [row[2] for row in found] == ["entailment", "neutral", "contradictory"]
    assert found[0][:2] == [spaced[0].text, spaced[1].text]


def test_evaluation_has_all_languages_in_19_columns(tmp_path: Path, pairs: list[NliPair], spaced: list[Sentence],
                                                    unspaced: list[Sentence]) -> None:  # fmt: skip
    realised = {"zh": [(unspaced[0], unspaced[0])] * 3, "fr": [(spaced[0], spaced[1])] * 3}
    write_evaluation(tmp_path / "xnli.dev.tsv", pairs, realised)
    header, *found = rows(tmp_path / "xnli.dev.tsv")
    assert len(header) == 19
    assert [row[0] for row in found] == ["fr"] * 3 + ["zh"] * 3
    by_name = [dict(zip(header, row, strict=True)) for row in found]
    assert [row["gold_label"] for row in by_name] == ["entailment", "contradiction", "neutral"] * 2
    assert by_name[0]["sentence1_tokenized"] == "Le chat voit la maison du roi ."
    assert by_name[3]["sentence2_tokenized"] == "王明 爱 北京 。"
    assert [row["pairID"] for row in by_name] == ["1", "2", "3"] * 2


@pytest.mark.real_data
def test_columns_are_those_of_the_real_files(real_data: Path) -> None:
    with (real_data / "xnli" / "xnli.dev.tsv").open(encoding="utf-8") as handle:
        assert tuple(handle.readline().rstrip("\n").split("\t")) == COLUMNS


def test_parallel_columns_are_sorted_and_aligned(tmp_path: Path) -> None:
    write_parallel(tmp_path / "xnli.15way.orig.tsv", {"fr": ["un", "deux"], "en": ["one", "two"]})
    assert rows(tmp_path / "xnli.15way.orig.tsv") == [["en", "fr"], ["one", "un"], ["two", "deux"]]
    write_column(tmp_path / "xnli.15way.en2.txt", ["1", "2"])
    assert rows(tmp_path / "xnli.15way.en2.txt") == [["1"], ["2"]]


def test_columns_of_different_length_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_parallel(tmp_path / "xnli.15way.orig.tsv", {"fr": ["un"], "en": ["one", "two"]})
    assert list(tmp_path.iterdir()) == []


def test_crawl_has_a_paragraph_a_line_and_a_blank_line_after_a_document(
    tmp_path: Path, documents: list[Document]
) -> None:
    write_crawl(tmp_path / "fr.txt", documents[:2], " ")
    found = (tmp_path / "fr.txt").read_text(encoding="utf-8").split("\n\n")
    assert found[-1] == ""
    expected = [[" ".join(paragraph.sentences) for paragraph in document.paragraphs] for document in documents[:2]]
    assert [block.split("\n") for block in found[:-1]] == expected
