"""The anchor audit: counts and shares in closed form, and the proof that No anchors and Sep Emb have none."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.bpe.audit_anchors import audit, count_stream, main, own_counts, require_none, shared_ids
from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.streams import TokenStreamWriter, pack
from xling.bpe.train_bpe import fit
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json

TEXTS = {"en": ["the table", "the cat", "cat the"], "fr": ["la table", "table la table"]}
WORDS = {code: Counter(" ".join(lines).split()) for code, lines in TEXTS.items()}
MERGES = 12  # every word above is one piece then


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocabularies")
    for name, words in (*WORDS.items(), ("joint", WORDS["en"] + WORDS["fr"])):
        (folder / f"{name}.model").write_bytes(fit(words, MERGES))
    own = {code: folder / f"{code}.model" for code in TEXTS}
    for kind in ("union", "prefixed", "separate"):
        write_vocabulary(kind, own, folder / kind)
    write_vocabulary("joint", dict.fromkeys(TEXTS, folder / "joint.model"), folder / "joint")
    write_vocabulary("mono", {"en": own["en"]}, folder / "mono")
    for kind in ("union", "prefixed", "separate", "joint"):
        vocabulary = Vocabulary.load(folder / kind)
        for code, lines in TEXTS.items():
            with TokenStreamWriter(folder / kind / code, vocabulary.size_of(code), code) as writer:
                for split in ("train", "valid"):
                    writer.add(split, *pack([vocabulary.encode_line(code, line) for line in lines]))
    return folder


def report(folder: Path, kind: str) -> dict[str, object]:
    return audit(Vocabulary.load(folder / kind), {code: count_stream(folder / kind / code) for code in TEXTS})


@pytest.mark.parametrize("kind", ["joint", "union"])
def test_shared_pieces_are_those_with_the_same_string_in_both_texts(vocabularies: Path, kind: str) -> None:
    found, vocabulary = report(vocabularies, kind), Vocabulary.load(vocabularies / kind)
    used: dict[str, Counter[str]] = {}
    for code, lines in TEXTS.items():
        names = dict(zip(vocabulary.ids(code).tolist(), vocabulary.pieces(code), strict=True))
        used[code] = Counter(names[number] for line in lines for number in vocabulary.encode_line(code, line))
    shared = set(used["en"]) & set(used["fr"])
    assert shared
    assert found["used_by_both"] == len(shared)
    for code in TEXTS:
        expected, total = sum(used[code][piece] for piece in shared), used[code].total()
        assert found["running_tokens"][code] == {"shared": expected, "tokens": total, "share": expected / total}
        assert {entry["piece"]: entry[code] for entry in found["top"]} == {piece: used[code][piece] for piece in shared}


@pytest.mark.parametrize("kind", ["prefixed", "separate"])
def test_no_anchors_and_sep_emb_share_nothing(vocabularies: Path, kind: str) -> None:
    found = report(vocabularies, kind)
    assert (found["in_both_vocabularies"], found["used_by_both"], found["mean_share"], found["top"]) == (0, 0, 0.0, [])
    require_none(Vocabulary.load(vocabularies / kind))


def test_special_tokens_are_left_out_and_the_strongest_anchor_comes_first(vocabularies: Path) -> None:
    vocabulary = Vocabulary.load(vocabularies / "joint")
    counts = {code: np.zeros(vocabulary.size, dtype=np.int64) for code in TEXTS}
    counts["en"][[0, 3, 5, 6, 7]] = [1000, 1000, 90, 6, 4]  # shares .90 .06 .04
    counts["fr"][[0, 3, 5, 6, 7]] = [1000, 1000, 1, 40, 59]  # shares .01 .40 .59: the smaller ones are .01 .06 .04
    found = audit(vocabulary, counts)
    assert [entry["en"] for entry in found["top"]] == [6, 4, 90]
    assert found["running_tokens"]["en"]["tokens"] == 100
    assert shared_ids(vocabulary).min() >= 4


def test_streams_are_counted_block_by_block(vocabularies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xling.bpe.audit_anchors.BLOCK", 3)
    vocabulary = Vocabulary.load(vocabularies / "union")
    expected = Counter(number for line in TEXTS["en"] for number in (*vocabulary.encode_line("en", line), 2))
    assert Counter(dict(enumerate(count_stream(vocabularies / "union/en").tolist()))) == expected


def test_stream_of_another_vocabulary_is_refused(vocabularies: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary.load(vocabularies / "prefixed")
    foreign = np.zeros(vocabulary.size, dtype=np.int64)
    foreign[vocabulary.own_ids("fr")[0]] = 1
    with pytest.raises(XlingError, match="which is no piece of en's vocabulary"):
        own_counts(vocabulary, "en", foreign)
    with pytest.raises(XlingError, match="outside the vocabulary"):
        own_counts(vocabulary, "en", np.zeros(vocabulary.size + 1, dtype=np.int64))
    (tmp_path / "meta.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"meta.json"):
        count_stream(tmp_path)


@pytest.mark.parametrize(
    ("kind", "streams", "problem"),
    [
        ("separate", ["en", "fr"], ""),
        ("union", ["en", "fr"], "pieces shared in a union vocabulary where none may be: ▁t, ab, le"),
        ("mono", ["en"], "anchors need two languages, the vocabulary has en"),
        ("separate", ["en"], "give --streams once for each of en, fr"),
    ],
)
def test_command(
    vocabularies: Path, tmp_path: Path, call: Callable[..., Any], kind: str, streams: list[str], problem: str
) -> None:
    flags = [argument for code in streams for argument in ("--streams", f"{code}={vocabularies / kind / code}")]
    out = tmp_path / "anchors.json"
    code, error, _ = call(main, "--vocab", vocabularies / kind, *flags, "--out", out, "--require-none")
    assert (code, error.count("\n")) == ((2, 1) if problem else (0, 0))
    assert problem in error
    assert not problem or not out.exists()
    assert problem or read_json(out) == report(vocabularies, kind)
