"""Iterative normalisation ends at unit length and zero mean, and held-out vectors follow the same steps."""

import numpy as np
import pytest

from xling.align.normalise import ROUNDS, Normaliser, fit_normaliser, unit_length
from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

VECTORS = numpy_rng("normalise").normal(size=(3000, 40)) + 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unit_length_and_zero_mean(dtype: type) -> None:
    _, normal = fit_normaliser(VECTORS.astype(dtype))
    assert normal.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(normal.mean(axis=0, dtype=np.float64), 0, atol=1e-6)


def test_every_round_as_defined() -> None:
    vectors = VECTORS[:50]
    expected = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for _ in range(ROUNDS):
        expected = expected - expected.mean(axis=0)
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(fit_normaliser(vectors)[1], expected, atol=1e-12)


def test_stored_means_replay_on_the_same_and_on_other_vectors() -> None:
    normaliser, normal = fit_normaliser(VECTORS)
    np.testing.assert_array_equal(normaliser(VECTORS), normal)
    np.testing.assert_allclose(normaliser(VECTORS[10:12] * 7), normal[10:12], atol=1e-12)
    assert normaliser.means.shape == (5, 40)


def test_input_is_not_changed_and_half_precision_becomes_single() -> None:
    vectors = VECTORS.astype(np.float16)
    before = vectors.copy()
    _, normal = fit_normaliser(vectors)
    np.testing.assert_array_equal(vectors, before)
    assert normal.dtype == np.float32


def test_a_zero_vector_gives_no_nan() -> None:
    assert np.isfinite(fit_normaliser(np.vstack([VECTORS[:9], np.zeros(40)]))[1]).all()
    np.testing.assert_array_equal(unit_length(np.zeros((1, 3))), np.zeros((1, 3)))


def test_wrong_width_and_no_vectors() -> None:
    with pytest.raises(XlingError, match="width 3, but the means are of width 40"):
        fit_normaliser(VECTORS)[0](np.ones((2, 3)))
    with pytest.raises(XlingError, match="no vectors to normalise"):
        fit_normaliser(np.empty((0, 4)))
    assert isinstance(fit_normaliser(VECTORS)[0], Normaliser)
