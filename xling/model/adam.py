"""One step of Adam by torch's fused kernel alone.

The classes around the kernel, torch.optim.Adam and AdamW, import torch's compiler, which takes longer than training a
small model. Rates and step counts are tensors, so that a GPU can replay a step.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


@torch.no_grad()
def fused_adam(
    weights: list[Tensor],
    grads: list[Tensor],
    moments: tuple[list[Tensor], list[Tensor]],
    steps: list[Tensor],
    rate: Tensor,
    betas: Sequence[float],
    eps: float,
    weight_decay: float = 0.0,
    divisor: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """Move weights by their gradients, which are divided by `divisor` first; where `found_inf` is 1, nothing moves."""
    torch._foreach_add_(steps, 1.0)
    torch._fused_adamw_(
        weights,
        grads,
        moments[0],
        moments[1],
        [],
        steps,
        lr=rate,
        beta1=betas[0],
        beta2=betas[1],
        weight_decay=weight_decay,
        eps=eps,
        amsgrad=False,
        maximize=False,
        grad_scale=divisor,
        found_inf=found_inf,
    )
    if found_inf is not None:
        torch._foreach_sub_(steps, [found_inf] * len(steps))
