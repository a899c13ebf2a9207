"""One tokeniser for text and tasks: options, words, single words, Chinese."""

import sys
import unicodedata
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.core.errors import InputError, XlingError
from xling.core.io import read_lines
from xling.tokenization.chinese import Segmenter, Stanford, make_converter, make_jieba
from xling.tokenization.tokeniser import NOTHING, Tokeniser, make_tokeniser

FRENCH = make_tokeniser({"language": "fr", "moses": "fr"})
BARE = make_tokeniser({"language": "xx", "moses": None, "strip_accents": True})


def test_lines_are_words_joined_by_spaces() -> None:
    line = "« L’été », dit-il… 3,5 % ?"
    assert FRENCH.words(line) == ['"', "l'", "été", '"', ",", "dit-il", "...", "3,5", "%", "?"]
    assert [FRENCH.line(line) for line in ("Oui, non.", "", " \t ")] == ["oui , non .", "", ""]


@pytest.mark.parametrize("tokeniser", [FRENCH, BARE])
@settings(max_examples=60)
@given(text=st.text())
def test_words_are_folded_and_gold_tokens_never_split_nor_empty(tokeniser: Tokeniser, text: str) -> None:
    words = tokeniser.words(text)
    assert all(word and len(word.split()) == 1 for word in words)
    assert " ".join(words) == tokeniser.line(text)
    assert [word.lower() for word in words] == words
    assert tokeniser.word(text).split() == [tokeniser.word(text)]
    if tokeniser is BARE:
        assert not any(unicodedata.category(character) == "Mn" for character in tokeniser.line(text))


@pytest.mark.parametrize(
    ("form", "word"),
    [("Don't", "don't"), ("“", '"'), ("—", "-"), ("(", "("), ("10 000", "10000"), ("\u200b", NOTHING), ("", NOTHING)],
)
def test_gold_tokens(form: str, word: str) -> None:
    assert FRENCH.word(form) == word


@pytest.mark.parametrize(
    ("options", "line", "words"),
    [
        ({"moses": "ru", "strip_accents": True}, "Мой Ёж \u0301", "мои еж"),
        ({"moses": "ru"}, "Мой Ёж", "мой ёж"),
        ({"moses": "ru", "lowercase": False, "strip_accents": True}, "Мой Ёж", "Мои Еж"),
        ({"moses": "zh", "script": "simplified"}, "漢語 头发", "汉语 头发"),
        ({"moses": "zh", "script": "traditional"}, "漢語 头发", "漢語 頭髮"),
    ],
)
def test_options_apply_to_text_and_to_gold_tokens(options: dict[str, object], line: str, words: str) -> None:
    tokeniser = make_tokeniser({"language": "xx", **options})
    assert tokeniser.line(line) == words
    assert [tokeniser.word(form) for form in line.split()][:2] == words.split()
    assert tokeniser.word("\u0301") == NOTHING or not options.get("strip_accents")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"language": "fr", "moses": "fr", "lower": True}, "lower: unknown key .did you mean 'lowercase'"),
        ({"language": "fr"}, "moses: missing key"),
        ({"language": "zh", "moses": "zh", "segmenter": "icu"}, "expected one of none, jieba, stanford"),
        ({"language": "zh", "moses": "zh", "segmenter": "stanford"}, "stanford_home: missing"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], problem: str) -> None:
    with pytest.raises(XlingError, match=problem):
        make_tokeniser(options)


def test_own_dictionary_decides_the_words(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("天地玄黄 10\n宇宙 10\n洪荒 10\n", encoding="utf-8")
    options = {"language": "zh", "moses": "zh", "segmenter": "jieba", "dictionary": str(tmp_path / "words.txt")}
    assert make_tokeniser(options).line("天地玄黄，宇宙洪荒。") == "天地玄黄 , 宇宙 洪荒 ."


@pytest.fixture(scope="module")
def jieba(tmp_path_factory: pytest.TempPathFactory) -> Segmenter:
    """Return jieba with its own dictionary, made where a shared cache would be seen."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        segment = make_jieba(None)
        assert segment("我来到北京清华大学") == ["我", "来到", "北京", "清华大学"]
    assert list(folder.iterdir()) == []
    return segment


@pytest.mark.parametrize(("line", "text"), [(2, "词 5\n词\n"), (1, "词 x\n"), (1, "\n")])
def test_broken_dictionary_names_the_line(tmp_path: Path, line: int, text: str) -> None:
    (tmp_path / "words.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"words.txt, line {line}: expected `word frequency`"):
        make_jieba(tmp_path / "words.txt")


@pytest.mark.real_data
def test_real_chinese_is_converted_and_segmented_without_loss(real_data: Path, jieba: Segmenter) -> None:
    lines = list(islice(read_lines(real_data / "text" / "wiki.zh.txt.xz"), 100))
    convert = make_converter("simplified")
    once = [convert(line) for line in lines]
    assert sum(map(len, once)) == sum(map(len, lines))
    assert sum(convert(line) != line for line in once) <= len(lines) // 100  # a few phrases settle in two steps
    words = [jieba(line) for line in lines]
    assert ["".join(found) for found in words] == ["".join(line.split()) for line in lines]
    assert 1.2 < sum(map(len, lines)) / sum(map(len, words)) < 2.2  # characters per word


FAKE_JAVA = """#!{python}
import sys
assert "edu.stanford.nlp.ie.crf.CRFClassifier" in sys.argv and "-readStdin" in sys.argv
print("loading", file=sys.stderr)
for number, line in enumerate(sys.stdin.buffer):
    text = line.decode("utf-8").strip()
    if "停" in text:
        sys.exit("OutOfMemoryError: heap")
    if "变" in text:
        text = text.replace("变", "變")
    print(" ".join(text.replace(" ", "")), flush=True)
    if "乱" in text:
        print("extra", flush=True)
"""


@pytest.fixture
def stanford_home(tmp_path: Path) -> Path:
    """Return a folder with the files that the segmenter reads, and a program `java` that segments by characters."""
    (tmp_path / "data").mkdir()
    for name in ("pku.gz", "dict-chris6.ser.gz"):
        (tmp_path / "data" / name).write_bytes(b"")
    (tmp_path / "java").write_text(FAKE_JAVA.format(python=sys.executable), encoding="utf-8")
    (tmp_path / "java").chmod(0o755)
    return tmp_path


def test_stanford_is_started_once_and_asked_line_by_line(stanford_home: Path) -> None:
    segmenter = Stanford(stanford_home, str(stanford_home / "java"))
    process = segmenter._process
    assert [" ".join(segmenter(text)) for text in ("我 来", " ", "𠮷〓野\u2028家", "变化")] == [
        "我 来",
        "",
        "𠮷 〓 野 家",
        "變 化",
    ]
    for _ in range(300):  # more than a pipe holds if answers were not taken
        assert len(segmenter("天" * 500)) == 500
    segmenter.close()
    assert process.returncode == 0


def test_stanford_failures_are_named(stanford_home: Path) -> None:
    with pytest.raises(XlingError, match="the Stanford segmenter stopped: OutOfMemoryError: heap"):
        Stanford(stanford_home, str(stanford_home / "java"))("停")
    segmenter = Stanford(stanford_home, str(stanford_home / "java"))
    segmenter("乱")
    with pytest.raises(XlingError, match="out of step"):
        segmenter("天")
    with pytest.raises(XlingError, match="no-such-java not found"):
        Stanford(stanford_home, "no-such-java")
    options = {"language": "zh", "moses": "zh", "segmenter": "stanford", "stanford_home": str(stanford_home.parent)}
    with pytest.raises(InputError, match=r"pku.gz: not found .*unpacked stanford-segmenter folder"):
        make_tokeniser(options)
