"""Procrustes finds a hidden rotation and agrees with scipy."""

import numpy as np
import pytest
import scipy.linalg

from xling.align.mapping import apply_map, fit_alignment, procrustes
from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

RNG = numpy_rng("mapping")  # of these two alone: a test's numbers must not depend on those that ran before it
SOURCE = RNG.normal(size=(500, 20))
ROTATION = np.linalg.qr(RNG.normal(size=(20, 20)))[0]


def test_recovers_a_hidden_rotation_in_the_papers_orientation() -> None:
    target = (ROTATION @ SOURCE.T).T  # W x for column vectors
    found = procrustes(SOURCE, target)
    np.testing.assert_allclose(found, ROTATION, atol=1e-6)
    np.testing.assert_allclose(apply_map(found, SOURCE), target, atol=1e-6)


def test_recovers_it_from_single_precision() -> None:
    target = (SOURCE @ ROTATION.T).astype(np.float32)
    np.testing.assert_allclose(procrustes(SOURCE.astype(np.float32), target), ROTATION, atol=1e-6)


def test_equals_scipy_and_is_orthogonal() -> None:
    rng = numpy_rng("mapping", "scipy")
    target = SOURCE @ rng.normal(size=(20, 20)) + rng.normal(size=(500, 20))
    found = procrustes(SOURCE, target)
    np.testing.assert_allclose(found.T, scipy.linalg.orthogonal_procrustes(SOURCE, target)[0], atol=1e-10)
    np.testing.assert_allclose(found @ found.T, np.eye(20), atol=1e-12)


def test_no_rotation_nearby_fits_better() -> None:
    rng = numpy_rng("mapping", "nearby")
    target = SOURCE @ ROTATION.T + 0.3 * rng.normal(size=(500, 20))
    found = procrustes(SOURCE, target)
    best = np.linalg.norm(apply_map(found, SOURCE) - target)
    for _ in range(20):
        skew = 1e-2 * rng.normal(size=(20, 20))
        turned = scipy.linalg.expm(skew - skew.T) @ found
        assert np.linalg.norm(apply_map(turned, SOURCE) - target) > best


def test_alignment_makes_rotated_shifted_spaces_equal_on_held_out_vectors() -> None:
    vectors = numpy_rng("mapping", "held out").normal(size=(4000, 20))
    alignment = fit_alignment(vectors[:3000], vectors[:3000] @ ROTATION.T * 3)
    mapped, held_out = alignment.map_source(vectors[3000:]), vectors[3000:] @ ROTATION.T * 3
    np.testing.assert_allclose(mapped, alignment.normalise_target(held_out), atol=1e-6)


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), "3 source and 4 target vectors"),
        (np.ones((0, 2)), np.ones((0, 2)), "0 source and 0 target vectors"),
        (np.ones((3, 2)), np.ones((3, 5)), "one width: 2 at the source, 5"),
        (np.full((3, 2), np.nan), np.ones((3, 2)), "the source vectors hold a number that is not finite"),
    ],
)
def test_pairs_that_cannot_be_fitted(source: np.ndarray, target: np.ndarray, problem: str) -> None:
    with pytest.raises(XlingError, match=problem):
        fit_alignment(source, target)
