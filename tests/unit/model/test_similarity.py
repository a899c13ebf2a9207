"""Linear CKA: invariances, an independent kernel form, and streaming that changes nothing."""

import numpy as np
import pytest

from xling.core.errors import XlingError
from xling.core.seeds import numpy_rng
from xling.model.similarity import CkaStream, cka_matrix, linear_cka

RNG = numpy_rng("cka")  # of these alone: a test's numbers must not depend on those that ran before it
STATES = RNG.normal(size=(200, 16))
OTHER = RNG.normal(size=(200, 24)) + STATES @ RNG.normal(size=(16, 24))


def random_rotation(size):
    return np.linalg.qr(numpy_rng("cka", "rotation").normal(size=(size, size)))[0]


def hsic_cka(x, y):
    """The kernel form of the same index, written from its definition."""
    centre = np.eye(len(x)) - 1 / len(x)
    k, m = centre @ x @ x.T @ centre, centre @ y @ y.T @ centre
    return float((k * m).sum() / np.sqrt((k * k).sum() * (m * m).sum()))


def stream(left, right, block):
    result = CkaStream(len(left), len(right))
    for start in range(0, len(left[0]), block):
        result.add(*([x[start : start + block] for x in side] for side in (left, right)))
    return result.matrix()


def test_equals_the_kernel_form_and_is_invariant_to_rotation_scale_and_shift_alone():
    before = linear_cka(STATES, OTHER)
    assert before == pytest.approx(hsic_cka(STATES, OTHER), abs=1e-10)
    for scale in (0.01, 1.0, 300.0):
        assert linear_cka(STATES, scale * STATES @ random_rotation(16) + 5.0) == pytest.approx(1.0, abs=1e-9)
    assert linear_cka(0.1 * STATES @ random_rotation(16), OTHER) == pytest.approx(before, abs=1e-10)
    assert linear_cka(STATES, 70 * OTHER @ random_rotation(24) - 3) == pytest.approx(before, abs=1e-10)
    assert linear_cka(OTHER, STATES) == pytest.approx(before, abs=1e-12)
    assert linear_cka(STATES, STATES @ np.diag(np.linspace(0.01, 10, 16))) < 0.9
    noise = numpy_rng("cka", "noise").normal(size=STATES.shape)
    scores = [linear_cka(STATES, STATES + level * noise) for level in (0, 0.3, 1, 3, 30)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < 0.2


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_low_precision_states_far_from_zero(dtype):
    """Means a hundred times the spread, and a first block that is not typical, as in real encoders."""
    rng = numpy_rng("cka", "means")
    x, y = (states + 100 * rng.normal(size=states.shape[1]) for states in (STATES, OTHER))
    x[:20] += 3
    x, y = x.astype(dtype), y.astype(dtype)
    exact = hsic_cka(x.astype(np.float64), y.astype(np.float64))
    assert stream([x], [y], 20)[0][0] == pytest.approx(exact, abs=1e-7)


def test_every_pair_of_layers_in_blocks_of_any_size():
    left, right = [STATES, OTHER, STATES**3], [OTHER, STATES]
    expected = [[hsic_cka(x, y) for y in right] for x in left]
    for matrix in (cka_matrix(left, right), *(stream(left, right, block) for block in (1, 7, 64, 200))):
        np.testing.assert_allclose(matrix, expected, atol=1e-10)


def test_what_cannot_be_compared():
    long = np.tile(STATES, (6, 1))  # the lengths differ after a whole block
    for left, right, sizes in ((STATES, STATES[:3], "3, 200"), (long[:1024], long, "0, 176")):
        with pytest.raises(XlingError, match=rf"these layers have \[{sizes}\]"):
            linear_cka(left, right)
    with pytest.raises(XlingError, match="CKA is undefined: all vectors of layer 0 or 0 are the same"):
        linear_cka(STATES, np.ones((200, 2)))
