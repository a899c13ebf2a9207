"""Vocabularies: which pieces share an id under each kind, and encoding through them."""

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.bpe import vocabulary as module
from xling.bpe.train import SPECIAL_TOKENS, fit
from xling.bpe.vocabulary import Vocabulary, assign_ids, write_vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json, read_lines

ENGLISH = Counter({"the": 50, "cat": 30, "cats": 20, "table": 17, "on": 11})
FRENCH = Counter({"le": 50, "la": 40, "table": 30, "chat": 20, "chats": 12})
KINDS = ["joint", "union", "prefixed", "separate"]
SPECIAL = list(range(len(SPECIAL_TOKENS)))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    for name, words in (("en", ENGLISH), ("fr", FRENCH), ("joint", ENGLISH + FRENCH)):
        (folder / f"{name}.model").write_bytes(fit(words, 15))
    return {name: folder / f"{name}.model" for name in ("en", "fr", "joint")}


def make(kind: str, models: dict[str, Path], folder: Path) -> Vocabulary:
    languages = ["en"] if kind == "mono" else ["en", "fr"]
    write_vocabulary(kind, {code: models["joint" if kind == "joint" else code] for code in languages}, folder / kind)
    return Vocabulary.load(folder / kind)


def test_ids_of_a_small_vocabulary_in_full() -> None:
    pieces = {"en": [*SPECIAL_TOKENS, "a", "b"], "fr": [*SPECIAL_TOKENS, "b", "c", "d"]}
    expected = {
        "union": ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 6, 7], 8, [*SPECIAL_TOKENS, "a", "b", "c", "d"]),
        "prefixed": (
            [0, 1, 2, 3, 4, 5],
            [0, 1, 2, 3, 6, 7, 8],
            9,
            [*SPECIAL_TOKENS, "en:a", "en:b", "fr:b", "fr:c", "fr:d"],
        ),
        "separate": ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6], 7, [*pieces["en"], *pieces["fr"]]),
    }
    for kind, (english, french, size, names) in expected.items():
        ids, found_size, found_names = assign_ids(kind, pieces)
        assert (ids["en"].tolist(), ids["fr"].tolist(), found_size, found_names) == (english, french, size, names)


def test_union_shares_exactly_the_equal_strings(models: dict[str, Path], tmp_path: Path) -> None:
    vocabulary = make("union", models, tmp_path)
    names = {code: dict(zip(vocabulary.ids(code), vocabulary.pieces(code), strict=True)) for code in ("en", "fr")}
    shared_strings = set(vocabulary.pieces("en")) & set(vocabulary.pieces("fr"))
    shared_ids = set(names["en"]) & set(names["fr"])
    assert {names["en"][number] for number in shared_ids} == shared_strings
    assert all(names["en"][number] == names["fr"][number] for number in shared_ids)
    assert len(shared_strings) > len(SPECIAL_TOKENS)
    assert vocabulary.size == len(set(vocabulary.pieces("en")) | set(vocabulary.pieces("fr")))


def test_prefixed_shares_special_tokens_alone(models: dict[str, Path], tmp_path: Path) -> None:
    vocabulary = make("prefixed", models, tmp_path)
    shared = set(vocabulary.ids("en").tolist()) & set(vocabulary.ids("fr").tolist())
    assert shared == set(SPECIAL)
    assert not set(vocabulary.own_ids("en").tolist()) & set(vocabulary.own_ids("fr").tolist())
    assert not set(vocabulary.encode_line("en", "table")) & set(vocabulary.encode_line("fr", "table"))


def test_separate_has_an_id_space_a_language(models: dict[str, Path], tmp_path: Path) -> None:
    vocabulary = make("separate", models, tmp_path)
    for code in ("en", "fr"):
        assert vocabulary.ids(code).tolist() == list(range(len(vocabulary.pieces(code))))
        assert vocabulary.size_of(code) == len(vocabulary.pieces(code))
    assert vocabulary.size == max(vocabulary.size_of("en"), vocabulary.size_of("fr"))


def test_joint_is_one_model_for_both(models: dict[str, Path], tmp_path: Path) -> None:
    vocabulary = make("joint", models, tmp_path)
    assert vocabulary.encode_line("en", "the table") == vocabulary.encode_line("fr", "the table")
    assert sorted(path.name for path in (tmp_path / "joint").glob("*.model")) == ["joint.model"]


@pytest.mark.parametrize("kind", ["mono", *KINDS])
def test_directory_has_the_agreed_form(models: dict[str, Path], tmp_path: Path, kind: str) -> None:
    vocabulary = make(kind, models, tmp_path)
    described = read_json(tmp_path / kind / "vocab.json")
    entries = list(read_lines(tmp_path / kind / described["pieces"]))
    total = sum(part["size"] for part in described["languages"].values())
    assert (described["kind"], described["size"]) == (kind, vocabulary.size)
    assert len(entries) == (total if kind == "separate" else vocabulary.size)
    for code, part in described["languages"].items():
        ids = np.load(tmp_path / kind / part["ids"])
        assert ids.dtype == np.int32
        assert ids[: len(SPECIAL)].tolist() == SPECIAL
        assert len(ids) == part["size"] == len(set(ids.tolist()))
        assert ids.max() < vocabulary.size_of(code)


@pytest.mark.parametrize("kind", ["mono", *KINDS])
def test_own_ids_are_the_language_without_special_tokens(models: dict[str, Path], tmp_path: Path, kind: str) -> None:
    vocabulary = make(kind, models, tmp_path)
    own = vocabulary.own_ids("en").tolist()
    assert own == sorted(set(vocabulary.ids("en").tolist()) - set(SPECIAL))
    assert set(vocabulary.encode_line("en", "the cats on table")) <= set(own)


@pytest.fixture(scope="module")
def union(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return make("union", models, tmp_path_factory.mktemp("vocabulary"))


@settings(max_examples=150)
@given(words=st.lists(st.text(alphabet="thecasonbléX漢 ", min_size=1)))
def test_encoding_is_sentencepieces_own(union: Vocabulary, models: dict[str, Path], words: list[str]) -> None:
    line = " ".join(words)
    model = sentencepiece.SentencePieceProcessor(model_file=str(models["fr"]))
    expected = union.ids("fr")[np.array(model.encode(" ".join(line.split())), dtype=int)].tolist()
    assert union.encode_line("fr", line) == expected


@settings(max_examples=150)
@given(words=st.lists(st.text(alphabet="chatsleb", min_size=1)))
def test_known_characters_survive_the_round_trip(union: Vocabulary, words: list[str]) -> None:
    assert union.decode("fr", union.encode_words("fr", words)) == " ".join(words)


@settings(max_examples=100)
@given(words=st.lists(st.text(alphabet="thecatsonbléX", min_size=1)))
def test_first_subwords_part_the_ids_into_words(union: Vocabulary, words: list[str]) -> None:
    ids, firsts = union.word_pieces("en", words)
    parts = [ids[start:end] for start, end in itertools.pairwise([*firsts, len(ids)])]
    assert parts == [union.encode_words("en", [word]) for word in words]
    assert all(parts)
    assert ids == union.encode_words("en", words)


def test_a_word_that_sentencepiece_takes_for_a_space_is_unknown(union: Vocabulary) -> None:
    assert union.word_pieces("en", ["cat", "\u2581", "on"])[1] == [0, 1, 2]
    assert union.encode_words("en", ["\u2581"]) == [SPECIAL_TOKENS.index("<unk>")]


def test_full_cache_changes_nothing(union: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "the cats on table cat the"
    expected = union.encode_line("en", line)
    monkeypatch.setattr(module, "CACHE_WORDS", 1)
    assert union.encode_line("en", f"new {line}")[-len(expected) :] == expected


def test_empty_word_and_unknown_language_are_refused(union: Vocabulary) -> None:
    with pytest.raises(XlingError, match="'' is no word"):
        union.encode_words("en", ["cat", ""])
    with pytest.raises(XlingError, match="no language 'de'"):
        union.encode_line("de", "Katze")


def test_wrong_models_are_refused(models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(XlingError, match="one model for both languages"):
        write_vocabulary("joint", {"en": models["en"], "fr": models["fr"]}, tmp_path / "v")
    with pytest.raises(XlingError, match="a union vocabulary has 2"):
        write_vocabulary("union", {"en": models["en"]}, tmp_path / "v")
    (tmp_path / "bad.model").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"bad.model: not a sentencepiece model"):
        write_vocabulary("mono", {"en": tmp_path / "bad.model"}, tmp_path / "v")
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize("arguments", [["--model", "en"], ["--model", "en=a", "--model", "en=b"]])
def test_command_says_what_a_model_argument_looks_like(tmp_path: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "xling.bpe.vocabulary", "--kind", "union", *arguments, "--out", tmp_path / "v"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected LANGUAGE=PATH, each language once" in done.stderr


def test_command_writes_the_same_bytes_every_time(models: dict[str, Path], tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        arguments = ["--kind", "prefixed", "--model", f"en={models['en']}", "--model", f"fr={models['fr']}"]
        command = [sys.executable, "-m", "xling.bpe.vocabulary", *arguments, "--out", tmp_path / name]
        subprocess.run(command, check=True, capture_output=True)
        made.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert made[0] == made[1]
    assert sorted(made[0]) == ["en.ids.npy", "en.model", "fr.ids.npy", "fr.model", "pieces.txt", "vocab.json"]


@pytest.mark.real_data
def test_real_text_through_every_kind(real_data: Path, tmp_path: Path) -> None:
    lines = {}
    for code in ("en", "fr"):
        source = read_lines(real_data / "text" / f"wiki.{code}.txt.xz")
        lines[code] = [" ".join(line.lower().split()) for line in itertools.islice(source, 1000)]
    counted = {code: Counter(" ".join(lines[code]).split()) for code in lines}
    paths = {}
    for name, words in (*counted.items(), ("joint", counted["en"] + counted["fr"])):
        paths[name] = tmp_path / f"{name}.model"
        paths[name].write_bytes(fit(words, 1000))
    for kind in KINDS:
        vocabulary = make(kind, paths, tmp_path)
        for code in lines:
            assert [vocabulary.decode(code, vocabulary.encode_line(code, line)) for line in lines[code]] == lines[code]
