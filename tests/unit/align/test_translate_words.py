"""Word translation: MUSE's rules, Figures 4a and 4b, and real dictionaries and text."""

from pathlib import Path

import numpy as np
import pytest

from xling.align import translate_words
from xling.align.states import states_file, write_states
from xling.align.translate_words import KnownPairs, chance, fold_case, known_pairs, main, speller, translate
from xling.core.io import read_json, write_json
from xling.core.seeds import numpy_rng
from xling.data.dictionary import WordPair

SPACE = numpy_rng("study space").normal(size=(300, 24)).astype(np.float32)
TURN = np.linalg.qr(numpy_rng("study turn").normal(size=(24, 24)))[0].astype(np.float32)
PLAIN = {"language": "x", "moses": None}


def test_the_first_spelling_of_allowed_words_counts():
    assert fold_case(["Paris", "paris", "the", "THE", "Été"]) == {"paris": 0, "the": 2, "été": 4}
    some = fold_case(["Paris", "paris", "the", "cat"], allowed=["PARIS", "Cat", "dog"])
    assert list(some.items()) == [("paris", 0), ("cat", 3)]


def test_words_are_written_as_the_text_is_and_unknown_ones_are_left_out_and_counted():
    listed = "cat=chat Cat=Chat dog=chien dog=clebs bird=oiseau fish=chat bee=chat"
    pairs = [WordPair(*pair.split("=")) for pair in listed.split()]
    known = known_pairs(Path("dictionary.txt"), pairs, fold_case(["Cat", "dog"]), fold_case(["chat", "CHIEN"]))
    assert known.pairs == ((0, 0), (1, 1))
    french = {"language": "fr", "moses": "fr", "segmenter": "stanford"}
    assert speller(french)("l’eau") == "l'eau"  # no segmenter is loaded
    kept = {"pairs": 6, "pairs_kept": 2, "source_words_kept": 2, "unknown_source": 3, "unknown_target": 2}
    assert known.counts == kept


def test_a_source_word_with_several_translations_counts_once():
    train = KnownPairs(tuple((row, row) for row in range(100)), {})
    wrong = tuple((row, (row + 50) % 300) for row in range(100, 110))  # a second translation that is not found
    right = tuple((row, row) for row in range(100, 108))
    hits = translate(SPACE, SPACE @ TURN, train, KnownPairs(right + wrong, {}))
    assert hits.tolist() == [True] * 8 + [False] * 2  # 10 source words, though 18 pairs
    assert chance([{0}, {1, 2, 3}], 20) == pytest.approx((1 / 20 + 3 / 20) / 2)


def noise(*parts):
    return numpy_rng("study noise", *parts).normal(size=SPACE.shape).astype(np.float32)


def write_side(folder, code, layers, words):
    """Write a folder of states whose embedding rows are its last layer, and untrained ones that are noise."""
    sets = {"trained": layers, "untrained": [noise(folder.name, code, i) for i in range(len(layers))]}
    for kind, states in sets.items():
        write_states(states_file(folder, kind, "words", code), [s.astype(np.float16) for s in states], {}, words)
        write_states(states_file(folder, kind, "rows", code), [states[-1][:200]], {}, words[:200])
    return str(folder)


def write_vec(path, words, vectors):
    rows = "".join(f"{w} {' '.join(f'{x:.4f}' for x in v)}\n" for w, v in zip(words, vectors, strict=True))
    path.write_text(f"{len(words)} {vectors.shape[1]}\n{rows}")
    return str(path)


def write_plan(folder, vectors=True):
    """Two layers: noise below a rotation of the same space; fastText is a rotation too and knows 280 of 300 words."""
    words = {code: [f"{code[0]}{row}" for row in range(300)] for code in ("en", "fr")}
    layers = {"en": [noise("left"), SPACE], "fr": [noise("low"), SPACE @ TURN]}
    states = {code: write_side(folder / code, code, layers[code], words[code]) for code in words}
    tables = {
        "en": write_vec(folder / "en.vec", [w.upper() for w in reversed(words["en"][20:])], SPACE[:19:-1]),
        "fr": write_vec(folder / "fr.vec", words["fr"], SPACE @ TURN),
    }
    for name, rows in (("train", range(150)), ("test", range(150, 320))):
        (folder / f"{name}.txt").write_text("".join(f"e{row} f{row}\n" for row in rows))
    fr = {
        "states": states, "vectors": tables if vectors else None, "tokenisers": {"en": PLAIN, "fr": PLAIN},
        "train": str(folder / "train.txt"), "test": str(folder / "test.txt"),
    }  # fmt: skip
    return {"source": "en", "seed": 1, "config": "abc", "languages": {"fr": fr}}


def written(folder, plan):
    """Write a plan and return the flags of the command."""
    write_json(folder / "plan.json", plan)
    return ["--plan", folder / "plan.json", "--device", "cpu", "--out", folder / "out.json"]


def study(call, folder, plan):
    """Run the command and return its result."""
    done = call(main, *written(folder, plan))
    assert done.code == 0, done.error
    return read_json(folder / "out.json")


def found(result, figure, vectors, layer=None):
    """Return the one record that is asked for."""
    keys = (figure, vectors, layer)
    (record,) = (r for r in result["records"] if (r["figure"], r["vectors"], r["layer"]) == keys)
    return record


def test_layers_fasttext_and_untrained_encoders_are_asked_the_same_words(call, tmp_path):
    result = study(call, tmp_path, write_plan(tmp_path))
    for series in (("figure4b", "trained", 1), ("figure4a", "trained"), ("figure4b", "fasttext")):
        assert found(result, *series)["p1"] > 0.95
    for series in (("figure4b", "trained", 0), ("figure4b", "untrained", 1), ("figure4a", "untrained")):
        assert found(result, *series)["p1"] < 0.1
    assert len(result["records"]) == 3 + 5
    counts = result["counts"]["figure4b"]["fr"]
    assert (counts["source_words"], counts["target_words"]) == (280, 300)  # what fastText knows
    assert counts["train"]["pairs_kept"] == 130
    assert counts["test"] == {
        "pairs": 170, "pairs_kept": 150, "source_words_kept": 150, "unknown_source": 20, "unknown_target": 20,
    }  # fmt: skip
    for record in result["records"]:
        assert record["pairs"] == (150 if record["figure"] == "figure4b" else 50)
        assert record["low"] <= record["p1"] <= record["high"]
    assert found(result, "figure4b", "fasttext")["chance"] == pytest.approx(1 / 300)
    assert result["config"] == "abc"
    result = study(call, tmp_path, write_plan(tmp_path, vectors=False))
    assert {record["vectors"] for record in result["records"]} == {"trained", "untrained"}
    assert result["counts"]["figure4b"]["fr"]["source_words"] == 300  # without fastText, every word of the encoders


def test_every_dictionary_is_read_before_the_first_language_is_evaluated(refused, tmp_path, monkeypatch):
    monkeypatch.setattr(translate_words, "evaluate", lambda *_: pytest.fail("evaluated"))
    plan = write_plan(tmp_path)
    (tmp_path / "broken.txt").write_text("dog\n")
    own = {"states": {"en": "x", "ru": "x"}, "vectors": None, "test": str(tmp_path / "broken.txt")}
    plan["languages"]["ru"] = plan["languages"]["fr"] | own
    assert "broken.txt, line 1: " in refused(main, *written(tmp_path, plan), out=tmp_path / "out.json")


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"vectors": {"en": "x"}}, "languages.fr.vectors: expected files of en and fr, or null"),
        (
            lambda folder: (folder / "test.txt").write_text("e50 x\ny z\n"),
            "test.txt: in none of its 2 pairs do both words have vectors (no vector of the source word in 1, of the target word in 2) (a dictionary of words",
        ),
    ],
)
def test_bad_input_is_one_line(refused, tmp_path, fault, problem):
    plan = write_plan(tmp_path)
    if callable(fault):
        fault(tmp_path)
    else:
        plan["languages"]["fr"] |= fault
    assert problem in refused(main, *written(tmp_path, plan), out=tmp_path / "out.json")
