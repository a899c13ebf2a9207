import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xling.core.errors import InputError, XlingError
from xling.tokenization import prepare, words

OPTIONS = json.dumps({"language": "xx", "moses": "en", "lowercase": True, "script": "none", "strip_accents": False})


class Lower:
    """A stand-in for the tokeniser: lower-cases as told, and cuts text after every second character without spaces."""

    def __init__(self, options: dict[str, object]) -> None:
        self.options = options

    def words(self, text: str) -> list[str]:
        text = self.word(text)
        return text.split() if " " in text else [text[i : i + 2] for i in range(0, len(text), 2)]

    def word(self, form: str) -> str:
        return form.lower() if self.options["lowercase"] else form


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def prepared(
    monkeypatch: pytest.MonkeyPatch, path: Path, *arguments: str, make: Callable[..., object] = Lower
) -> list[dict[str, object]]:
    out = path.parent / "out.jsonl"
    monkeypatch.setattr(words, "make_tokeniser", make)
    monkeypatch.setattr(sys, "argv", ["prepare", *arguments, "--input", str(path), "--out", str(out)])
    prepare.main()
    return [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n")[:-1]]


def test_nli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.tsv", "premise\thypo\tlabel\nA B\tC\u2028d E\tcontradictory\n")
    records = prepared(monkeypatch, path, "nli", "--format", "xnli-mt", "--language", "en", "--tokeniser", OPTIONS)
    assert records == [{"premise": ["a", "b"], "hypothesis": ["c", "d", "e"], "label": "contradiction"}]


def test_ner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "dev", "en:New\tB-LOC\nen:York\tI-LOC\n")
    records = prepared(monkeypatch, path, "ner", "--format", "wikiann", "--language", "en", "--tokeniser", OPTIONS)
    assert records == [{"words": ["new", "york"], "tags": ["B-LOC", "I-LOC"]}]


def test_msra_is_segmented_as_it_stands_and_normalised_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "m", "I B-ORG\nB I-ORG\nM I-ORG\n在 O\n")
    records = prepared(monkeypatch, path, "ner", "--format", "msra", "--language", "zh", "--tokeniser", OPTIONS)
    assert records == [{"words": ["ib", "m在"], "tags": ["B-ORG", "I-ORG"]}]


def test_msra_with_the_real_tokeniser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word_list = write(tmp_path / "words.txt", "中国 9\n银行 9\n北京 9\n")
    characters = "中国银行在“北京”IBM"
    tags = ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "O", "B-LOC", "I-LOC", "O", "B-ORG", "I-ORG", "I-ORG"]
    path = write(tmp_path / "m", "".join(f"{c} {tag}\n" for c, tag in zip(characters, tags, strict=True)))
    options = {"language": "zh", "moses": "zh", "segmenter": "jieba", "dictionary": str(word_list), "lowercase": True}
    arguments = ["ner", "--format", "msra", "--language", "zh", "--tokeniser", json.dumps(options)]
    records = prepared(monkeypatch, path, *arguments, make=words.make_tokeniser)
    expected = [
        ("中国", "B-ORG"),
        ("银行", "I-ORG"),
        ("在", "O"),
        ('"', "O"),
        ("北京", "B-LOC"),
        ('"', "O"),
        ("ibm", "B-ORG"),
    ]
    assert list(zip(records[0]["words"], records[0]["tags"], strict=True)) == expected


def test_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        "1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\t_\tADP\t_\t_\t2\tobl:arg\t_\t_\n2\tLe\t_\tDET\t_\t_\t0\troot\t_\t_\n"
    )
    path = write(tmp_path / "a.conllu", rows)
    records = prepared(monkeypatch, path, "parsing", "--format", "conllu", "--language", "fr", "--tokeniser", OPTIONS)
    assert records == [{"words": ["de", "le"], "heads": [2, 0], "deprels": ["obl", "root"], "upos": ["ADP", "DET"]}]


def test_without_a_tokeniser_words_stand_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.tsv", "premise\thypo\tlabel\nA  B.\tC\tneutral\n")
    records = prepared(monkeypatch, path, "nli", "--format", "xnli-mt", "--language", "en")
    assert records == [{"premise": ["A", "B."], "hypothesis": ["C"], "label": "neutral"}]


@pytest.mark.parametrize(("options", "problem"), [("{", "not JSON"), ("[]", "not a JSON object")])
def test_bad_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, problem: str) -> None:
    with pytest.raises(XlingError, match=problem):
        prepared(monkeypatch, tmp_path / "x", "nli", "--format", "xnli", "--language", "en", "--tokeniser", options)


def test_wikiann_of_another_language_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "dev", "de:a\tO\n")
    with pytest.raises(InputError, match=r"dev, line 1: a token of 'de', expected 'fr'"):
        prepared(monkeypatch, path, "ner", "--format", "wikiann", "--language", "fr")
    assert [one.name for one in tmp_path.iterdir()] == ["dev"]


def test_failure_names_file_and_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "dev", "en:a\tO\nen:b\tX\n")
    with pytest.raises(InputError, match=r"dev, line 2: tag 'X'"):
        prepared(monkeypatch, path, "ner", "--format", "wikiann", "--language", "en")
    assert [one.name for one in tmp_path.iterdir()] == ["dev"]


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("arguments", "file", "count"),
    [
        (("nli", "--format", "xnli"), "xnli/xnli.dev.tsv", 2490),
        (("ner", "--format", "wikiann"), "wikiann/fr/dev", 10000),
        (("parsing", "--format", "conllu"), "ud/UD_French-GSD/fr_gsd-ud-test.conllu", 416),
    ],
)
def test_real_french(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], file: str, count: int
) -> None:
    (tmp_path / "raw").symlink_to(real_data / file)
    records = prepared(monkeypatch, tmp_path / "raw", *arguments, "--language", "fr")
    assert len(records) == count
    lengths = [{len(value) for value in record.values() if isinstance(value, list)} for record in records]
    assert all(0 not in length for length in lengths)
    if arguments[0] != "nli":
        assert all(len(length) == 1 for length in lengths)
