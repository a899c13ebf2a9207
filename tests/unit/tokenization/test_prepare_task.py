"""Task files as JSON lines in the words of the pretraining text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.tokenization import prepare_task

ENGLISH = {"language": "en", "moses": "en"}


@pytest.fixture
def prepare(call: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Return a function that prepares a text and returns its records, or the error line."""

    def command(task: str, form: str, language: str, text: str, options: object = None) -> Any:
        (tmp_path / "raw").write_text(text, encoding="utf-8", newline="\n")
        flags = ["--format", form, "--language", language, "--input", tmp_path / "raw", "--out", tmp_path / "out"]
        if options is not None:
            (tmp_path / "options.json").write_text(options if isinstance(options, str) else json.dumps(options))
            flags += ["--tokeniser", tmp_path / "options.json"]
        code, error, _ = call(prepare_task.main, task, *flags)
        if code == 0:
            return [json.loads(line) for line in (tmp_path / "out").read_text(encoding="utf-8").split("\n")[:-1]]
        assert not (tmp_path / "out").exists()
        return error

    return command


TREE = "1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\t_\tADP\t_\t_\t2\tobl:arg\t_\t_\n2\tLe\t_\tDET\t_\t_\t0\troot\t_\t_\n"
RECORDS = [
    ("nli", "xnli-mt", "premise\thypo\tlabel\nA, b\tC\u2028d E\tcontradictory\n", ENGLISH,
     {"premise": ["a", ",", "b"], "hypothesis": ["c", "d", "e"], "label": "contradiction"}),
    ("nli", "xnli-mt", "premise\thypo\tlabel\nA  B.\tC\tneutral\n", None,  # words stand as they are
     {"premise": ["A", "B."], "hypothesis": ["C"], "label": "neutral"}),
    ("ner", "wikiann", "en:New\tB-LOC\nen:Don't\tI-LOC\n", ENGLISH,
     {"words": ["new", "don't"], "tags": ["B-LOC", "I-LOC"]}),
    ("ner", "conll2003", "U.N. NNP I-NP I-ORG\n", ENGLISH, {"words": ["u.n."], "tags": ["B-ORG"]}),
    ("parsing", "conllu", TREE, ENGLISH,
     {"words": ["de", "le"], "heads": [2, 0], "deprels": ["obl", "root"], "upos": ["ADP", "DET"]}),
]  # fmt: skip


@pytest.mark.parametrize(("task", "form", "text", "options", "expected"), RECORDS)
def test_records(prepare: Callable[..., Any], task: str, form: str, text: str, options: Any, expected: Any) -> None:
    assert prepare(task, form, "en", text, options) == [expected]


def test_files_follow_each_other_and_a_mistake_names_its_file(call: Callable[..., Any], tmp_path: Path) -> None:
    for name, label in (("one", "neutral"), ("two", "entailment"), ("bad", "maybe")):
        (tmp_path / name).write_text(f"premise\thypo\tlabel\n{name}\tb\t{label}\n")
    flags = ["nli", "--format", "xnli-mt", "--language", "en", "--out", tmp_path / "out", "--input"]
    assert call(prepare_task.main, *flags, tmp_path / "one", tmp_path / "two").code == 0
    written = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [(one["premise"], one["label"]) for one in written] == [(["one"], "neutral"), (["two"], "entailment")]
    told = call(prepare_task.main, *flags, tmp_path / "one", tmp_path / "bad").said
    assert f"{tmp_path / 'bad'}, line 2: label 'maybe'" in told


def test_msra_is_segmented_as_it_stands_and_normalised_after(prepare: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("中国 9\n银行 9\n北京 9\n", encoding="utf-8")
    tags = ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "O", "B-LOC", "I-LOC", "O", "B-ORG", "I-ORG", "I-ORG"]
    text = "".join(f"{c} {tag}\n" for c, tag in zip("中国银行在“北京”IBM", tags, strict=True))
    options = {"language": "zh", "moses": "zh", "segmenter": "jieba", "dictionary": str(tmp_path / "words.txt")}
    (record,) = prepare("ner", "msra", "zh", text, options)
    assert record["words"] == ["中国", "银行", "在", '"', "北京", '"', "ibm"]
    assert record["tags"] == ["B-ORG", "I-ORG", "O", "O", "B-LOC", "O", "B-ORG"]


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("de:a\tO\n", None, "raw, line 1: a token of 'de', expected 'fr'"),
        ("fr:a\tO\nfr:b\tX\n", None, "raw, line 2: tag 'X'"),
        ("fr:a\tO\n", {"moses": "fr"}, "options.json: language: missing key"),
    ],
)
def test_failures_are_one_line_and_leave_nothing(
    prepare: Callable[..., Any], text: str, options: Any, problem: str
) -> None:
    error = prepare("ner", "wikiann", "fr", text, options)
    assert problem in error
    assert error.count("\n") == 1


def test_a_sentence_of_which_nothing_is_left_is_named(prepare: Callable[..., Any]) -> None:
    error = prepare("nli", "xnli-mt", "en", "premise\thypo\tlabel\na\t\u200b\tneutral\n", ENGLISH)
    assert "raw: nothing left of '\\u200b' after tokenising" in error


RUSSIAN = "кошка собака дом улица человек"
OTHER = (
    "the of and to in a is was for that on with as by at from his it an were are which be this had or first their one"
)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (RUSSIAN, "raw: 0% of its letters are Latin, most are Cyrillic, as in 'кошка собака"),
        (OTHER, "other.txt, the text of English (one of the two files is of another language)"),
        ("le la de et un une pour dans que qui sur avec par au est", ""),
    ],
)
def test_data_of_another_language_is_refused(
    call: Callable[..., Any], tmp_path: Path, words: str, problem: str
) -> None:
    text = "premise\thypo\tlabel\n" + f"{words}\tb\tneutral\n" * 100
    (tmp_path / "raw").write_text(text, encoding="utf-8")
    (tmp_path / "other.txt").write_text(f"{OTHER}\n" * 100)
    flags = ["--format", "xnli-mt", "--language", "fr", "--input", tmp_path / "raw", "--out", tmp_path / "out"]
    done = call(prepare_task.main, "nli", *flags, "--script", "Latin", "--unlike", f"English={tmp_path / 'other.txt'}")
    assert (done.code, problem in done.said) == (2 if problem else 0, True)
    assert (tmp_path / "out").exists() == (not problem)
