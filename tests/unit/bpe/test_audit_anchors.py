"""The anchor audit: counts and shares in closed form, and the proof that No anchors and Sep Emb have none."""

from collections import Counter

import numpy as np
import pytest

from xling.bpe.audit_anchors import audit, main, require_none
from xling.bpe.streams import TokenStreamWriter, pack
from xling.bpe.vocabulary import Vocabulary
from xling.core.io import read_json

TEXTS = {"en": ["the table", "the cat", "cat the"], "fr": ["la table", "table la table"]}


@pytest.fixture(scope="module")
def streams(built, tmp_path_factory):
    """Return the folder of both texts as pieces of their own BPE and of the joint one."""
    folder = tmp_path_factory.mktemp("streams")
    for kind in ("union", "joint"):
        for code, lines in TEXTS.items():
            pieces = Vocabulary.load(built / kind).of_pieces(code)
            with TokenStreamWriter(folder / kind / code, pieces.size, code) as writer:
                writer.add("train", *pack([pieces.encode_line(code, line) for line in lines]))
    return folder


@pytest.fixture
def audited(built, streams, tmp_path, call):
    """Return a function that runs the command on a kind and gives its error, or its result."""

    def run(kind, *more, languages=("en", "fr")):
        place, out = streams / ("joint" if kind == "joint" else "union"), tmp_path / "anchors.json"
        flags = [argument for code in languages for argument in ("--streams", f"{code}={place / code}")]
        code, error, _ = call(main, "--vocab", built / kind, *flags, "--out", out, *more)
        assert (code, error.count("\n"), out.exists()) in ((0, 0, True), (2, 1, False))
        return error or read_json(out)

    return run


@pytest.mark.parametrize("kind", ["joint", "union"])
def test_shared_pieces_are_those_with_the_same_string_in_both_texts(built, audited, kind):
    found, vocabulary, used = audited(kind), Vocabulary.load(built / kind), {}
    for code, lines in TEXTS.items():
        names = dict(zip(vocabulary.ids(code).tolist(), vocabulary.pieces(code), strict=True))
        used[code] = Counter(names[number] for line in lines for number in vocabulary.encode_line(code, line))
    shared = set(used["en"]) & set(used["fr"])
    assert found["used_by_both"] == len(shared) > 0
    for code in TEXTS:
        expected, total = sum(used[code][piece] for piece in shared), used[code].total()
        assert found["running_tokens"][code] == {"shared": expected, "tokens": total, "share": expected / total}
        assert {entry["piece"]: entry[code] for entry in found["top"]} == {piece: used[code][piece] for piece in shared}


def test_special_tokens_are_left_out_and_the_strongest_anchor_comes_first(built):
    vocabulary = Vocabulary.load(built / "joint")
    counts = {code: np.zeros(vocabulary.size, dtype=np.int64) for code in TEXTS}
    counts["en"][[0, 3, 5, 6, 7]] = [1000, 1000, 90, 6, 4]  # shares .90 .06 .04
    counts["fr"][[0, 3, 5, 6, 7]] = [1000, 1000, 1, 40, 59]  # shares .01 .40 .59: the smaller ones are .01 .06 .04
    found = audit(vocabulary, counts)
    assert [entry["en"] for entry in found["top"]] == [6, 4, 90]
    assert found["running_tokens"]["en"]["tokens"] == 100
    assert found["in_both_vocabularies"] == vocabulary.size - 4


@pytest.mark.parametrize("kind", ["prefixed", "separate"])
def test_no_anchors_and_sep_emb_share_nothing(built, audited, kind):
    found = audited(kind, "--require-none")
    assert (found["in_both_vocabularies"], found["used_by_both"], found["mean_share"], found["top"]) == (0, 0, 0.0, [])
    require_none(Vocabulary.load(built / kind))


def test_what_cannot_be_audited_is_one_line(audited):
    problem = "16 pieces shared in a union vocabulary where none may be: ▁t, at, ab, le, able"
    assert problem in audited("union", "--require-none")
    assert "anchors need two languages, the vocabulary has en" in audited("mono", languages=("en",))
    assert "give --streams once for each of en, fr" in audited("separate", languages=("en",))
