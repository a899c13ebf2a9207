"""Small tensors laid end to end, so that the optimiser has few of them to step.

On small models most of an optimiser's time goes into looking after a hundred little tensors. Large ones stand alone:
copying their gradients together would cost more than it saves.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

LARGE = 1 << 20  # elements


class Flat:
    """Parameters as the optimiser sees them: `masters` share the memory of all parameters."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        small = [parameter for parameter in parameters if parameter.numel() < LARGE]
        self.groups = [[parameter] for parameter in parameters if parameter.numel() >= LARGE]
        self.masters = [group[0] for group in self.groups]
        if small:
            self.groups.append(small)
            self.masters.append(_joined(small))

    @property
    def parameters(self) -> list[nn.Parameter]:
        """Return the parameters in the order in which `take` expects their gradients."""
        return [parameter for group in self.groups for parameter in group]

    def take(self, grads: Sequence[Tensor]) -> None:
        """Hand the gradients of all parameters to the masters."""
        start = 0
        for master, group in zip(self.masters, self.groups, strict=True):
            own = grads[start : start + len(group)]
            start += len(group)
            master.grad = own[0] if master is group[0] else torch.cat([grad.reshape(-1) for grad in own])


def _joined(parameters: Sequence[nn.Parameter]) -> nn.Parameter:
    """Move parameters into one piece of memory and return it."""
    with torch.no_grad():
        memory = torch.cat([parameter.reshape(-1) for parameter in parameters])
        places = torch.split(memory, [parameter.numel() for parameter in parameters])
        for parameter, place in zip(parameters, places, strict=True):
            parameter.data = place.view(parameter.shape)
    return nn.Parameter(memory)
