"""Word translation by MUSE's rules: unknown words, several translations, casing, and real text with real dictionaries."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xling.align.states import write_states
from xling.align.words import KnownPairs, chance, fold_case, known_pairs, main, translate
from xling.core.seeds import numpy_rng
from xling.data.muse import WordPair
from xling.data.parallel import read_multiway

ROTATION = np.linalg.qr(numpy_rng("rotation").normal(size=(32, 32)))[0]
SPACE = numpy_rng("space").normal(size=(400, 32)).astype(np.float32)


def pairs(text: str) -> list[WordPair]:
    return [WordPair(*pair.split("=")) for pair in text.split()]


def write_vec(path: Path, words: list[str], vectors: np.ndarray) -> Path:
    rows = (f"{word} {' '.join(f'{value:.7f}' for value in row)}\n" for word, row in zip(words, vectors, strict=True))
    path.write_text(f"{len(words)} {vectors.shape[1]}\n" + "".join(rows))
    return path


def write_spaces(folder: Path) -> tuple[Path, Path]:
    """Two languages of the same shape: word e7 means f7."""
    write_vec(folder / "en.vec", [f"e{row}" for row in range(400)], SPACE)
    write_vec(folder / "fr.vec", [f"f{row}" for row in range(400)], SPACE @ ROTATION)
    return folder / "en.vec", folder / "fr.vec"


def write_dictionary(path: Path, rows: range) -> Path:
    path.write_text("".join(f"e{row} f{row}\n" for row in rows))
    return path


def test_the_first_spelling_counts() -> None:
    found = fold_case(["Paris", "paris", "the", "THE", "Été"])
    assert found.places == {"paris": 0, "the": 1, "été": 2}
    assert found.rows.tolist() == [0, 2, 4]
    assert found.merged == 2


def test_only_allowed_words_are_kept_whatever_their_case() -> None:
    found = fold_case(["Paris", "paris", "the", "cat"], allowed=["PARIS", "Cat", "dog"])
    assert found.places == {"paris": 0, "cat": 1}
    assert (found.rows.tolist(), found.merged) == ([0, 3], 1)


def test_pairs_with_unknown_words_are_left_out_and_counted() -> None:
    source, target = fold_case(["Cat", "dog"]), fold_case(["chat", "CHIEN"])
    known = known_pairs(pairs("cat=chat Cat=Chat dog=chien dog=clebs bird=oiseau fish=chat"), source, target)
    assert known.pairs == ((0, 0), (1, 1))
    assert (known.given, known.unknown_source, known.unknown_target) == (5, 2, 2)
    assert known.describe()["source_words_kept"] == 2


def test_a_source_word_with_several_translations_counts_once() -> None:
    train = KnownPairs(tuple((row, row) for row in range(100)), 100, 0, 0)
    wrong = tuple((row, (row + 50) % 400) for row in range(100, 110))  # a second translation that is not found
    right = tuple((row, row) for row in range(100, 108))
    scores = translate(SPACE, SPACE @ ROTATION, train, KnownPairs(right + wrong, 18, 0, 0), "cpu")
    assert scores["P@1"] == pytest.approx(0.8)  # 8 of 10 source words, though 8 of 18 pairs


def test_chance_is_the_share_of_random_guesses() -> None:
    rng, gold = numpy_rng("chance"), [{0}, {1, 2, 3}]
    draws = [rng.permutation(20)[:10].tolist() for _ in range(20000)]
    expected = chance(gold, 20)
    assert expected["P@1"] == pytest.approx((1 / 20 + 3 / 20) / 2)
    for rank in (5, 10):
        hits = np.mean([[bool(answers & set(draw[:rank])) for answers in gold] for draw in draws])
        assert expected[f"P@{rank}"] == pytest.approx(hits, abs=0.01)
    assert chance([{0}], 3)["P@10"] == 1


def test_the_command_recovers_a_hidden_rotation(call: Callable[..., Any], tmp_path: Path) -> None:
    source, target = write_spaces(tmp_path)
    train, test = write_dictionary(tmp_path / "a", range(200)), write_dictionary(tmp_path / "b", range(150, 500))
    done = call(main, "--source", source, "--target", target, "--train", train, "--test", test,
               "--config-hash", "abc", "--out", tmp_path / "out.json")  # fmt: skip
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["layers"]["L0"] == {"P@1": 1, "P@5": 1, "P@10": 1}
    assert result["test"] == {
        "pairs": 350, "pairs_kept": 250, "source_words_kept": 250, "unknown_source": 100, "unknown_target": 100,
    }  # fmt: skip
    assert result["chance"]["P@1"] == pytest.approx(1 / 400)
    assert result["config"] == "abc"


def test_every_layer_of_states_and_a_smaller_vocabulary(call: Callable[..., Any], tmp_path: Path) -> None:
    noise = numpy_rng("noise").normal(size=(400, 32)).astype(np.float32)
    for code, layers in (("e", [SPACE, noise]), ("f", [SPACE @ ROTATION, SPACE])):
        words = [f"{code}{row}" for row in range(400)]
        write_states(tmp_path / f"{code}.npz", [layer.astype(np.float16) for layer in layers], {}, words)
    write_vec(tmp_path / "few.vec", [f"E{row}" for row in range(300)], SPACE[:300])
    write_vec(tmp_path / "more.vec", [f"F{row}" for row in range(350)], SPACE[:350])
    train, test = write_dictionary(tmp_path / "a", range(200)), write_dictionary(tmp_path / "b", range(200, 400))
    flags = ["--source", tmp_path / "e.npz", "--source-words", tmp_path / "few.vec"]
    flags += ["--target", tmp_path / "f.npz", "--target-words", tmp_path / "more.vec"]
    done = call(main, *flags, "--train", train, "--test", test, "--out", tmp_path / "out.json")
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["layers"]["L0"]["P@1"] > 0.95
    assert result["layers"]["L1"]["P@1"] < 0.2
    assert (result["source_words"], result["target_words"], result["test"]["pairs_kept"]) == (300, 350, 100)


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("unknown", "none of its 2 pairs has vectors on both sides (2 source and 1 target words are unknown)"),
        ("empty", "empty where pairs of words were expected"),
        ("layer", "no layer 9: the layers are 0 to 0"),
        ("words", "states without a list of words"),
        ("nan", "layer 0, row 3 holds a number that is not finite"),
    ],
)
def test_bad_input_is_one_line(call: Callable[..., Any], tmp_path: Path, fault: str, problem: str) -> None:
    source, target = write_spaces(tmp_path)
    train, test = write_dictionary(tmp_path / "a", range(200)), write_dictionary(tmp_path / "b", range(200, 400))
    flags: list[object] = []
    if fault in ("unknown", "empty"):
        test.write_text("dog f1\ncat chat\n" if fault == "unknown" else "")
    else:
        states, broken = SPACE.copy(), tmp_path / "en.npz"
        states[3, 3] = np.nan if fault == "nan" else 0
        write_states(broken, [states], {}, [f"e{row}" for row in range(400)] if fault != "words" else [])
        source, flags = broken, ["--layers", 9] if fault == "layer" else []
    done = call(main, "--source", source, "--target", target, "--train", train, "--test", test, *flags,
               "--out", tmp_path / "out.json")  # fmt: skip
    assert done.code == 2
    assert problem in done.error
    assert done.error.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


@pytest.mark.real_data
def test_real_text_and_a_real_dictionary(call: Callable[..., Any], real_data: Path, tmp_path: Path) -> None:
    """Words as sums of a random vector for each parallel sentence they occur in: translations come out alike."""
    sentences = list(read_multiway(real_data / "xnli" / "xnli.15way.orig.tsv", ["en", "fr"]))
    signs = numpy_rng("signs").normal(size=(len(sentences), 300)).astype(np.float32)
    turn = np.linalg.qr(numpy_rng("turn").normal(size=(300, 300)))[0].astype(np.float32)
    for side, name in enumerate(("en", "fr")):
        rows: dict[str, list[int]] = {}
        for number, sentence in enumerate(sentences):
            for word in set(re.findall(r"[^\W\d_]+", sentence[side])):  # cased, as the text is
                rows.setdefault(word, []).append(number)
        common = sorted((word for word in rows if len(rows[word]) > 3), key=lambda word: (-len(rows[word]), word))
        vectors = np.array([signs[rows[word]].sum(axis=0) for word in common])
        write_states(tmp_path / f"{name}.npz", [vectors @ turn if side else vectors], {}, common)
    muse = real_data / "muse"
    done = call(main, "--source", tmp_path / "en.npz", "--target", tmp_path / "fr.npz",
               "--train", muse / "en-fr.0-5000.txt", "--test", muse / "en-fr.5000-6500.txt",
               "--out", tmp_path / "out.json")  # fmt: skip
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out.json").read_text())
    assert min(result["spellings_merged"]) > 0  # sentence starts are upper case
    test = result["test"]
    assert 0 < test["source_words_kept"] <= test["pairs_kept"] < test["pairs"]
    assert result["layers"]["L0"]["P@1"] > 100 * result["chance"]["P@1"]
