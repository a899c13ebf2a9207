"""One Adam step with torch's fused kernel, called directly.

The classes around the kernel, torch.optim.Adam and AdamW, import torch's compiler, and that takes longer than training
a small model. Learning rates and step counts are tensors, so a CUDA graph can replay a step.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def fused_adam(
    weights: list[Tensor], grads: list[Tensor], moments: tuple[list[Tensor], list[Tensor]], steps: list[Tensor],
    betas: Sequence[float], found_inf: Tensor | None = None, weight_decay: float = 0.0, **options: Any,
) -> None:  # fmt: skip
    """Update weights in place from their gradients; if `found_inf` is 1, change nothing.

    `options` are passed to the kernel: `lr`, `eps`, and `grad_scale`, by which gradients are divided first.
    """
    options |= {"beta1": betas[0], "beta2": betas[1], "weight_decay": weight_decay, "found_inf": found_inf}
    torch._foreach_add_(steps, 1.0)
    torch._fused_adamw_(weights, grads, *moments, [], steps, amsgrad=False, maximize=False, **options)
    if found_inf is not None:
        torch._foreach_sub_(steps, [found_inf] * len(steps))
