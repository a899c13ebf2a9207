"""`xling compare`: CKA and retrieval between any two encoders on a user's own parallel file."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from tiny_models import made_up, write_model, write_vocab

from xling.core.io import read_json, write_text
from xling.core.seeds import numpy_rng
from xling.interop.compare_published import (
    axis_names,
    caution,
    compare,
    heat_map,
    main,
    read_pairs,
    retrieval,
    same_depth,
    table,
)
from xling.interop.encoders import open_any_encoder
from xling.model.similarity import linear_cka

Call = Callable[..., Any]
TEXTS = {code: made_up(code, 64) for code in ("en", "fr")}
PAIRS = list(zip(TEXTS["en"], TEXTS["fr"], strict=True))


def states(name: str, rows: int = 400, width: int = 12) -> np.ndarray:
    return numpy_rng("compare", name).normal(size=(rows, width)).astype(np.float32)


def turned(vectors: np.ndarray, width: int) -> np.ndarray:
    """Return the vectors in another, perhaps wider, space: distances stay, coordinates do not."""
    square = np.linalg.qr(states("turn", width, width).astype(float))[0]
    return (vectors @ square[: vectors.shape[1]]).astype(np.float32)


class Toy(NamedTuple):
    """An encoder whose sentences are the numbers of rows."""

    layers: list[np.ndarray]
    name: str = "toy"
    language: None = None

    def sentence_means(self, texts: list[str]) -> list[np.ndarray]:
        return [layer[[int(text) for text in texts]] for layer in self.layers]


def test_a_turned_space_is_found_with_the_map_only_and_the_map_never_saw_what_is_looked_for() -> None:
    left = states("a")
    plain, mapped = retrieval(left, turned(left, 12))
    assert (mapped, plain) == (1.0, pytest.approx(0, abs=0.1))
    assert retrieval(left, turned(left, 20)) == (None, 1.0)
    assert retrieval(left, left)[0] == 1.0
    few = states("a", rows=100, width=60)  # 75 pairs fit a map of 60 dimensions well, but say nothing of the 25 others
    assert retrieval(few, states("unrelated", rows=100, width=60))[1] < 0.3


def test_layers_are_compared_at_the_same_depth() -> None:
    both = states("a", rows=100)
    pairs = [(str(row), str(row)) for row in range(100)]
    found = compare([Toy([both] * 2), Toy([both, both[::-1], both])], pairs)
    assert [(pair["right"], pair["plain"]) for pair in found["layers"]] == [(0, 1.0), (2, 1.0)]
    assert (found["fitted"], found["looked_for"]) == (75, 25)
    expected = [[linear_cka(x, y) for y in (both, both[::-1], both)] for x in [both] * 2]
    np.testing.assert_allclose(found["matrix"], expected, atol=1e-9)
    assert same_depth(3, 3) == [(0, 0), (1, 1), (2, 2)]
    assert same_depth(3, 13) == [(0, 0), (1, 6), (2, 12)]
    assert same_depth(1, 4) == [(0, 0)]


@pytest.fixture
def two_columns(tmp_path: Path) -> Path:
    path = tmp_path / "parallel.tsv"
    path.write_text("".join(f"{x}\t{y}\n" for x, y in PAIRS))
    return path


def test_pairs_come_from_columns_a_table_or_two_files(tmp_path: Path, two_columns: Path) -> None:
    assert read_pairs([two_columns], None, 10) == PAIRS[:10]
    assert read_pairs([two_columns], ["en", "fr"], 1000) == PAIRS
    (tmp_path / "table.tsv").write_text("fr\tde\ten\n" + "".join(f"{y}\t-\t{x}\n" for x, y in PAIRS))
    assert read_pairs([tmp_path / "table.tsv"], ["en", "fr"], 1000) == PAIRS
    for code, lines in TEXTS.items():
        (tmp_path / f"{code}.txt").write_text("\n".join(lines) + "\n")
    assert read_pairs([tmp_path / "en.txt", tmp_path / "fr.txt"], None, 1000) == PAIRS


def test_two_models_of_studies_need_no_flags(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vocab = write_vocab(tmp_path / "v", "joint", TEXTS, 60)
    for study in ("one", "two"):
        write_model(tmp_path / study / "models" / "toy", vocab, norm="pre")
        shutil.copytree(vocab, tmp_path / study / "vocab" / "en-fr.joint.wiki")
        for code, lines in TEXTS.items():
            with write_text(tmp_path / study / "parallel" / f"{code}.txt") as handle:
                handle.writelines(f"{line}\n" for line in lines)
    monkeypatch.chdir(tmp_path)
    done = call(main, "one/models/toy", "two/models/toy")
    assert done.code == 0, done.error
    result = read_json(Path("toy-vs-toy/compare.json"))
    sides = [open_any_encoder("one/models/toy", code, vocab).sentence_means(TEXTS[code]) for code in TEXTS]
    assert result["matrix"][1][3] == pytest.approx(linear_cka(sides[0][1], sides[1][3]), abs=1e-6)
    assert [result[key] for key in ("languages", "sentences", "fitted", "chance")] == [["en", "fr"], 64, 48, 1 / 16]
    layers, matrix = (pd.read_csv(f"toy-vs-toy/{name}.csv") for name in ("layers", "matrix"))
    assert layers.to_dict("records") == result["layers"]
    assert list(matrix.columns[1:]) == list(matrix.iloc[:, 0]) == [f"L{i}" for i in range(5)]
    np.testing.assert_allclose(matrix.iloc[:, 1:], result["matrix"], rtol=1e-15)
    assert Path("toy-vs-toy/matrix.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in Path("toy-vs-toy/matrix.svg").read_bytes()
    axes, bar = heat_map(result).axes
    assert axes.get_ylabel() == "layers of one/models/toy (en)"
    assert axes.get_xlabel() == "layers of two/models/toy (fr)"
    assert bar.get_ylabel() == "linear CKA"
    assert axis_names(["one/models/toy", "org/bert"], ["en", None]) == ["toy (en)", "org/bert"]
    assert len(table(result).splitlines()) == 1 + 5 + 1
    assert caution(result) is None
    assert "48 pairs for vectors 100 wide are few" in str(caution(result | {"widths": [24, 100]}))
    assert "with --parallel: this is no model of ours" in call(main, "one/models/toy", "org/bert").error
    misspelt = "one/models/tyo: no such folder (did you mean 'toy'?)"
    assert misspelt in call(main, "one/models/toy", "one/models/tyo").error


def test_models_of_hugging_face(call: Call, tmp_path: Path, two_columns: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_hub import write_bert, write_xlm_roberta

    bert = write_bert(tmp_path / "bert", TEXTS["en"])
    xlmr = write_xlm_roberta(tmp_path / "xlmr", TEXTS["fr"], width=20)
    done = call(main, bert, xlmr, "--parallel", two_columns, "--out", tmp_path / "out")
    assert done.code == 0, done.error
    result = read_json(tmp_path / "out" / "compare.json")
    assert np.array(result["matrix"]).shape == (3, 4)
    found = [(row["left"], row["right"], row["plain"]) for row in result["layers"]]
    assert found == [(0, 0, None), (1, 2, None), (2, 3, None)]
    (tmp_path / "en.txt").write_text("\n".join(TEXTS["en"]) + "\n")
    same = [tmp_path / "en.txt"] * 2
    assert call(main, bert, bert, "--parallel", *same, "--sentences", 32, "--out", tmp_path / "same").code == 0
    itself = read_json(tmp_path / "same" / "compare.json")
    assert itself["sentences"] == 32
    assert [row["cka"] for row in itself["layers"]] == pytest.approx([1.0] * 3)
    assert [row["plain"] for row in itself["layers"]] == [1.0] * 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("BERT --parallel nowhere.tsv", "nowhere.tsv: no such file"),
        ("BERT --parallel 20.txt 21.txt", "20.txt: ends after 20 lines"),
        ("BERT --parallel one.tsv", "one.tsv, line 10: 1 columns, expected sentence<TAB>sentence"),
        ("BERT --parallel blank.tsv", "blank.tsv, line 10: an empty side"),
        ("BERT --parallel seven.tsv", "seven.tsv: 7 pairs of sentences, at least 8 are needed"),
        ("BERT --parallel empty.tsv", "empty.tsv: 0 pairs of sentences"),
        ("BERT --parallel parallel.tsv parallel.tsv parallel.tsv", "--parallel takes one file or two, not 3"),
        ("./no/where --parallel parallel.tsv", "not a folder"),
    ],
)
@pytest.mark.usefixtures("two_columns")
def test_bad_input_is_one_line(
    refused: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, problem: str
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    contents = {"20.txt": "a\n" * 20, "21.txt": "a\n" * 21, "one.tsv": "a\tb\n" * 9 + "a\n", "empty.tsv": ""}
    contents |= {"blank.tsv": "a\tb\n" * 9 + "a\t \n", "seven.tsv": "a\tb\n" * 7}
    for name, content in contents.items():
        Path(name).write_text(content)
    model, *flags = arguments.split()
    assert problem in refused(main, model, "BERT", *flags, "--out", "out", out=Path("out"))
