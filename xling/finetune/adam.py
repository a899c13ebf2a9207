"""Adam without weight decay (section 3.2 of the paper), by the fused kernel alone.

The class around the kernel, torch.optim.Adam, imports torch's compiler, which takes longer than fine-tuning a small
model for an epoch. Rates and step counts are tensors, so that a GPU can replay a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.999), 1e-8
STATE = ("steps", "means", "squares")


@dataclass
class Group:
    """Parameters with one learning rate, and Adam's state of each."""

    parameters: list[Tensor]
    rate: Tensor
    steps: list[Tensor]
    means: list[Tensor]
    squares: list[Tensor]


class Adam:
    """Steps some groups of parameters, each with a learning rate of its own."""

    def __init__(self, groups: Sequence[Sequence[nn.Parameter]], device: torch.device) -> None:
        self.groups = [_group([*group], device) for group in groups]

    def set_rates(self, rates: Sequence[float]) -> None:
        """Set the learning rate of each group."""
        for group, rate in zip(self.groups, rates, strict=True):
            group.rate.fill_(rate)

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters by their gradients, and let go of those."""
        for group in self.groups:
            if group.parameters:
                _move(group)

    def state(self) -> dict[str, Tensor]:
        """Return the tensors of the state themselves, by name."""
        return {
            f"{i}.{j}:{name}": tensor
            for i, group in enumerate(self.groups)
            for name in STATE
            for j, tensor in enumerate(getattr(group, name))
        }


def _group(parameters: list[Tensor], device: torch.device) -> Group:
    steps = [torch.zeros((), device=device) for _ in parameters]
    means, squares = ([torch.zeros_like(p, requires_grad=False) for p in parameters] for _ in range(2))
    return Group(parameters, torch.zeros((), device=device), steps, means, squares)


def _move(group: Group) -> None:
    torch._foreach_add_(group.steps, 1.0)
    torch._fused_adam_(
        group.parameters,
        [_gradient(parameter) for parameter in group.parameters],
        group.means,
        group.squares,
        [],
        group.steps,
        lr=group.rate,
        beta1=BETAS[0],
        beta2=BETAS[1],
        weight_decay=0.0,
        eps=EPSILON,
        amsgrad=False,
        maximize=False,
    )
    for parameter in group.parameters:
        parameter.grad = None


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None  # noqa: S101 (set before every step)
    return parameter.grad
