"""Adam by its kernel alone is torch's Adam, step by step, and its state can be kept and put back."""

import numpy as np
import torch
from torch import nn

from xling.finetune.adam import Adam

RATES = ([1e-2, 3e-3], [5e-3, 0.0], [1e-3, 1e-2])


def parameters() -> list[nn.Parameter]:
    rng = np.random.default_rng(0)
    return [nn.Parameter(torch.tensor(rng.normal(size=size), dtype=torch.float32)) for size in ((7, 5), (11,), (3,))]


def set_gradients(given: list[nn.Parameter], step: int) -> None:
    rng = np.random.default_rng(100 + step)
    for parameter in given:
        parameter.grad = torch.tensor(rng.normal(size=tuple(parameter.shape)), dtype=torch.float32)


def test_steps_equal_those_of_torch() -> None:
    ours, theirs = parameters(), parameters()
    mine = Adam([ours[:2], ours[2:]], torch.device("cpu"))
    peer = torch.optim.Adam([{"params": theirs[:2]}, {"params": theirs[2:]}], lr=1.0)
    for step, rates in enumerate(RATES):
        set_gradients(ours, step)
        set_gradients(theirs, step)
        mine.set_rates(rates)
        for group, rate in zip(peer.param_groups, rates, strict=True):
            group["lr"] = rate
        mine.step()
        peer.step()
        for one, two in zip(ours, theirs, strict=True):
            torch.testing.assert_close(one, two, rtol=1e-6, atol=1e-7)
        assert all(parameter.grad is None for parameter in ours)


def test_a_group_without_parameters_has_nothing_to_step() -> None:
    given = parameters()
    before = [parameter.detach().clone() for parameter in given]
    optimiser = Adam([[], given], torch.device("cpu"))
    set_gradients(given, 0)
    optimiser.set_rates([1.0, 1e-2])
    optimiser.step()
    assert all(not torch.equal(old, new) for old, new in zip(before, given, strict=True))


def test_state_that_was_kept_goes_on_with_the_same_bits() -> None:
    whole, halves = parameters(), parameters()
    first, second = (Adam([given], torch.device("cpu")) for given in (whole, halves))
    for step in range(2):
        for optimiser, given in ((first, whole), (second, halves)):
            set_gradients(given, step)
            optimiser.set_rates([1e-2])
            optimiser.step()
    kept = {name: tensor.clone() for name, tensor in second.state().items()}
    third = Adam([halves], torch.device("cpu"))
    for name, tensor in third.state().items():
        tensor.copy_(kept[name])
    for optimiser, given in ((first, whole), (third, halves)):
        set_gradients(given, 2)
        optimiser.set_rates([1e-2])
        optimiser.step()
    assert all(torch.equal(one, two) for one, two in zip(whole, halves, strict=True))
