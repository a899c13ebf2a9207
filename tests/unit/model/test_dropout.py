"""Dropout by place and key: as good as drawn, for the purpose."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from xling.model.config import Shape
from xling.model.layers import STEPS, draw_keys, dropout, scrambled

SHAPE = Shape(4, 8, 2, 16, "relu", 0.1, 0.1, "post", 1e-12, 32, True)
STATES = torch.ones(64, 32, 128)
KEYS = [torch.tensor(key, dtype=torch.int32) for key in (0, 1, -1, 123_456_789, -2_000_000_000)]


def test_values_are_spread_evenly_and_unrelated_to_their_neighbours_and_to_other_keys() -> None:
    columns = np.stack([scrambled(STATES, key).numpy().ravel() / STEPS for key in KEYS])
    error = 5 / np.sqrt(columns.shape[1])
    for column in columns:
        counts = np.bincount((column * 256).astype(int), minlength=256)
        expected = counts.sum() / 256
        assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, 255)
        assert len(np.unique(column)) > 0.9 * len(column)
    assert np.abs(np.corrcoef(columns) - np.eye(len(KEYS))).max() < error  # also of keys next to each other
    for distance in (1, 2, 32, 128, 128 * 32):  # neighbours in every direction
        assert abs(np.corrcoef(columns[3, :-distance], columns[3, distance:])[0, 1]) < error


@pytest.mark.parametrize("rate", [0.1, 0.33])
def test_a_share_is_dropped_and_the_mean_and_the_gradient_are_those_of_dropout(rate: float) -> None:
    states = STATES.clone().requires_grad_()
    dropped = dropout(states, rate, True, KEYS[3])
    share = (dropped == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=5 * (rate * (1 - rate) / STATES.numel()) ** 0.5)
    assert dropped.max().item() == pytest.approx(1 / (1 - rate), rel=1e-6)
    (gradient,) = torch.autograd.grad(dropped.sum(), states)
    assert torch.equal(gradient, dropped)  # of states that are one
    assert torch.equal(dropped, dropout(STATES, rate, True, KEYS[3]))
    assert torch.equal(STATES, dropout(STATES, rate, False, KEYS[3]))


def test_keys_come_from_the_seeded_generator_one_for_each_dropout() -> None:
    drawn = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        keys = draw_keys(SHAPE, torch.device("cpu"))
        assert keys is not None
        drawn.append(keys.tolist())
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 1 + 2 * SHAPE.layers
