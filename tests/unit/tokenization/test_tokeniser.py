"""One tokeniser for text and tasks: options, words, single words, Chinese."""

import sys
import unicodedata
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import XlingError
from xling.core.io import read_lines
from xling.tokenization import chinese
from xling.tokenization.chinese import Stanford, make_converter, make_jieba
from xling.tokenization.tokeniser import NOTHING, make_tokeniser

FRENCH = make_tokeniser({"language": "fr", "moses": "fr"})
BARE = make_tokeniser({"language": "xx", "moses": None, "strip_accents": True})
CHINESE = {"language": "zh", "moses": "zh"}


@pytest.mark.parametrize("tokeniser", [FRENCH, BARE])
@settings(max_examples=60)
@given(text=st.text())
def test_words_are_folded_and_gold_tokens_never_split_nor_empty(tokeniser, text):
    words = tokeniser.words(text)
    assert all(word and len(word.split()) == 1 for word in words)
    assert " ".join(words) == tokeniser.line(text)
    assert [word.lower() for word in words] == words
    assert tokeniser.word(text).split() == [tokeniser.word(text)]
    if tokeniser is BARE:
        assert not any(unicodedata.category(character) == "Mn" for character in tokeniser.line(text))


@pytest.mark.parametrize(
    ("options", "line", "words", "gold"),  # a line, its words, and its parts as gold tokens
    [
        ({"moses": "fr"}, "« L’été », dit-il… 3,5 % ?", "\" l' été \" , dit-il ... 3,5 % ?", "\" l'été \", dit-il... 3,5 % ?"),
        ({"moses": "fr"}, "Don't “ — ( \u200b", "don' t \" - (", f"don't \" - ( {NOTHING}"),
        ({"moses": "ru", "strip_accents": True}, "Мой Ёж \u0301", "мои еж", f"мои еж {NOTHING}"),
        ({"moses": "ru"}, "Мой Ёж", "мой ёж", "мой ёж"),
        ({"moses": "ru", "lowercase": False, "strip_accents": True}, "Мой Ёж", "Мои Еж", "Мои Еж"),
        ({"moses": "zh", "script": "simplified"}, "漢語 头发", "汉语 头发", "汉语 头发"),
        ({"moses": "zh", "script": "traditional"}, "漢語 头发", "漢語 頭髮", "漢語 頭髮"),
    ],
)  # fmt: skip
def test_options_apply_to_text_and_to_gold_tokens(options, line, words, gold):
    tokeniser = make_tokeniser({"language": "xx", **options})
    assert tokeniser.line(line) == words
    assert [tokeniser.word(form) for form in line.split()] == gold.split()
    assert (tokeniser.line(" \t "), tokeniser.word("10 000"), tokeniser.word("")) == ("", "10000", NOTHING)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"lower": True}, "lower: unknown key .did you mean 'lowercase'"),
        ({"segmenter": "icu"}, "expected one of none, jieba, stanford"),
        ({"segmenter": "stanford"}, "stanford_home: missing"),
        ({"segmenter": "stanford", "stanford_home": "."}, r"pku.gz: not found .*unpacked stanford-segmenter folder"),
        ({"segmenter": "jieba", "dictionary": "1.txt"}, "1.txt, line 1: expected `word frequency`"),
        ({"segmenter": "jieba", "dictionary": "2.txt"}, "2.txt, line 2: expected `word frequency`"),
    ],
)
def test_wrong_options_are_named(tmp_path, monkeypatch, options, problem):
    monkeypatch.chdir(tmp_path)
    for name, text in (("1.txt", "词 x\n"), ("2.txt", "词 5\n词\n")):
        Path(name).write_text(text, encoding="utf-8")
    with pytest.raises(XlingError, match=problem):
        make_tokeniser(CHINESE | options)


@pytest.mark.real_data
def test_real_chinese_is_converted_and_segmented_without_loss(real_data, tmp_path, monkeypatch):
    lines = list(islice(read_lines(real_data / "text" / "wiki.zh.txt.xz"), 100))
    convert = make_converter("simplified")
    once = [convert(line) for line in lines]
    assert sum(map(len, once)) == sum(map(len, lines))
    assert sum(convert(line) != line for line in once) <= len(lines) // 100  # a few phrases settle in two steps
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where a shared cache would be seen
    jieba = make_jieba(None)
    assert jieba("我来到北京清华大学") == ["我", "来到", "北京", "清华大学"]
    assert list(tmp_path.iterdir()) == []
    words = [jieba(line) for line in lines]
    assert ["".join(found) for found in words] == ["".join(line.split()) for line in lines]
    assert 1.2 < sum(map(len, lines)) / sum(map(len, words)) < 2.2  # characters per word


FAKE_JAVA = """#!{python}
import sys
assert "edu.stanford.nlp.ie.crf.CRFClassifier" in sys.argv and "-readStdin" in sys.argv
print("loading", file=sys.stderr)
for number, line in enumerate(sys.stdin.buffer):
    text = line.decode("utf-8").strip().replace("变", "變")
    if "停" in text:
        sys.exit("OutOfMemoryError: heap")
    print("tagged a line", file=sys.stderr, flush=True)
    print(" ".join(text.replace(" ", "")), flush=True)
    if "乱" in text:
        print("extra", flush=True)
"""


@pytest.fixture
def java(tmp_path):
    """Return a program in the place of Java's that segments by characters, beside what the segmenter's folder holds."""
    (tmp_path / "data").mkdir()
    for name in ("pku.gz", "dict-chris6.ser.gz"):
        (tmp_path / "data" / name).touch()
    java = tmp_path / "java"
    java.write_text(FAKE_JAVA.format(python=sys.executable), encoding="utf-8")
    java.chmod(0o755)
    return java


def test_words_of_the_stanford_segmenter_are_normalised_and_not_split_again(tmp_path, java, monkeypatch):
    """As in XLM's script for Chinese; the words of jieba go through all of Moses."""
    monkeypatch.setenv("PATH", str(java.parent), prepend=":")
    options = {**CHINESE, "segmenter": "stanford", "stanford_home": str(tmp_path)}
    text = "A&B占3.5%。"
    stanford = make_tokeniser(options)
    stanford._segment = lambda _: ["A&B", "占", "3.5%", "。"]
    assert stanford.line(text) == "a&b 占 3.5% ."
    jieba = make_tokeniser({**CHINESE, "segmenter": "jieba"})
    jieba._segment = stanford._segment
    assert jieba.line(text) == "a & b 占 3.5 % ."


def test_stanford_is_started_once_asked_line_by_line_and_its_failures_are_named(tmp_path, java, monkeypatch):
    monkeypatch.setattr(chinese, "FORGET_EVERY", 10)
    segmenter = Stanford(tmp_path, str(java))
    process = segmenter._process
    texts = {"我 来": "我 来", " ": "", "𠮷〓野\u2028家": "𠮷 〓 野 家", "变化": "變 化"}
    assert {text: " ".join(segmenter(text)) for text in texts} == texts
    for _ in range(300):  # more than a pipe holds if answers were not taken
        assert len(segmenter("天" * 500)) == 500
    assert segmenter._errors.seek(0, 2) < 20 * len("tagged a line\n")  # what it says of each line is not kept
    segmenter.close()
    assert process.returncode == 0
    segmenter = Stanford(tmp_path, str(java))
    process = segmenter._process
    segmenter("乱")
    with pytest.raises(XlingError, match="out of step"):
        segmenter("天")
    segmenter.close()
    assert process.returncode is not None  # its last answer is not read, so it may end with an error
    with pytest.raises(XlingError, match="the Stanford segmenter stopped: OutOfMemoryError: heap"):
        Stanford(tmp_path, str(java))("停")
    with pytest.raises(XlingError, match="no-such-java not found"):
        Stanford(tmp_path, "no-such-java")
