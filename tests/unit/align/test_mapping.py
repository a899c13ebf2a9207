"""Iterative normalisation and the orthogonal map: their definitions, scipy's solution, and held-out vectors."""

import numpy as np
import pytest
import scipy.linalg

from xling.align.mapping import ROUNDS, apply_map, fit_normaliser, map_pair, procrustes
from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

VECTORS = numpy_rng("normalise").normal(size=(3000, 40)) + 0.5
RNG = numpy_rng("mapping")  # of these two alone: a test's numbers must not depend on those that ran before it
SOURCE = RNG.normal(size=(500, 20))
ROTATION = np.linalg.qr(RNG.normal(size=(20, 20)))[0]


def test_every_round_as_defined_and_replayed() -> None:
    expected = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    for _ in range(ROUNDS):
        expected = expected - expected.mean(axis=0)
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    normaliser, normal = fit_normaliser(VECTORS)
    np.testing.assert_allclose(normal, expected, atol=1e-12)
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_array_equal(normaliser(VECTORS), normal)
    np.testing.assert_allclose(normaliser(VECTORS[10:12] * 7), normal[10:12], atol=1e-12)
    half = VECTORS.astype(np.float16)
    assert fit_normaliser(half)[1].dtype == np.float32
    np.testing.assert_array_equal(half, VECTORS.astype(np.float16))  # the input is left as it was
    assert np.isfinite(fit_normaliser(np.vstack([VECTORS[:9], np.zeros(40)]))[1]).all()


def test_the_map_equals_scipys_and_recovers_a_hidden_rotation_in_the_papers_orientation() -> None:
    rng = numpy_rng("mapping", "scipy")
    target = SOURCE @ rng.normal(size=(20, 20)) + rng.normal(size=(500, 20))
    found = procrustes(SOURCE, target)
    np.testing.assert_allclose(found.T, scipy.linalg.orthogonal_procrustes(SOURCE, target)[0], atol=1e-10)
    turned = (ROTATION @ SOURCE.T).T  # W x for column vectors, the paper's orientation
    np.testing.assert_allclose(procrustes(SOURCE.astype(np.float32), turned.astype(np.float32)), ROTATION, atol=1e-6)
    np.testing.assert_allclose(apply_map(procrustes(SOURCE, turned), SOURCE), turned, atol=1e-10)


def test_alignment_makes_rotated_scaled_spaces_equal_on_held_out_vectors() -> None:
    vectors = numpy_rng("mapping", "held out").normal(size=(4000, 20))
    turned = vectors @ ROTATION.T * 3
    mapped, target = map_pair(vectors[3000:], turned[3000:], vectors[:3000], turned[:3000])
    np.testing.assert_allclose(mapped, target, atol=1e-6)
    assert not np.allclose(mapped, fit_normaliser(vectors[3000:])[1], atol=1e-2)
    with pytest.raises(XlingError, match="one width: 2 at the source, 5"):
        procrustes(np.ones((3, 2)), np.ones((3, 5)))
