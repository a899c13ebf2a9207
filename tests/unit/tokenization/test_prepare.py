"""Task files and parallel sentences in the words of the pretraining text."""

import json
from pathlib import Path

import pytest

from xling.tokenization import prepare_parallel, prepare_task

ENGLISH = {"language": "en", "moses": "en"}
NLI = "premise\thypo\tlabel\n"
TREE = "1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\t_\tADP\t_\t_\t2\tobl:arg\t_\t_\n2\tLe\t_\tDET\t_\t_\t0\troot\t_\t_\n"
BANK = "中 B-ORG\n国 I-ORG\n银 I-ORG\n行 I-ORG\n在 O\n“ O\n北 B-LOC\n京 I-LOC\n” O\nI B-ORG\nB I-ORG\nM I-ORG\n"


@pytest.fixture
def prepare(call, tmp_path):
    """Return a function that prepares texts and returns the records, or the error if the texts are refused."""

    def command(task, form, *texts, options=None, more=()):
        paths = [tmp_path / f"raw{number}" for number, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8", newline="\n")
        (tmp_path / "options.json").write_text(json.dumps(options))
        flags = ["--tokeniser", tmp_path / "options.json"] if options else []
        flags += ["--format", form, "--language", "en", "--input", *paths, "--out", tmp_path / "out", *more]
        code, error, _ = call(prepare_task.main, task, *flags)
        if code == 0:
            return [json.loads(line) for line in (tmp_path / "out").read_text(encoding="utf-8").split("\n")[:-1]]
        assert (code, error.count("\n"), (tmp_path / "out").exists()) == (2, 1, False)
        return error

    return command


RECORDS: list[tuple[str, str, str, object, object]] = [
    ("nli", "xnli-mt", f"{NLI}A, b\tC\u2028d E\tcontradictory\n", ENGLISH,
     {"premise": ["a", ",", "b"], "hypothesis": ["c", "d", "e"], "label": "contradiction"}),
    ("nli", "xnli-mt", f"{NLI}A  B.\tC\tneutral\n", None,  # words stand as they are
     {"premise": ["A", "B."], "hypothesis": ["C"], "label": "neutral"}),
    ("nli", "xnli-mt", f"{NLI}I Don't.\tIt 's\tneutral\n", ENGLISH,
     {"premise": ["i", "don", "'t", "."], "hypothesis": ["it", "'", "s"], "label": "neutral"}),
    ("nli", "xnli-mt-tokenised", f"{NLI}I Don 't .\tIt 's U.S.\tneutral\n", ENGLISH,  # by Moses, once
     {"premise": ["i", "don", "'t", "."], "hypothesis": ["it", "'s", "u.s."], "label": "neutral"}),
    ("nli", "xnli", "language\tsentence1\tsentence2\tgold_label\nfr\tb\tc\tneutral\nen\tA\tBad.\tneutral\n", ENGLISH,
     {"premise": ["a"], "hypothesis": ["bad", "."], "label": "neutral"}),
    ("ner", "wikiann", "en:New\tB-LOC\nen:Don't\tI-LOC\n", ENGLISH,
     {"words": ["new", "don't"], "tags": ["B-LOC", "I-LOC"]}),
    ("ner", "conll2003", "U.N. NNP I-NP I-ORG\n", ENGLISH, {"words": ["u.n."], "tags": ["B-ORG"]}),
    ("ner", "msra", BANK,  # segmented as it stands and normalised after
     {"language": "zh", "moses": "zh", "segmenter": "jieba", "dictionary": "words.txt"},
     {"words": ["中国", "银行", "在", '"', "北京", '"', "ibm"],
      "tags": ["B-ORG", "I-ORG", "O", "O", "B-LOC", "O", "B-ORG"]}),
    ("parsing", "conllu", TREE, ENGLISH,
     {"words": ["de", "le"], "heads": [2, 0], "deprels": ["obl", "root"], "upos": ["ADP", "DET"]}),
]  # fmt: skip


@pytest.mark.parametrize(("task", "form", "text", "options", "expected"), RECORDS)
def test_records(prepare, tmp_path, monkeypatch, task, form, text, options, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("中国 9\n银行 9\n北京 9\n", encoding="utf-8")
    assert prepare(task, form, text, text, options=options) == [expected] * 2  # files follow each other


@pytest.mark.parametrize(
    ("form", "texts", "options", "problem"),
    [
        ("wikiann", ["de:a\tO\n"], None, "raw0, line 1: a token of 'de', expected 'en'"),
        ("wikiann", ["en:a\tO\n", "en:a\tO\nen:b\tX\n"], None, "raw1, line 2: tag 'X'"),
        ("wikiann", ["en:a\tO\n"], {"moses": "fr"}, "options.json: language: missing key"),
        ("xnli-mt", [f"{NLI}a\t\u200b\tneutral\n"], ENGLISH, "raw0: nothing left of '\\u200b' after tokenising"),
    ],
)
def test_failures_are_one_line_and_leave_nothing(prepare, form, texts, options, problem):
    assert problem in prepare("ner" if form == "wikiann" else "nli", form, *texts, options=options)


def test_data_in_another_script_is_refused(prepare):
    text = NLI + "кошка собака дом улица\tb\tneutral\n" * 150
    assert "raw0: 0% of its letters" in prepare("nli", "xnli-mt", text, more=("--script", "Latin"))


FILES = {
    "x.tsv": "de\ten\tfr\nja\tYes\tOui, oui\nnein\tno, no\tNon\n",
    "back.txt": "yep\nnope  nope\n",
    "short.txt": "yep\n",
    "vanish.txt": "1\n\u200b\n",
    "fr.json": json.dumps({"language": "fr", "moses": "fr"}),
}
BACK = "yep\nnope nope\n"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--multiway x.tsv --languages fr en --file en2=back.txt --tokeniser fr=fr.json",
         {"fr.txt": "oui , oui\nnon\n", "en.txt": "Yes\nno, no\n", "en2.txt": BACK}),
        ("--multiway x.tsv --languages fr", {"fr.txt": "Oui, oui\nNon\n"}),
        ("--file source=back.txt --file target=back.txt", {"source.txt": BACK, "target.txt": BACK}),
        ("--multiway x.tsv --file en2=short.txt", "short.txt: ends after 1 lines of sentences"),
        ("--file en=back.txt --file fr=vanish.txt --tokeniser fr=fr.json", "fr.txt, line 2: nothing left of"),
        ("--file back.txt", "expected CODE=PATH, each code once"),
        ("", "name each side once"),
        ("--file en=back.txt --multiway x.tsv --languages en", "name each side once"),
        ("--file en=a --tokeniser en=fr.json --tokeniser en=fr.json", "expected CODE=FILE, each code once"),
    ],
)  # fmt: skip
def test_one_file_per_side_or_one_line_and_nothing(call, tmp_path, monkeypatch, flags, expected):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("out").mkdir()
    code, error, _ = call(prepare_parallel.main, *flags.split(), "--out-dir", "out")
    found = {path.name: path.read_text(encoding="utf-8") for path in Path("out").iterdir()}
    if isinstance(expected, str):
        assert (code, error.count("error: "), expected in error, found) == (2, 1, True, {})
    else:
        assert code == 0
        assert {name: text for name, text in found.items() if name in expected} == expected
        assert found.keys() == expected.keys() | {f".{name}.sha256" for name in expected}
