"""The exported tokenizer gives the ids of training, on real text in five languages and on any text at all."""

from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import SETTINGS, made_up, write_model, write_vocab

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import read_lines
from xling.finetune.windows import Speller
from xling.interop.export import export
from xling.tokenization.tokeniser import Tokeniser, make_tokeniser

pytest.importorskip("transformers")
from xling.interop.hf_tokenizer import XlingTokenizer

LINES = 10_000
TEXTS = {code: made_up(code, 200) for code in ("en", "fr")}
OPTIONS = {code: {"language": code, "moses": code} for code in ("en", "fr", "de", "ru")} | {
    "zh": {"language": "zh", "moses": "zh", "segmenter": "jieba", "script": "simplified"}
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return exported folders of a model of each kind of vocabulary, with Moses for both languages."""
    root = tmp_path_factory.mktemp("exported")
    options = {code: OPTIONS[code] for code in TEXTS}
    for setting, (kind, *_) in SETTINGS.items():
        vocab = write_vocab(root / "vocab", kind, TEXTS, 60)
        write_model(root / f"{setting}.model", vocab, setting)
        export(root / f"{setting}.model", vocab, root / setting, options)
    return {setting: root / setting for setting in SETTINGS}


def folder_of(pair: dict[str, Path], setting: str, code: str) -> Path:
    return pair[setting] / code if setting.startswith("sep") else pair[setting]


@cache
def opened(folder: Path, code: str) -> XlingTokenizer:
    return XlingTokenizer.from_pretrained(folder, language=code)


@cache
def parts(vocab: Path, code: str) -> tuple[Vocabulary, Tokeniser]:
    return Vocabulary.load(vocab), make_tokeniser(OPTIONS[code])


def ours(vocab: Path, code: str, text: str) -> list[int]:
    vocabulary, tokeniser = parts(vocab, code)
    return vocabulary.encode_line(code, tokeniser.line(text))


def real_words(real_data: Path, code: str, number: int) -> tuple[list[str], list[str]]:
    raw = list(islice(read_lines(real_data / "text" / f"webdocs.{code}.txt.xz"), number))
    return raw, list(make_tokeniser(OPTIONS[code]).lines(raw))


@pytest.mark.real_data
@pytest.mark.parametrize("code", OPTIONS)
def test_ids_of_real_text_are_those_of_training(real_data: Path, tmp_path: Path, code: str) -> None:
    """The whole way from raw text in one setting; in the others from its words, after which alone they differ."""
    raw, words = real_words(real_data, code, LINES)
    other = "de" if code == "en" else "en"
    texts = {other: real_words(real_data, other, 1500)[1], code: words[:1500]}
    assert len(raw) == LINES
    for setting, (kind, *_) in SETTINGS.items():
        vocab = write_vocab(tmp_path / "vocab", kind, texts, 3000)
        write_model(tmp_path / f"{setting}.model", vocab, setting)
        options = {code: OPTIONS[code]} if setting == "default" else {}
        export(tmp_path / f"{setting}.model", vocab, tmp_path / setting, options)
        folder = tmp_path / setting / code if setting.startswith("sep") else tmp_path / setting
        tokenizer = XlingTokenizer.from_pretrained(folder, language=code)
        vocabulary = Vocabulary.load(vocab)
        for text, line in zip(raw if options else words, words, strict=True):
            assert tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)) == vocabulary.encode_line(code, line)


@pytest.mark.parametrize("setting", SETTINGS)
@settings(max_examples=60)
@given(text=st.text() | st.sampled_from(["<mask> </s> <pad>", "Il\u00a0dit : «oui», 1999…", "▁a", ""]))
def test_any_text(pair: dict[str, Path], setting: str, text: str) -> None:
    folder = folder_of(pair, setting, "fr")
    expected = ours(folder / "vocab", "fr", text)
    assert opened(folder, "fr").encode(text) == [2, *expected, 2]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_ids_are_those_of_the_vocabulary_that_was_exported(pair: dict[str, Path], setting: str) -> None:
    original = pair[setting].parent / "vocab" / SETTINGS[setting][0]
    for code, lines in TEXTS.items():
        tokenizer = XlingTokenizer.from_pretrained(folder_of(pair, setting, code), language=code)
        assert [tokenizer.encode(x)[1:-1] for x in lines[:50]] == [ours(original, code, x) for x in lines[:50]]
        assert [tokenizer.decode(tokenizer.encode(x), skip_special_tokens=True) for x in lines] == lines
        assert len(tokenizer) == tokenizer.vocab_size == Vocabulary.load(original).size_of(code)


def test_text_is_framed_as_the_tasks_frame_it(pair: dict[str, Path]) -> None:
    folder, (first, second) = pair["default"], TEXTS["fr"][:2]
    tokenizer = XlingTokenizer.from_pretrained(folder, language="fr")
    speller = Speller(Vocabulary.load(folder / "vocab"), "fr", 200)
    framed = tokenizer(first, second)["input_ids"]
    assert np.array_equal(framed, speller.pair(first.split(), second.split())[0])
    assert np.array_equal(tokenizer(first)["input_ids"], speller.sentence(first.split())[0][0])
    mask = tokenizer(first, return_special_tokens_mask=True)["special_tokens_mask"]
    assert mask == [1, *([0] * (len(mask) - 2)), 1]
    assert tokenizer.model_max_length == 32
    assert len(tokenizer(" ".join(TEXTS["fr"][:20]), truncation=True)["input_ids"]) == 32


def test_a_batch_is_padded_and_says_its_language(pair: dict[str, Path]) -> None:
    tokenizer = XlingTokenizer.from_pretrained(pair["default"], language="fr")
    batch = tokenizer(["ba", "ba " * 9], padding=True, return_tensors="pt")
    assert batch["input_ids"].shape == batch["langs"].shape == batch["attention_mask"].shape
    assert batch["langs"].unique().tolist() == [1]
    assert batch["input_ids"][0, -1] == 0
    tokenizer.language = "en"
    assert set(tokenizer("ba")["langs"]) == {0}


def test_masks_are_found_when_asked_for(pair: dict[str, Path]) -> None:
    tokenizer = XlingTokenizer.from_pretrained(pair["default"], language="en")
    assert 3 not in tokenizer.encode("ba <mask> ba")
    tokenizer.split_special_tokens = False
    assert tokenizer.encode("ba <mask> ba").count(3) == 1


def test_saved_again_it_is_the_same(pair: dict[str, Path], tmp_path: Path) -> None:
    first = XlingTokenizer.from_pretrained(pair["no-anchors"], language="fr")
    first.save_pretrained(tmp_path)
    again = XlingTokenizer.from_pretrained(tmp_path)
    assert again.language == "fr"
    assert again.get_vocab() == first.get_vocab()
    assert [again.encode(line) for line in TEXTS["fr"][:20]] == [first.encode(line) for line in TEXTS["fr"][:20]]


def test_a_word_list_travels_with_the_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("天地 9\n人 5\n", encoding="utf-8")
    options: dict[str, Any] = {
        "language": "zh",
        "moses": "zh",
        "segmenter": "jieba",
        "dictionary": str(tmp_path / "words.txt"),
    }
    vocab = write_vocab(tmp_path / "v", "mono", {"zh": ["天地 人 天 地"] * 3}, 1)
    write_model(tmp_path / "model", vocab)
    expected = Vocabulary.load(vocab).encode_line("zh", make_tokeniser(options).line("天地人"))
    export(tmp_path / "model", vocab, tmp_path / "out", {"zh": options})
    (tmp_path / "words.txt").unlink()
    assert str(tmp_path) not in (tmp_path / "out" / "xling_tokenizer.json").read_text()
    assert XlingTokenizer.from_pretrained(tmp_path / "out").encode("天地人")[1:-1] == expected


def test_what_is_wrong_is_said(pair: dict[str, Path], tmp_path: Path) -> None:
    tokenizer = XlingTokenizer.from_pretrained(pair["default"])
    with pytest.raises(XlingError, match="name the language"):
        tokenizer("ba")
    with pytest.raises(XlingError, match="no language 'de'"):
        XlingTokenizer.from_pretrained(pair["default"], language="de")
    for name in ("xling_tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((pair["default"] / name).read_bytes())
    with pytest.raises(InputError, match="download the whole folder"):
        XlingTokenizer.from_pretrained(tmp_path)
