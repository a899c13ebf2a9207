"""The dictionary command: both forms in, the words of the text out, and nothing half-written."""

import json

import pytest

from xling.codeswitch.build_dictionary import main
from xling.data.dictionary import Translation
from xling.data.panlex import read_panlex
from xling.synthetic.formats.dictionaries import write_panlex

ENGLISH, FRENCH = ({"language": code, "moses": code} for code in ("en", "fr"))


def test_a_simple_dictionary_comes_in_the_words_of_the_text_with_the_best_quality(call, tmp_path):
    # The first two become one, one is of quality 0 and could never be drawn, and nothing is left of the last.
    text = "Dog\tChien\ndog\tchien\t3\nhello\tBonjour,\t2\nzero\tnul\t0\nnothing\t\u200b\n"
    (tmp_path / "in.tsv").write_text(text, encoding="utf-8")
    arguments = ["--format", "tsv", "--input", tmp_path / "in.tsv", "--out", tmp_path / "out.tsv"]
    for side, options in (("source", ENGLISH), ("target", FRENCH)):
        (tmp_path / side).write_text(json.dumps(options))
        arguments += ["--tokeniser", f"{side}={tmp_path / side}"]
    assert call(main, *arguments).code == 0
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == "dog\tchien\t3\nhello\tbonjour ,\t2\n"


def test_a_panlex_dump(call, tmp_path):
    write_panlex(tmp_path / "dump", "eng", {"fra": [Translation("dog", "chien", 5), Translation("cat", "chat", 3)]})
    arguments = ["--format", "panlex", "--input", tmp_path / "dump", "--out", tmp_path / "out.tsv"]
    assert call(main, *arguments).code == 2  # which varieties?
    assert call(main, *arguments, "--source", "eng-000", "--target", "fra-000").code == 0
    entries = sorted(read_panlex(tmp_path / "dump", "eng-000", "fra-000"))
    expected = "".join(f"{source}\t{target}\t{quality:g}\n" for source, target, quality in entries)
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("text", "problem"), [("dog\tchien\t0\n", "in.tsv: no translation in it"), ("a\tb\nc\n", "in.tsv, line 2: no tab")]
)
def test_a_failure_leaves_the_old_file(call, tmp_path, text, problem):
    (tmp_path / "in.tsv").write_text(text)
    (tmp_path / "out.tsv").write_text("old\n")
    done = call(main, "--format", "tsv", "--input", tmp_path / "in.tsv", "--out", tmp_path / "out.tsv")
    assert (done.code, problem in done.error) == (2, True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"in.tsv": text, "out.tsv": "old\n"}
