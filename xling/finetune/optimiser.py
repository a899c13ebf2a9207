"""Adam without weight decay (section 3.2 of the paper) over small tensors that are laid end to end.

On small models most of an optimiser's time goes into looking after a hundred little tensors. Large ones stand alone:
copying their gradients together would cost more than it saves.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from xling.model.adam import fused_adam

BETAS, EPSILON = (0.9, 0.999), 1e-8
LARGE = 1 << 20  # elements


class Group:
    """Parameters with one learning rate, and Adam's state of them; `masters` share the memory of all parameters."""

    def __init__(self, parameters: Sequence[nn.Parameter], device: torch.device) -> None:
        small = [parameter for parameter in parameters if parameter.numel() < LARGE]
        self.parts = [[parameter] for parameter in parameters if parameter.numel() >= LARGE]
        self.masters: list[Tensor] = [part[0] for part in self.parts]
        if small:
            self.parts.append(small)
            self.masters.append(_joined(small))
        self.parameters = [parameter for part in self.parts for parameter in part]  # in the order of their gradients
        self.rate = torch.zeros((), device=device)
        self.steps = [torch.zeros((), device=device) for _ in self.masters]
        self.means, self.squares = ([torch.zeros_like(m, requires_grad=False) for m in self.masters] for _ in range(2))

    def step(self, grads: Sequence[Tensor]) -> None:
        """Move the parameters by their gradients."""
        rest, joined = iter(grads), []
        for master, part in zip(self.masters, self.parts, strict=True):
            own = [next(rest) for _ in part]
            joined.append(own[0] if master is part[0] else torch.cat([grad.reshape(-1) for grad in own]))
        if joined:
            fused_adam(self.masters, joined, (self.means, self.squares), self.steps, self.rate, BETAS, EPSILON)

    def state(self) -> dict[str, Tensor]:
        """Return the tensors of the state themselves, by name."""
        kinds = {"steps": self.steps, "means": self.means, "squares": self.squares}
        return {f"{i}:{name}": tensor for name, tensors in kinds.items() for i, tensor in enumerate(tensors)}


def _joined(parameters: Sequence[nn.Parameter]) -> Tensor:
    """Move parameters into one piece of memory and return it."""
    with torch.no_grad():
        memory = torch.cat([parameter.reshape(-1) for parameter in parameters])
        places = torch.split(memory, [parameter.numel() for parameter in parameters])
        for parameter, place in zip(parameters, places, strict=True):
            parameter.data = place.view(parameter.shape)
    return memory
