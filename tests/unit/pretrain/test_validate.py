"""Validation and cross-lingual structure, against plain second implementations."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from toy_runs import make, plain_loss, read

from xling.align.pooling import Window, add_up
from xling.bpe.streams import TokenStream
from xling.core.errors import InputError
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.pretrain.validate import (
    Validation,
    held_out,
    read_parallel,
    retrieval,
    sentence_vectors,
    structure,
    unigram_entropy,
)


@pytest.mark.parametrize("sequences", ["streams", "lines"])
def test_the_loss_is_the_mean_over_all_predicted_tokens(toy: Path, tmp_path: Path, sequences: str) -> None:
    run, engine, _ = make(toy, tmp_path, pretrain__sequences=sequences)
    validation = Validation(run, {code: toy / code for code in run.languages}, {})
    with torch.no_grad():
        encoder = engine.encoder.eval()
        for found, batches in zip(validation.losses(engine), validation.batches, strict=True):
            counts = [len(batch.targets) for batch in batches]
            total = sum(plain_loss(encoder, batch).item() * n for batch, n in zip(batches, counts, strict=True))
            assert found == pytest.approx(total / sum(counts), rel=1e-5)


def test_validation_does_not_depend_on_the_runs_seed(toy: Path, tmp_path: Path) -> None:
    folders = {code: toy / code for code in ("en", "fr")}
    one, other = (Validation(make(toy, tmp_path, seed=seed)[0], folders, {}) for seed in (1, 2))
    assert all(torch.equal(a.packed, b.packed) for a, b in zip(one.batches[0], other.batches[0], strict=True))


def test_it_reads_the_first_tokens_in_order_and_no_line_twice(toy: Path, tmp_path: Path) -> None:
    stream = TokenStream(toy / "en", "valid")
    blocks = list(held_out(stream, toy, read(tmp_path, pretrain__validation_tokens=160).pretrain))
    assert np.array_equal(np.concatenate([block.ravel() for block in blocks]), stream.slice(0, 160))
    by_line = read(tmp_path, pretrain__sequences="lines", pretrain__validation_tokens=10**6).pretrain
    rows = [tuple(row[1:-1].tolist()) for block in held_out(stream, toy, by_line) for row in block]
    assert sorted(rows) == sorted(tuple(stream.line(i).tolist()) for i in range(stream.lines))


def test_entropy_of_equal_and_unequal_words() -> None:
    even = np.array([[2, 10, 11, 12, 13]] * 3)
    assert unigram_entropy([even]) == pytest.approx(math.log(4))
    assert unigram_entropy([np.array([[2, 9, 9, 9, 8]])]) == pytest.approx(
        -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    )


def encoder(norm: str = "post") -> Encoder:
    shape = Shape(2, 16, 2, 32, "gelu", 0.1, 0.1, norm, 1e-12, 32, True)
    return Encoder(ModelConfig(("en", "fr"), (50, 50), shape, Separate(False, 1), "shared"), seed=2).eval()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_sentences_are_the_means_that_the_analyses_of_a_finished_model_see(norm: str) -> None:
    model, sentences = encoder(norm), [[2, 7, 8, 2], [2, 9, 2], [2, 30, 31, 32, 33, 2]]
    windows = [Window(*map(np.array, (ids[1:-1], [row] * (len(ids) - 2), [1 / (len(ids) - 2)] * (len(ids) - 2))))
               for row, ids in enumerate(sentences)]  # fmt: skip
    expected = add_up(model, 1, windows, len(sentences))
    torch.testing.assert_close(sentence_vectors(model, sentences, 1), expected, atol=1e-6, rtol=1e-5)


def test_retrieval_counts_nearest_neighbours() -> None:
    right = torch.eye(4)[None]
    assert retrieval(torch.eye(4)[None] * 3, right) == [1.0]
    assert retrieval(torch.eye(4)[None][:, [1, 0, 2, 3]], right) == [0.5]


def test_structure_reports_every_layer_both_ways() -> None:
    sentences = [[2, 7, 8, 2], [2, 9, 2], [2, 5, 6, 2]]
    found = structure(encoder(), [sentences, sentences])
    assert set(found["retrieval"]) == {"en-fr", "fr-en"}  # type: ignore[call-overload]
    assert found["cka"] != [pytest.approx(1.0)] * 3  # the language vector and the first layer are not shared
    assert len(found["cka"]) == 3  # type: ignore[arg-type]
    assert found["sentences"] == 3


def test_parallel_sentences_are_encoded_between_ends(toy: Path, tmp_path: Path) -> None:
    files = {"en": tmp_path / "en.txt", "fr": tmp_path / "fr.txt"}
    files["en"].write_text("the cat\nthe mat the mat the mat\n")
    files["fr"].write_text("le chat\nle tapis\n")
    english, french = read_parallel(files, toy / "vocab", 8)
    assert len(english) == len(french) == 2
    assert all(ids[0] == ids[-1] == 2 and len(ids) <= 8 for ids in english + french)
    files["fr"].write_text("a\n")
    with pytest.raises(InputError, match=r"fr\.txt: ends after 1 lines"):
        read_parallel(files, toy / "vocab", 8)
