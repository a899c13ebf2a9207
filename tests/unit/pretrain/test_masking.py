"""Which tokens are predicted: the paper's rates, held to within a few standard errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_runs import changed

from xling.bpe.streams import END
from xling.core.seeds import numpy_rng
from xling.pretrain.config import Run, read_run
from xling.pretrain.masking import MASK, SPECIAL, capacity, mask_fixed, mask_tokens, random_words

SIZE = 1000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("run") / "run.json"
    path.write_text(json.dumps(changed()))
    return read_run(path)


def within(count: int, of: int, share: float) -> bool:
    """Say whether a count is within four standard errors of its share."""
    return abs(count - of * share) < 4 * np.sqrt(of * share * (1 - share))


def test_fifteen_per_cent_and_eighty_ten_ten(run: Run) -> None:
    rng = numpy_rng("masking statistics")
    tokens = rng.integers(SPECIAL, SIZE, (400, 256))
    words = np.arange(SPECIAL, SIZE)
    masked = mask_tokens(tokens, rng, run.pretrain, words)
    candidates = 400 * 255
    assert within(len(masked.picks), candidates, 0.15)
    seen, real = masked.inputs.ravel()[masked.picks], tokens.ravel()[masked.picks]
    assert np.array_equal(real, masked.targets)
    n = len(seen)
    assert within(int((seen == MASK).sum()), n, 0.8)
    assert within(int((seen == real).sum()), n, 0.1 + 0.1 / len(words))
    assert within(int(((seen != MASK) & (seen != real)).sum()), n, 0.1)
    untouched = np.ones(tokens.size, dtype=bool)
    untouched[masked.picks] = False
    assert np.array_equal(masked.inputs.ravel()[untouched], tokens.ravel()[untouched])


def test_picks_are_spread_evenly_over_positions(run: Run) -> None:
    rng = numpy_rng("masking positions")
    masked = mask_tokens(rng.integers(SPECIAL, SIZE, (4000, 16)), rng, run.pretrain, np.arange(SPECIAL, SIZE))
    by_position = np.bincount(masked.picks % 16, minlength=16)
    assert by_position[0] == 0
    assert all(within(int(count), 4000, 0.15) for count in by_position[1:])


def test_random_words_are_uniform_over_what_is_allowed(run: Run) -> None:
    rng = numpy_rng("masking words")
    allowed = np.array([10, 20, 30, 40])
    tokens = np.full((2000, 64), 500)
    seen = mask_tokens(tokens, rng, run.pretrain, allowed).inputs
    replaced = seen[(seen != 500) & (seen != MASK)]
    values, counts = np.unique(replaced, return_counts=True)
    assert values.tolist() == allowed.tolist()
    assert all(within(int(count), len(replaced), 0.25) for count in counts)


@given(st.integers(1, 6), st.integers(2, 9), st.integers(0, 10**6))
def test_the_first_position_is_never_predicted(rows: int, length: int, seed: int) -> None:
    settings = json.loads(json.dumps(changed()["pretrain"]))
    tokens = numpy_rng(seed).integers(SPECIAL, SIZE, (rows, length))
    masked = mask_tokens(tokens, numpy_rng("m", seed), _pretrain(settings), np.arange(SPECIAL, SIZE))
    assert len(masked.picks) >= 1  # a mean over no predictions would be NaN
    assert (masked.picks % length > 0).all()
    assert np.array_equal(masked.inputs[:, 0], tokens[:, 0])


def _pretrain(values: dict[str, Any]) -> Any:
    from xling.core.records import read_record
    from xling.pretrain.config import Pretrain

    return read_record(Pretrain, values, Path("run.json"))


def test_validation_always_shows_the_mask() -> None:
    tokens = numpy_rng(3).integers(SPECIAL, SIZE, (50, 40))
    first, second = (mask_fixed(tokens, numpy_rng("validation", "en"), 0.15) for _ in range(2))
    assert (first.inputs.ravel()[first.picks] == MASK).all()
    assert np.array_equal(first.picks, second.picks)
    assert (first.picks % 40 > 0).all()


@pytest.mark.parametrize(("tokens", "rate"), [(24576, 0.15), (8192, 0.15), (512, 0.3), (4, 0.15)])
def test_there_is_room_for_six_standard_deviations(tokens: int, rate: float) -> None:
    most = tokens * rate + 6 * np.sqrt(tokens * rate * (1 - rate))
    assert min(most, tokens) <= capacity(tokens, rate) <= min(most + 16, tokens)


def test_a_language_of_its_own_softmax_draws_from_its_own_words(tmp_path: Path) -> None:
    seen = np.zeros(20, dtype=bool)
    seen[[2, 5, 7]] = True
    cases = {
        ("by-softmax", False): range(4, 20),
        ("any", False): range(4, 20),
        ("language", False): [5, 7],
        ("by-softmax", True): range(4, 20),  # ids are the language's own there
    }
    for (scope, separate), expected in cases.items():
        softmax = "per-language" if separate else "shared"
        path = tmp_path / "run.json"
        values = changed(pretrain__random_words=scope, softmax=softmax, separate={"embeddings": separate, "layers": 0})
        path.write_text(json.dumps(values))
        assert random_words(read_run(path), 20, seen).tolist() == list(expected)


@pytest.mark.parametrize("ends_stay", [False, True])
def test_ends_of_sentences_stay_where_positions_depend_on_them(run: Run, ends_stay: bool) -> None:
    rng = numpy_rng("ends")
    tokens = rng.integers(SPECIAL, SIZE, (400, 64))
    tokens[:, ::8] = END
    words = np.arange(SPECIAL, SIZE)
    for masked in (
        mask_tokens(tokens, rng, run.pretrain, words, ends_stay),
        mask_fixed(tokens, rng, 0.15, ends_stay),
    ):
        inside = int((masked.targets == END).sum())
        assert (inside == 0) if ends_stay else within(inside, 400 * 7, 0.15)
        assert within(len(masked.picks) - inside, 400 * 56, 0.15)
