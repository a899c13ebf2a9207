"""Vocabularies: which pieces share an id under each kind, and encoding through them."""

import io
import itertools
import re
import shutil

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe import vocabulary as module
from xling.bpe.build_vocabulary import assign_ids, main
from xling.bpe.train_bpe import SPECIAL_TOKENS, WORD_START
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import XlingError
from xling.core.io import read_json, read_lines, write_json

KINDS = ["mono", "joint", "union", "prefixed", "separate"]
SPECIAL = list(range(len(SPECIAL_TOKENS)))


@pytest.mark.parametrize(
    ("kind", "french", "size", "names"),  # English always has its ids in order
    [
        ("union", [5, 6, 7], 8, ["a", "b", "c", "d"]),
        ("prefixed", [6, 7, 8], 9, ["en:a", "en:b", "fr:b", "fr:c", "fr:d"]),
        ("separate", [4, 5, 6], 7, ["a", "b", *SPECIAL_TOKENS, "b", "c", "d"]),
    ],
)
def test_ids_of_a_small_vocabulary_in_full(kind, french, size, names):
    pieces = {"en": [*SPECIAL_TOKENS, "a", "b"], "fr": [*SPECIAL_TOKENS, "b", "c", "d"]}
    ids, found_size, found_names = assign_ids(kind, pieces)
    assert (ids["en"].tolist(), ids["fr"].tolist()) == ([*SPECIAL, 4, 5], [*SPECIAL, *french])
    assert (found_size, found_names) == (size, [*SPECIAL_TOKENS, *names])


@pytest.mark.parametrize("kind", KINDS)
def test_directory_has_the_agreed_form_and_the_same_bytes_every_time(built, tmp_path, call, kind):
    vocabulary, described = Vocabulary.load(built / kind), read_json(built / kind / "vocab.json")
    own = {code: "joint" if kind == "joint" else code for code in vocabulary.languages}
    sizes = {code: len(vocabulary.pieces(code)) for code in own}
    parts = {code: {"model": f"{own[code]}.model", "ids": f"{code}.ids.npy", "size": sizes[code]} for code in own}
    assert described == {"kind": kind, "languages": parts, "size": vocabulary.size, "pieces": "pieces.txt"}
    entries = len(list(read_lines(built / kind / "pieces.txt")))
    assert entries == (sum(sizes.values()) if kind == "separate" else vocabulary.size)
    for code in own:
        assert vocabulary.ids(code).max() < vocabulary.size_of(code)
        assert vocabulary.own_ids(code).tolist() == sorted(set(vocabulary.ids(code).tolist()) - set(SPECIAL))
    models = [flag for code, name in own.items() for flag in ("--model", f"{code}={built / name}.model")]
    assert call(main, "--kind", kind, *models, "--out", tmp_path).code == 0
    one, two = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (built / kind, tmp_path))
    assert one == two
    names = {"pieces.txt", "vocab.json", *(part[key] for part in parts.values() for key in ("model", "ids"))}
    assert one.keys() == names | {f".{name}.sha256" for name in names}


@pytest.fixture(scope="module")
def union(built):
    return Vocabulary.load(built / "union")


@settings(max_examples=50)
@given(words=st.lists(st.text(alphabet="chatslebX", min_size=1)))
def test_words_part_into_pieces_that_spell_them_and_model_ids_are_looked_up(union, words):
    names = dict(zip(union.ids("fr").tolist(), union.pieces("fr"), strict=True))
    ids, firsts = union.word_pieces("fr", words)
    parts = [ids[start:end] for start, end in itertools.pairwise([*firsts, len(ids)])]
    assert parts == [union.encode_words("fr", [word]) for word in words]
    assert ids == union.encode_words("fr", words)
    for word, part in zip(words, parts, strict=True):
        spelled = "".join(names[number] for number in part).removeprefix(WORD_START)
        assert re.sub("X+", "<unk>", word) == spelled
    pieces = union.of_pieces("fr")
    assert union.ids("fr")[pieces.encode_words("fr", words)].tolist() == ids
    assert (pieces.languages, pieces.size, pieces.pieces("fr")) == (("fr",), len(names), union.pieces("fr"))


def test_odd_words_and_a_full_cache(union, monkeypatch):
    assert union.word_pieces("en", ["cat", WORD_START, "on"])[1] == [0, 1, 2]
    assert union.encode_words("en", [WORD_START]) == [SPECIAL_TOKENS.index("<unk>")]  # sentencepiece: a space
    expected = union.encode_line("en", "the cats on table cat the")
    monkeypatch.setattr(module, "CACHE_WORDS", 1)
    assert union.encode_line("en", "new the cats on table cat the")[-len(expected) :] == expected
    with pytest.raises(XlingError, match="'' is no word"):
        union.encode_words("en", ["cat", ""])


def test_wrong_models_are_refused(built, tmp_path, refused):
    foreign, options = io.BytesIO(), {"model_type": "bpe", "vocab_size": 12, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["the cat"] * 9), model_writer=foreign, **options)
    for name, content in (("bad.model", b"nonsense"), ("foreign.model", foreign.getvalue())):
        (tmp_path / name).write_bytes(content)
    for kind, problem, *models in (
        ("joint", "a joint vocabulary has one model for both languages", built / "en.model", built / "fr.model"),
        ("union", "a union vocabulary has 2", built / "en.model"),
        ("mono", "bad.model: not a sentencepiece model", tmp_path / "bad.model"),
        ("mono", "foreign.model: must start with <pad>, <unk>, </s>, <mask>", tmp_path / "foreign.model"),
    ):
        flags = [x for code, model in zip(("en", "fr"), models, strict=False) for x in ("--model", f"{code}={model}")]
        assert problem in refused(main, "--kind", kind, *flags, "--out", tmp_path / "v", out=tmp_path / "v")


def ids_of(size, kind="int32"):
    return lambda folder: np.save(folder / "fr.ids.npy", np.arange(size, dtype=kind))


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (ids_of(5), "pieces but 5 ids: make the vocabulary again"),
        (ids_of(99), r"vocab.json: fr has ids from 0 to 98, but only \d+ are allowed \(make the vocabulary again\)"),
        (ids_of(5, "int64"), r"fr.ids.npy: int64 of shape \(5,\), expected a list of int32"),
        (lambda folder: (folder / "fr.ids.npy").write_bytes(b"x"), "fr.ids.npy: not an array of ids"),
        (lambda folder: write_json(folder / "vocab.json", {"kind": "union"}), "vocab.json: 'languages' missing"),
    ],
)
def test_an_incomplete_or_mixed_directory_is_named(built, tmp_path, damage, problem):
    folder = shutil.copytree(built / "union", tmp_path / "union", ignore=shutil.ignore_patterns("*.sha256"))
    damage(folder)
    with pytest.raises(XlingError, match=problem):
        Vocabulary.load(folder)
