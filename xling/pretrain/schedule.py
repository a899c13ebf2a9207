"""The learning rate of every update."""

import math

from xling.pretrain.config import Pretrain


def learning_rate(update: int, settings: Pretrain) -> float:
    """Return the rate of an update (counted from 0): linear warm-up, then inverse square root or linear decay."""
    peak, warmup = settings.lr, settings.warmup
    if update < warmup:
        return settings.warmup_from + (peak - settings.warmup_from) * update / warmup
    if settings.schedule == "inverse-sqrt":
        return peak * math.sqrt(max(warmup, 1) / max(update, 1))
    done = (update - warmup) / max(settings.updates - warmup, 1)
    return peak * (1 - (1 - settings.final_lr_share) * min(done, 1.0))
