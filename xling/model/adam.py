"""Adam with decoupled weight decay, in place: torch's fused kernel, and a single pass that is compiled.

The single pass also writes a copy of the weights in another precision, which the fused kernel leaves to a second pass.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

SIZES_COMPILED = 64  # buffer sizes that a process may compile for; a benchmark has more than torch's default of 8


@torch.no_grad()
def fused_adam(
    weights: list[Tensor], grads: list[Tensor], moments: tuple[list[Tensor], list[Tensor]], steps: list[Tensor],
    betas: Sequence[float], found_inf: Tensor | None = None, weight_decay: float = 0.0, **options: Any,
) -> None:  # fmt: skip
    """Do one Adam step with torch's fused kernel, in place; if `found_inf` is 1, change nothing.

    `options` are passed to the kernel: `lr`, `eps`, and `grad_scale`, by which gradients are divided first. Learning
    rates and step counts are tensors, so a CUDA graph can replay a step. The classes around the kernel,
    torch.optim.Adam and AdamW, import torch's compiler, and that takes longer than training a small model.
    """
    options |= {"beta1": betas[0], "beta2": betas[1], "weight_decay": weight_decay, "found_inf": found_inf}
    torch._foreach_add_(steps, 1.0)
    torch._fused_adamw_(weights, grads, *moments, [], steps, amsgrad=False, maximize=False, **options)
    if found_inf is not None:
        torch._foreach_sub_(steps, [found_inf] * len(steps))


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function compiled for each size of its tensors."""
    import torch._dynamo  # imported late: takes seconds, too long for a small model on a CPU

    torch._dynamo.config.recompile_limit = max(SIZES_COMPILED, torch._dynamo.config.recompile_limit)
    return torch.compile(function, dynamic=False, fullgraph=True)


def tick(step: Tensor, betas: Tensor) -> Tensor:
    """Increment the step count in place and return Adam's two bias corrections."""
    step.add_(1.0)
    return (1 - betas ** step.double()).float()


def move(
    buffers: tuple[Tensor, Tensor, Tensor, Tensor, Tensor],
    numbers: tuple[Tensor, Tensor, Tensor],
    constants: tuple[float, float, float, float],
) -> None:
    """Do one AdamW step in place and write a copy of the weights in the working precision.

    The gradients may be in either precision.
    """
    weights, grads, exp_avg, exp_avg_sq, working = buffers
    rate, divisor, corrections = numbers
    beta1, beta2, weight_decay, eps = constants
    grads = grads.float() / divisor
    mean = torch.lerp(exp_avg, grads, 1 - beta1)
    square = exp_avg_sq * beta2 + grads * grads * (1 - beta2)
    root = (square / corrections[1]).sqrt() + eps
    moved = weights * (1 - rate * weight_decay) - rate / corrections[0] * mean / root
    for buffer, value in ((weights, moved), (exp_avg, mean), (exp_avg_sq, square), (working, moved)):
        buffer.copy_(value)
