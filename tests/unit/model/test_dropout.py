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


def uniform(key: torch.Tensor) -> np.ndarray:
    return scrambled(STATES, key).numpy().ravel() / STEPS


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_values_are_spread_evenly(key: torch.Tensor) -> None:
    counts = np.bincount((uniform(key) * 256).astype(int), minlength=256)
    expected = counts.sum() / 256
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, 255)


@pytest.mark.parametrize("distance", [1, 2, 32, 128, 128 * 32])
def test_neighbours_in_every_direction_are_unrelated(distance: int) -> None:
    values = uniform(KEYS[3])
    found = np.corrcoef(values[:-distance], values[distance:])[0, 1]
    assert abs(found) < 5 / np.sqrt(len(values))


def test_keys_are_unrelated_even_when_they_are_next_to_each_other() -> None:
    columns = np.stack([uniform(key) for key in KEYS])
    found = np.corrcoef(columns) - np.eye(len(KEYS))
    assert np.abs(found).max() < 5 / np.sqrt(columns.shape[1])
    assert all(len(np.unique(column)) > 0.9 * len(column) for column in columns)


@pytest.mark.parametrize("rate", [0.1, 0.33])
def test_a_share_is_dropped_and_the_mean_stays(rate: float) -> None:
    dropped = dropout(STATES, rate, True, KEYS[3])
    share = (dropped == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=5 * (rate * (1 - rate) / STATES.numel()) ** 0.5)
    assert dropped.max().item() == pytest.approx(1 / (1 - rate), rel=1e-6)
    assert torch.equal(dropped, dropout(STATES, rate, True, KEYS[3]))
    assert torch.equal(STATES, dropout(STATES, rate, False, KEYS[3]))


def test_keys_come_from_the_seeded_generator_one_for_each_dropout() -> None:
    torch.manual_seed(5)
    first = draw_keys(SHAPE, torch.device("cpu"))
    torch.manual_seed(5)
    again = draw_keys(SHAPE, torch.device("cpu"))
    assert first is not None
    assert again is not None
    assert torch.equal(first, again)
    assert len(set(first.tolist())) == 1 + 2 * SHAPE.layers


def test_it_has_the_gradient_of_dropout() -> None:
    states = torch.randn(5, 8, requires_grad=True)
    found = dropout(states, 0.3, True, KEYS[3])
    found.sum().backward()
    assert states.grad is not None
    assert torch.equal(states.grad == 0, found == 0)
    torch.testing.assert_close(states.grad[found != 0], torch.full_like(found[found != 0], 1 / 0.7), atol=1e-4, rtol=0)
