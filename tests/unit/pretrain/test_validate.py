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
def test_the_loss_is_the_mean_over_all_predicted_tokens_whatever_the_seed(
    toy: Path, tmp_path: Path, sequences: str
) -> None:
    run, engine, _ = make(toy, tmp_path, pretrain__sequences=sequences)
    folders = {code: toy / code for code in run.languages}
    validation = Validation(run, folders, {})
    other = Validation(make(toy, tmp_path, pretrain__sequences=sequences, seed=2)[0], folders, {})
    assert all(torch.equal(a.packed, b.packed) for a, b in zip(validation.batches[0], other.batches[0], strict=True))
    with torch.no_grad():
        encoder = engine.encoder.eval()
        for found, batches in zip(validation.losses(engine), validation.batches, strict=True):
            counts = [len(batch.targets) for batch in batches]
            total = sum(plain_loss(encoder, batch).item() * n for batch, n in zip(batches, counts, strict=True))
            assert found == pytest.approx(total / sum(counts), rel=1e-5)


def test_it_reads_the_first_tokens_in_order_and_no_line_twice(toy: Path, tmp_path: Path) -> None:
    stream = TokenStream(toy / "en", "valid")
    blocks = list(held_out(stream, toy, read(tmp_path, pretrain__validation_tokens=160).pretrain))
    assert np.array_equal(np.concatenate([block.ravel() for block in blocks]), stream.slice(0, 160))
    by_line = read(tmp_path, pretrain__sequences="lines", pretrain__validation_tokens=10**6).pretrain
    rows = [tuple(row[1:-1].tolist()) for block in held_out(stream, toy, by_line) for row in block]
    assert sorted(rows) == sorted(tuple(stream.line(i).tolist()) for i in range(stream.lines))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_sentences_are_the_means_that_the_analyses_of_a_finished_model_see(
    toy: Path, tmp_path: Path, norm: str
) -> None:
    model, sentences = (
        make(toy, tmp_path, shape__norm=norm)[1].encoder.eval(),
        [[2, 7, 8, 2], [2, 9, 2], [2, *range(30, 34), 2]],
    )
    windows = [Window(*map(np.array, (ids[1:-1], [row] * (len(ids) - 2), [1 / (len(ids) - 2)] * (len(ids) - 2))))
               for row, ids in enumerate(sentences)]  # fmt: skip
    expected = add_up(model, 1, windows, len(sentences))
    torch.testing.assert_close(sentence_vectors(model, sentences, 1), expected, atol=1e-6, rtol=1e-5)
    found = structure(model, [sentences, sentences])
    assert set(found["retrieval"]) == {"en-fr", "fr-en"}  # type: ignore[call-overload]
    assert (len(found["cka"]), found["sentences"]) == (3, 3)  # type: ignore[arg-type]
    assert found["cka"] != [pytest.approx(1.0)] * 3  # the language vectors differ


def test_retrieval_counts_nearest_neighbours_and_entropy_is_that_of_the_words() -> None:
    swapped = torch.eye(4)[[1, 0, 2, 3]]
    assert retrieval(torch.stack([torch.eye(4) * 3, swapped]), torch.eye(4).expand(2, 4, 4)) == [1.0, 0.5]
    assert unigram_entropy([np.array([[2, 10, 11, 12, 13]] * 3)]) == pytest.approx(math.log(4))
    unequal = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert unigram_entropy([np.array([[2, 9, 9, 9, 8]])]) == pytest.approx(unequal)


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
