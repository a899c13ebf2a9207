"""Normalisation, the orthogonal map and nearest neighbours equal their definitions: ties, half precision, threads included."""

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import xling.align.search as engine
from xling.align.mapping import ROUNDS, apply_map, map_pair, normalise, procrustes, unit_length
from xling.align.search import csls_search, mean_similarity, search
from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng

VECTORS = numpy_rng("normalise").normal(size=(3000, 40)) + 0.5
RNG = numpy_rng("mapping")  # of these two alone: a test's numbers must not depend on those that ran before it
SOURCE = RNG.normal(size=(500, 20))
ROTATION = np.linalg.qr(RNG.normal(size=(20, 20)))[0]


def test_every_round_as_defined_and_replayed():
    expected = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    for _ in range(ROUNDS):
        expected = expected - expected.mean(axis=0)
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    normal, means = normalise(VECTORS)
    np.testing.assert_allclose(normal, expected, atol=1e-12)
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_array_equal(normalise(VECTORS, means)[0], normal)
    np.testing.assert_allclose(normalise(VECTORS[10:12] * 7, means)[0], normal[10:12], atol=1e-12)
    half = VECTORS.astype(np.float16)
    assert normalise(half)[0].dtype == np.float32
    np.testing.assert_array_equal(half, VECTORS.astype(np.float16))  # the input is left as it was
    assert np.isfinite(normalise(np.vstack([VECTORS[:9], np.zeros(40)]))[0]).all()


def test_the_map_equals_scipys_and_recovers_a_hidden_rotation_in_the_papers_orientation():
    rng = numpy_rng("mapping", "scipy")
    target = SOURCE @ rng.normal(size=(20, 20)) + rng.normal(size=(500, 20))
    found = procrustes(SOURCE, target)
    np.testing.assert_allclose(found.T, scipy.linalg.orthogonal_procrustes(SOURCE, target)[0], atol=1e-10)
    turned = (ROTATION @ SOURCE.T).T  # W x for column vectors, the paper's orientation
    np.testing.assert_allclose(procrustes(SOURCE.astype(np.float32), turned.astype(np.float32)), ROTATION, atol=1e-6)
    np.testing.assert_allclose(apply_map(procrustes(SOURCE, turned), SOURCE), turned, atol=1e-10)


def test_alignment_makes_rotated_scaled_spaces_equal_on_held_out_vectors():
    turned = VECTORS @ np.kron(np.eye(2), ROTATION).T * 3
    mapped, target = map_pair(VECTORS[2000:], turned[2000:], VECTORS[:2000], turned[:2000])
    np.testing.assert_allclose(mapped, target, atol=1e-6)
    np.testing.assert_array_equal(target, normalise(turned[2000:], normalise(turned[:2000])[1])[0])
    with pytest.raises(XlingError, match="equal widths: source 2, target 5"):
        procrustes(np.ones((3, 2)), np.ones((3, 5)))


HALVES = [None, torch.bfloat16, torch.float16]


def vectors(name, rows, width):
    return unit_length(numpy_rng("csls", name).normal(size=(rows, width)).astype(np.float32))


def best(scores, k):
    """The k best of each row by full sorting; the lower index first among equals."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("rows", [(700, 700), (699, 1011)])
def test_csls_equals_the_direct_computation(rows):
    source, target = vectors("source", rows[0], 64), vectors("target", rows[1], 64)
    cosines = source.astype(np.float64) @ target.T.astype(np.float64)
    r_source = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    r_target = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)
    direct = 2 * cosines - r_target[:, None] - r_source
    found = csls_search(source, target, 10)
    np.testing.assert_array_equal(found.indices, best(direct, 10))
    scores = found.scores - mean_similarity(source, target)[:, None]
    np.testing.assert_allclose(scores, np.take_along_axis(direct, found.indices, 1), atol=2e-6)
    queries = np.array([250, 3, 3])
    np.testing.assert_array_equal(csls_search(source, target, 10, queries).indices, found.indices[queries])


@pytest.fixture(params=[1, 3])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.usefixtures("threads")
def test_many_blocks_and_a_ragged_last_one(half, monkeypatch):
    monkeypatch.setattr(engine, "BLOCKS", {"cpu": (7, 64)})
    x, y = vectors("x", 50, 24), vectors("y", 1003, 24)
    found = search(x, y, 4, half=half)
    np.testing.assert_array_equal(found.indices, best(x.astype(np.float64) @ y.T.astype(np.float64), 4))
    np.testing.assert_allclose(found.scores, np.take_along_axis(x @ y.T, found.indices, 1), atol=1e-6)


@pytest.mark.parametrize("half", HALVES)
def test_crowded_doubled_and_negative_candidates_are_settled_in_float32(half):
    """Candidates that differ by less than 16 bits can say, each three times over; and scores below zero."""
    centre = vectors("centre", 1, 32)
    x, y = centre.repeat(5, axis=0), np.tile(unit_length(centre + 1e-4 * vectors("crowd", 700, 32)), (3, 1))
    found = search(x, y, 6, half=half)
    scores = x.astype(np.float64) @ y.T.astype(np.float64)
    kept = np.take_along_axis(scores, found.indices, 1)
    np.testing.assert_allclose(kept, -np.sort(-scores, axis=1)[:, :6], atol=1e-6)
    np.testing.assert_array_equal(found.indices, search(x, y, 6).indices)
    x, y = np.abs(vectors("plus", 20, 6)), -np.abs(vectors("minus", 900, 6))
    np.testing.assert_array_equal(search(x, y, 3, half=half).indices, best(x.astype(np.float64) @ y.T, 3))


def test_shortlists_settle_nearly_every_query_of_ordinary_vectors(monkeypatch):
    again: list[int] = []
    plain = engine._search
    monkeypatch.setattr(engine, "_search", lambda x, y, k: again.append(len(x)) or plain(x, y, k))
    search(vectors("q", 100, 100), vectors("c", 1500, 100), 10, half=torch.bfloat16)
    assert sum(again) < 10


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 9), m=st.integers(1, 150), k=st.integers(1, 12),
    half=st.sampled_from(HALVES),
)  # fmt: skip
def test_ties_go_to_the_lower_index(seed, n, m, k, half):
    rng = numpy_rng("ties", seed)
    x, y = (rng.integers(-1, 2, size=(rows, 3)).astype(np.float32) for rows in (n, m))  # exact, and full of ties
    k = min(k, m)
    np.testing.assert_array_equal(search(x, y, k, half=half).indices, best(x @ y.T, k))
