"""Which tokens are predicted: the paper's rates, held to within a few standard errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_runs import read

from xling.bpe.streams import END
from xling.core.seeds import numpy_rng
from xling.pretrain.config import Run
from xling.pretrain.masking import MASK, SPECIAL, capacity, mask_fixed, mask_tokens

SIZE = 1000
WORDS = np.arange(SPECIAL, SIZE)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read(tmp_path_factory.mktemp("run"))


def within(count: int, of: int, share: float) -> bool:
    """Say whether a count is within four standard errors of its share."""
    return abs(count - of * share) < 4 * np.sqrt(of * share * (1 - share))


def test_fifteen_per_cent_of_every_position_and_eighty_ten_ten(run: Run) -> None:
    rng = numpy_rng("masking statistics")
    tokens = rng.integers(SPECIAL, SIZE, (4000, 32))
    masked = mask_tokens(tokens, rng, run.pretrain, WORDS)
    by_position = np.bincount(masked.picks % 32, minlength=32)
    assert by_position[0] == 0
    assert all(within(int(count), 4000, 0.15) for count in by_position[1:])
    assert within(len(masked.picks), 4000 * 31, 0.15)
    seen, real, n = masked.inputs.ravel()[masked.picks], tokens.ravel()[masked.picks], len(masked.picks)
    assert np.array_equal(real, masked.targets)
    assert within(int((seen == MASK).sum()), n, 0.8)
    assert within(int((seen == real).sum()), n, 0.1 + 0.1 / len(WORDS))
    replaced = seen[(seen != MASK) & (seen != real)]
    assert within(len(replaced), n, 0.1)
    assert set(replaced) <= set(WORDS)
    assert within(int((replaced < np.median(WORDS)).sum()), len(replaced), 0.5)  # uniform over the allowed words
    untouched = np.ones(tokens.size, dtype=bool)
    untouched[masked.picks] = False
    assert np.array_equal(masked.inputs.ravel()[untouched], tokens.ravel()[untouched])


@given(rows=st.integers(1, 6), length=st.integers(2, 9), seed=st.integers(0, 10**6))
def test_something_is_predicted_but_never_the_first_position(run: Run, rows: int, length: int, seed: int) -> None:
    tokens = numpy_rng(seed).integers(SPECIAL, SIZE, (rows, length))
    masked = mask_tokens(tokens, numpy_rng("m", seed), run.pretrain, WORDS)
    assert len(masked.picks) >= 1  # a mean over no predictions would be NaN
    assert (masked.picks % length > 0).all()
    assert np.array_equal(masked.inputs[:, 0], tokens[:, 0])


@pytest.mark.parametrize(("tokens", "rate"), [(24576, 0.15), (8192, 0.15), (512, 0.3), (4, 0.15)])
def test_there_is_room_for_six_standard_deviations(tokens: int, rate: float) -> None:
    most = tokens * rate + 6 * np.sqrt(tokens * rate * (1 - rate))
    assert min(most, tokens) <= capacity(tokens, rate) <= min(most + 16, tokens)


@pytest.mark.parametrize("ends_stay", [False, True])
def test_ends_of_sentences_stay_where_positions_depend_on_them(run: Run, ends_stay: bool) -> None:
    rng = numpy_rng("ends")
    tokens = rng.integers(SPECIAL, SIZE, (400, 64))
    tokens[:, ::8] = END
    fixed = mask_fixed(tokens, rng, 0.15, ends_stay)
    assert (fixed.inputs.ravel()[fixed.picks] == MASK).all()  # validation always shows the mask
    for masked in (mask_tokens(tokens, rng, run.pretrain, WORDS, ends_stay), fixed):
        assert (masked.picks % 64 > 0).all()
        inside = int((masked.targets == END).sum())
        assert (inside == 0) if ends_stay else within(inside, 400 * 7, 0.15)
        assert within(len(masked.picks) - inside, 400 * 56, 0.15)
