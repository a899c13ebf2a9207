"""The learning rate, and AdamW over one flat buffer per owner (`shared`, or a language with separate parameters).

A language that is absent from an update is not stepped: its weights, moments and step count do not change (a step with
zero gradients would change all three). With flat buffers, clipping, the update and the exchange between processes take
one operation per owner, for any number of parameters.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from xling.model.adam import compiled, fused_adam, move, tick
from xling.model.encoder import Encoder, owner_of
from xling.model.layers import EmbeddingWeights, LayerWeights, Path, rounded
from xling.pretrain.config import Pretrain

ALIGNED = 64  # every parameter starts at a multiple of this many elements, for vector instructions
FIRST_SCALE, GROWTH, BACKOFF, GROWTH_INTERVAL = 65536.0, 2.0, 0.5, 2000  # loss scale of fp16, as in torch.amp

Trained = tuple[Tensor, Tensor, str]  # a trained tensor, the buffer of its gradient, its owner


def learning_rate(update: int, settings: Pretrain) -> float:
    """Return the learning rate of an update (counted from 0): linear warm-up, then inverse-sqrt or linear decay."""
    peak, warmup = settings.lr, settings.warmup
    if update < warmup:
        return settings.warmup_from + (peak - settings.warmup_from) * update / warmup
    if settings.schedule == "inverse-sqrt":
        return peak * math.sqrt(max(warmup, 1) / max(update, 1))
    start = max(warmup, settings.decay_from * settings.updates)
    done = (update - start) / max(settings.updates - start, 1)
    return peak * (1 - (1 - settings.final_lr_share) * min(max(done, 0.0), 1.0))


@dataclass
class Owned:
    """The flat buffers of one owner: weights, gradients, Adam's state, and a copy in the working precision."""

    weights: Tensor
    grads: Tensor
    exp_avg: Tensor
    exp_avg_sq: Tensor
    step: Tensor
    working: Tensor
    places: dict[str, tuple[int, torch.Size]]

    def view(self, buffer: Tensor, name: str) -> Tensor:
        """Return the view of a parameter in one of the buffers."""
        start, size = self.places[name]
        return buffer[start : start + size.numel()].view(size)


class Optimiser:
    """Holds the memory of an encoder's parameters and steps the owners present in an update."""

    def __init__(
        self, encoder: Encoder, settings: Pretrain, device: torch.device, dtype: torch.dtype, compiled: bool = False
    ) -> None:
        self.settings = settings
        self.compiled = compiled and dtype == torch.bfloat16
        self.betas = torch.tensor(settings.betas, dtype=torch.float64, device=device)
        owners = dict.fromkeys(owner_of(name) for name, _ in encoder.named_parameters())  # in order of appearance
        self.owned = {owner: _flatten(encoder, owner, device, dtype) for owner in owners}
        self.rate = torch.zeros((), device=device)
        self.scale: Tensor | None = None
        if dtype == torch.float16:
            self.scale = torch.tensor(FIRST_SCALE, device=device)
            self.growth = torch.tensor(0, dtype=torch.int32, device=device)
        self.refresh(self.owned.values())

    def step(self, present: Iterable[str]) -> Tensor:
        """Clip the gradients of the given owners by their global norm, update the weights, and return the norm.

        The fused update divides the gradients by the clipping factor, which saves a pass over them.
        """
        parts = [self.owned[owner] for owner in present]
        if self.compiled:
            return self._compiled_step(parts)
        norm: Tensor = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(part.grads) for part in parts]))
        found_inf, settings = None, self.settings
        if self.scale is not None:
            norm = norm / self.scale
            found_inf = (~torch.isfinite(norm)).float()
        divisor = torch.clamp(norm / settings.clip, min=1.0)
        weights, grads, mean, square, steps = (
            [getattr(part, name) for part in parts] for name in ("weights", "grads", "exp_avg", "exp_avg_sq", "step")
        )
        scale = divisor if self.scale is None else divisor * self.scale
        how = {"lr": self.rate, "eps": settings.eps, "grad_scale": scale}
        fused_adam(weights, grads, (mean, square), steps, settings.betas, found_inf, settings.weight_decay, **how)
        if self.scale is not None and found_inf is not None:
            torch._amp_update_scale_(self.scale, self.growth, found_inf, GROWTH, BACKOFF, GROWTH_INTERVAL)
        self.refresh(parts)
        return norm

    def refresh(self, parts: Iterable[Owned]) -> None:
        """Copy the weights into the buffers of the working precision."""
        for part in parts:
            if part.working is not part.weights:
                part.working.copy_(part.weights)

    def state(self) -> dict[str, Tensor]:
        """Return copies of the moments, step counts and loss scale on the CPU."""
        return {name: value.cpu().clone() for name, value in self._state().items()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore a state returned by `state`."""
        for name, value in self._state().items():
            if name in state or name not in ("scale", "growth"):  # a bf16 run has no scale: keep the first
                value.copy_(state[name])
        self.refresh(self.owned.values())

    def _state(self) -> dict[str, Tensor]:
        kinds = ("exp_avg", "exp_avg_sq", "step")
        found = {f"{owner}.{kind}": getattr(part, kind) for owner, part in self.owned.items() for kind in kinds}
        return found if self.scale is None else {**found, "scale": self.scale, "growth": self.growth}

    def _compiled_step(self, parts: list[Owned]) -> Tensor:
        """Do the same in one pass over the weights, which also writes their copy, and a few small kernels."""
        settings = self.settings
        norm, divisor = compiled(measure)([part.grads for part in parts], settings.clip)
        for part in parts:
            corrections = compiled(tick)(part.step, self.betas)
            compiled(move)(
                (part.weights, part.grads, part.exp_avg, part.exp_avg_sq, part.working),
                (self.rate, divisor, corrections),
                (*settings.betas, settings.weight_decay, settings.eps),
            )
        return norm  # type: ignore[no-any-return]


def measure(grads: list[Tensor], clip: float) -> tuple[Tensor, Tensor]:
    """Return the global norm of the gradients and the divisor that clips them."""
    norm = torch.stack([(part * part).sum() for part in grads]).sum().sqrt()
    return norm, torch.clamp(norm / clip, min=1.0)


def working_path(
    encoder: Encoder, optimiser: Optimiser, language: int, known: dict[str, Trained]
) -> tuple[Path, dict[str, Trained]]:
    """Return the path of a language in the working precision, and its trained tensors by name.

    Embeddings stay in float32 up to their sum; the softmax uses the token table in the working precision. The caller
    looks up the token vectors, so the token table is among the trained tensors only as the softmax weight. `known` has
    the trained tensors of all languages so far: a shared parameter is the same tensor in all paths.
    """
    names = {id(parameter): name for name, parameter in encoder.named_parameters()}
    master = encoder.path(language)
    trained: dict[str, Trained] = {}

    def train(tensor: Tensor, working: bool = True) -> Tensor:
        name = names[id(tensor)]
        if name not in known:
            part = optimiser.owned[owner_of(name)]
            leaf = part.view(part.working, name).detach().requires_grad_() if working else tensor
            known[name] = leaf, part.view(part.grads, name), owner_of(name)
        trained[name] = known[name]
        return known[name][0]

    token, *others = master.embeddings
    embeddings = EmbeddingWeights(token, *(None if part is None else train(part, working=False) for part in others))  # type: ignore[arg-type]
    layers = tuple(LayerWeights(*map(train, weights)) for weights in master.layers)
    return Path(embeddings, layers, train(master.softmax_weight), train(master.softmax_bias), master.size), trained


def _flatten(encoder: Encoder, owner: str, device: torch.device, dtype: torch.dtype) -> Owned:
    parameters = {name: p for name, p in encoder.named_parameters() if owner_of(name) == owner}
    places, end = {}, 0
    for name, parameter in parameters.items():
        places[name] = (end, parameter.shape)
        end += rounded(parameter.numel(), ALIGNED)
    weights = torch.zeros(end, device=device)
    working = weights if dtype == torch.float32 else torch.zeros(end, device=device, dtype=dtype)
    grads, exp_avg, exp_avg_sq = (torch.zeros_like(weights) for _ in range(3))
    owned = Owned(weights, grads, exp_avg, exp_avg_sq, torch.zeros((), device=device), working, places)
    for name, parameter in parameters.items():
        place = owned.view(weights, name)
        place.copy_(parameter.detach())
        parameter.data = place
    return owned
