"""Vocabularies: which pieces share an id under each kind, and encoding through them."""

import io
import itertools
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe import vocabulary as module
from xling.bpe.build_vocabulary import assign_ids, main, write_vocabulary
from xling.bpe.train_bpe import SPECIAL_TOKENS, WORD_START
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json, read_lines

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
def test_ids_of_a_small_vocabulary_in_full(kind: str, french: list[int], size: int, names: list[str]) -> None:
    pieces = {"en": [*SPECIAL_TOKENS, "a", "b"], "fr": [*SPECIAL_TOKENS, "b", "c", "d"]}
    ids, found_size, found_names = assign_ids(kind, pieces)
    assert (ids["en"].tolist(), ids["fr"].tolist()) == ([*SPECIAL, 4, 5], [*SPECIAL, *french])
    assert (found_size, found_names) == (size, [*SPECIAL_TOKENS, *names])


@pytest.mark.parametrize("kind", KINDS)
def test_directory_has_the_agreed_form(built: Path, kind: str) -> None:
    vocabulary, described = Vocabulary.load(built / kind), read_json(built / kind / "vocab.json")
    entries = list(read_lines(built / kind / described["pieces"]))
    total = sum(part["size"] for part in described["languages"].values())
    assert (described["kind"], described["size"]) == (kind, vocabulary.size)
    assert len(entries) == (total if kind == "separate" else vocabulary.size)
    assert len({part["model"] for part in described["languages"].values()}) == (1 if kind in ("mono", "joint") else 2)
    for code, part in described["languages"].items():
        ids = np.load(built / kind / part["ids"])
        assert ids.dtype == np.int32
        assert ids[: len(SPECIAL)].tolist() == SPECIAL
        assert len(ids) == part["size"] == len(set(ids.tolist()))
        assert ids.max() < vocabulary.size_of(code)
        assert vocabulary.own_ids(code).tolist() == sorted(set(ids.tolist()) - set(SPECIAL))


@pytest.fixture(scope="module")
def union(built: Path) -> Vocabulary:
    return Vocabulary.load(built / "union")


@settings(max_examples=50)
@given(words=st.lists(st.text(alphabet="chatslebX", min_size=1)))
def test_words_part_into_pieces_that_spell_them_and_model_ids_are_looked_up(
    union: Vocabulary, words: list[str]
) -> None:
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


def test_odd_words_and_a_full_cache(union: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    assert union.word_pieces("en", ["cat", WORD_START, "on"])[1] == [0, 1, 2]
    assert union.encode_words("en", [WORD_START]) == [SPECIAL_TOKENS.index("<unk>")]  # sentencepiece: a space
    expected = union.encode_line("en", "the cats on table cat the")
    monkeypatch.setattr(module, "CACHE_WORDS", 1)
    assert union.encode_line("en", "new the cats on table cat the")[-len(expected) :] == expected
    with pytest.raises(XlingError, match="'' is no word"):
        union.encode_words("en", ["cat", ""])
    with pytest.raises(XlingError, match="no language 'de'"):
        union.encode_line("de", "Katze")


def test_wrong_models_are_refused(built: Path, tmp_path: Path) -> None:
    bad, foreign = tmp_path / "bad.model", io.BytesIO()
    bad.write_bytes(b"nonsense")
    options = {"model_type": "bpe", "vocab_size": 12, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["the cat"] * 9), model_writer=foreign, **options)
    (tmp_path / "foreign.model").write_bytes(foreign.getvalue())
    for kind, given_models, problem in (
        ("joint", {"en": built / "en.model", "fr": built / "fr.model"}, "one model for both languages"),
        ("union", {"en": built / "en.model"}, "a union vocabulary has 2"),
        ("mono", {"en": bad}, r"bad.model: not a sentencepiece model"),
        ("mono", {"en": tmp_path / "foreign.model"}, r"foreign.model: must start with <pad>, <unk>, </s>, <mask>"),
    ):
        with pytest.raises(XlingError, match=problem):
            write_vocabulary(kind, given_models, tmp_path / "v")
    assert not (tmp_path / "v").exists()


def test_an_incomplete_or_mixed_directory_is_named(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "union", tmp_path / "union", ignore=shutil.ignore_patterns("*.sha256"))
    np.save(tmp_path / "union" / "fr.ids.npy", np.arange(5, dtype=np.int32))
    with pytest.raises(XlingError, match=r"pieces but 5 ids: make the vocabulary again"):
        Vocabulary.load(tmp_path / "union")
    (tmp_path / "union" / "vocab.json").write_text('{"kind": "union"}')
    with pytest.raises(InputError, match=r"vocab.json: 'languages' missing \(make the vocabulary again\)"):
        Vocabulary.load(tmp_path / "union")


def test_command_writes_the_same_bytes_every_time(built: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    models = [x for code in ("en", "fr") for x in ("--model", f"{code}={built / code}.model")]
    assert call(main, "--kind", "prefixed", *models, "--out", tmp_path).code == 0
    one, two = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (built / "prefixed", tmp_path)
    )
    assert one == two
    names = ["en.ids.npy", "en.model", "fr.ids.npy", "fr.model", "pieces.txt", "vocab.json"]
    assert sorted(one) == [*(f".{name}.sha256" for name in names), *names]
