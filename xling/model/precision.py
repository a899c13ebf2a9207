"""In how many bits a card computes: one rule for pretraining, fine-tuning and every pass over text."""

import torch


def half_type() -> torch.dtype:
    """Return the 16-bit type of this machine's card: bf16, or fp16 where it has none that is fast (a V100)."""
    return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16


def autocast_type(device: torch.device, training: bool) -> torch.dtype | None:
    """Return the type that products are computed in, or None for float32.

    Gradients in fp16 vanish without a loss scale, which only pretraining has: elsewhere they are float32's.
    """
    if device.type != "cuda":
        return None
    half = half_type()
    return None if training and half == torch.float16 else half


def autocast(device: torch.device, training: bool = False) -> torch.autocast:
    """Return the context that a model runs in on a device."""
    chosen = autocast_type(device, training)
    return torch.autocast("cuda", chosen, enabled=chosen is not None)
