"""`xling compare`: CKA and retrieval between any two encoders on a user's own parallel file."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import made_up, write_model, write_vocab

from xling.cka.compare import cka_matrix, layer_pairs, read_pairs, retrieval, same_depth
from xling.core.errors import InputError
from xling.core.seeds import numpy_rng
from xling.interop.compare_published import cautions, main, table
from xling.interop.encoders import open_encoder
from xling.model.similarity import linear_cka

TEXTS = {code: made_up(code, 64) for code in ("en", "fr")}


def states(name: str, rows: int = 400, width: int = 12) -> np.ndarray:
    return numpy_rng("compare", name).normal(size=(rows, width)).astype(np.float32)


def turned(vectors: np.ndarray, width: int) -> np.ndarray:
    """Return the vectors in another, perhaps wider, space: distances stay, coordinates do not."""
    square = np.linalg.qr(states("turn", width, width).astype(float))[0]
    return (vectors @ square[: vectors.shape[1]]).astype(np.float32)


def test_the_matrix_is_cka_of_each_pair_of_layers() -> None:
    left, right = [states("a"), states("b", width=7)], [states("c"), turned(states("a"), 12), states("d", width=5)]
    matrix = cka_matrix(left, right)
    assert np.array(matrix) == pytest.approx(np.array([[linear_cka(x, y) for y in right] for x in left]), abs=1e-9)
    assert matrix[0][1] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("width", [12, 20])
def test_a_turned_space_is_found_with_the_map_only(width: int) -> None:
    left = states("a")
    plain, mapped = retrieval(left, turned(left, width))
    assert mapped == 1.0
    assert plain is None if width != 12 else plain < 0.1
    if width == 12:
        assert retrieval(left, left)[0] == 1.0


def test_the_map_never_saw_what_is_looked_for() -> None:
    left = states("a", rows=100, width=60)
    _, mapped = retrieval(left, states("unrelated", rows=100, width=60))
    assert mapped < 0.3, "75 pairs fit a map of 60 dimensions well, but say nothing of the 25 others"


def test_a_set_of_its_own_is_looked_for_with_the_map_of_all_pairs() -> None:
    both = states("a", rows=140, width=12)
    fitted, tested = both[:100], both[100:]
    last = np.arange(100) % 4 == 3
    fitted[np.ix_(last, range(6))] = fitted[np.ix_(~last, range(6, 12))] = 0.0
    tested[:, :6] = 0.0  # what is looked for lies where only one pair in four, else held out, says how it turns
    found = retrieval(fitted, turned(fitted, 12), (tested, turned(tested, 12)))
    assert found[1] == 1.0
    assert found[0] is not None
    assert found[0] < 0.2
    assert retrieval(fitted, fitted, (tested, tested[::-1]))[1] == 0.0, "the set's own order counts"
    pairs = layer_pairs([fitted] * 2, [fitted] * 3, [[1.0] * 3] * 2, ([tested, tested], [tested, both[:40], tested]))
    assert [(pair.right, pair.plain) for pair in pairs] == [(0, 1.0), (2, 1.0)]


def test_layers_at_the_same_depth() -> None:
    assert same_depth(3, 3) == [(0, 0), (1, 1), (2, 2)]
    assert same_depth(3, 13) == [(0, 0), (1, 6), (2, 12)]
    assert same_depth(1, 4) == [(0, 0)]
    left, right = [states("a"), states("b")], [states("a"), states("c"), states("b")]
    pairs = layer_pairs(left, right, cka_matrix(left, right))
    assert [(pair.left, pair.right, pair.plain, pair.mapped) for pair in pairs] == [(0, 0, 1.0, 1.0), (1, 2, 1.0, 1.0)]


@pytest.fixture
def two_columns(tmp_path: Path) -> Path:
    path = tmp_path / "parallel.tsv"
    path.write_text("".join(f"{x}\t{y}\n" for x, y in zip(TEXTS["en"], TEXTS["fr"], strict=True)))
    return path


def test_pairs_come_from_columns_a_table_or_two_files(tmp_path: Path, two_columns: Path) -> None:
    expected = list(zip(TEXTS["en"], TEXTS["fr"], strict=True))
    assert read_pairs([two_columns], None, 10) == expected[:10]
    assert read_pairs([two_columns], ["en", "fr"], 1000) == expected
    (tmp_path / "table.tsv").write_text("fr\tde\ten\n" + "".join(f"{y}\t-\t{x}\n" for x, y in expected))
    assert read_pairs([tmp_path / "table.tsv"], ["en", "fr"], 1000) == expected
    for code, lines in TEXTS.items():
        (tmp_path / f"{code}.txt").write_text("\n".join(lines) + "\n")
    assert read_pairs([tmp_path / "en.txt", tmp_path / "fr.txt"], None, 1000) == expected


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a\tb\n" * 9 + "a\n", "p.tsv, line 10: 1 columns, expected sentence<TAB>sentence"),
        ("a\tb\n" * 9 + "a\t \n", "p.tsv, line 10: an empty side"),
        ("a\tb\n" * 7, "p.tsv: 7 pairs of sentences, at least 8 are needed"),
        ("", "p.tsv: 0 pairs of sentences"),
    ],
)
def test_a_bad_parallel_file(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "p.tsv").write_text(content)
    with pytest.raises(InputError, match=problem):
        read_pairs([tmp_path / "p.tsv"], None, 100)


def test_two_models_of_ours(call: Callable[..., Any], tmp_path: Path, two_columns: Path) -> None:
    vocabs = {code: write_vocab(tmp_path / f"v.{code}", "mono", {code: lines}, 60) for code, lines in TEXTS.items()}
    for code, vocab in vocabs.items():
        write_model(tmp_path / code, vocab, norm="pre")
    flags = ["--vocab-a", vocabs["en"], "--vocab-b", vocabs["fr"], "--out", tmp_path / "out"]
    done = call(main, tmp_path / "en", tmp_path / "fr", "--parallel", two_columns, *flags)
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out" / "compare.json").read_text())
    sides = [open_encoder(str(tmp_path / c), c, vocabs[c]).sentence_means(TEXTS[c]) for c in TEXTS]
    assert result["matrix"][1][3] == pytest.approx(linear_cka(sides[0][1], sides[1][3]), abs=1e-6)
    assert (result["sentences"], result["fitted"], result["looked_for"], result["chance"]) == (64, 48, 16, 1 / 16)
    with (tmp_path / "out" / "layers.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert [row["cka"] for row in rows] == [str(result["matrix"][i][i]) for i in range(5)]
    with (tmp_path / "out" / "matrix.csv").open() as handle:
        assert list(csv.reader(handle))[2][1:] == [str(value) for value in result["matrix"][1]]
    assert (tmp_path / "out" / "matrix.png").read_bytes().startswith(b"\x89PNG")
    assert len(table(result).splitlines()) == 1 + 5 + 1
    assert cautions(result) == []
    assert "48 pairs for vectors 100 wide are few" in cautions(result | {"widths": [24, 100]})[0]


def test_two_models_of_hugging_face(call: Callable[..., Any], tmp_path: Path, two_columns: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_hub import write_bert, write_xlm_roberta

    bert = write_bert(tmp_path / "bert", TEXTS["en"])
    xlmr = write_xlm_roberta(tmp_path / "xlmr", TEXTS["fr"], width=20)
    done = call(main, bert, xlmr, "--parallel", two_columns, "--out", tmp_path / "out")
    assert done.code == 0, done.error
    result = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert np.array(result["matrix"]).shape == (3, 4)
    assert [(row["left"], row["right"], row["plain"]) for row in result["layers"]] == [
        (0, 0, None),
        (1, 2, None),
        (2, 3, None),
    ]
    files = ["--parallel", two_columns, "--retrieve", two_columns, "--sentences", 32, "--config-hash", "abc"]
    done = call(main, bert, bert, *files, "--out", tmp_path / "same")
    same = json.loads((tmp_path / "same" / "compare.json").read_text())
    assert (done.code, same["sentences"], same["config"]) == (0, 32, "abc")
    assert (same["fitted"], same["looked_for"], same["chance"]) == (32, 32, 1 / 32)


def test_an_encoder_is_like_itself(call: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_hub import write_bert

    bert = write_bert(tmp_path / "bert", TEXTS["en"])
    (tmp_path / "en.txt").write_text("\n".join(TEXTS["en"]) + "\n")
    call(main, bert, bert, "--parallel", tmp_path / "en.txt", tmp_path / "en.txt", "--out", tmp_path / "out")
    result = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert [row["cka"] for row in result["layers"]] == pytest.approx([1.0] * 3)
    assert [row["plain"] for row in result["layers"]] == [1.0] * 3


def test_bad_input_is_one_line(call: Callable[..., Any], tmp_path: Path, two_columns: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_hub import write_bert

    from xling.interop.export import export

    bert = write_bert(tmp_path / "bert", TEXTS["en"])
    vocab = write_vocab(tmp_path / "v", "joint", TEXTS, 60)
    write_model(tmp_path / "own", vocab)
    (exported,) = export(tmp_path / "own", vocab, tmp_path / "exported", {})
    (tmp_path / "short.txt").write_text("a\n" * 20)
    (tmp_path / "long.txt").write_text("a\n" * 21)
    cases: list[tuple[list[Any], str]] = [
        ([bert, bert, "--parallel", tmp_path / "nowhere.tsv"], "nowhere.tsv: no such file"),
        ([bert, bert, "--parallel", tmp_path / "short.txt", tmp_path / "long.txt"], "short.txt: ends after 20 lines"),
        ([bert, bert, "--parallel", two_columns, two_columns, two_columns], "--parallel takes one file or two, not 3"),
        ([bert, bert, "--parallel", two_columns, "--retrieve", tmp_path / "no.tsv"], "no.tsv: no such file"),
        ([bert, bert, "--parallel", two_columns, "--retrieve", *[two_columns] * 3], "--retrieve takes one file or two"),
        ([bert, tmp_path, "--parallel", two_columns], "no model's folder"),
        (
            [exported, bert, "--parallel", two_columns],
            "en, fr (given: none; --language of xling import, --languages A B",
        ),
        ([bert, tmp_path / "no" / "where", "--parallel", two_columns], "not a folder"),
    ]
    for arguments, problem in cases:
        done = call(main, *arguments, "--out", tmp_path / "out")
        assert (done.code, done.error.count("\n")) == (2, 1), (problem, done)
        assert problem in done.error
    assert not (tmp_path / "out").exists()
