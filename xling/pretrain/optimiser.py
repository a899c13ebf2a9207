"""AdamW over one flat buffer per owner: the shared parameters, and those of each language.

A language that is absent from an update is not stepped at all: its weights do not decay, its moments do not move and
its step count stands still (zero gradients would do all three). Flat buffers make clipping, the update and the
exchange between processes one operation an owner, however many parameters there are.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from xling.model.encoder import Encoder, owner_of
from xling.model.layers import EmbeddingWeights, LayerWeights, Path
from xling.pretrain.config import Pretrain

ALIGNED = 64  # elements: every parameter starts where vector instructions like it
FIRST_SCALE, GROWTH, BACKOFF, GROWTH_INTERVAL = 65536.0, 2.0, 0.5, 2000  # of fp16's loss, as in torch.amp

Trained = tuple[Tensor, Tensor, str]  # what is trained, the place of its gradient, its owner


@dataclass
class Owned:
    """The parameters of one owner in one piece: weights, gradients, Adam's state, a copy in the working precision."""

    weights: Tensor
    grads: Tensor
    exp_avg: Tensor
    exp_avg_sq: Tensor
    step: Tensor
    working: Tensor
    places: dict[str, tuple[int, torch.Size]]

    def view(self, buffer: Tensor, name: str) -> Tensor:
        """Return a parameter's part of one of the buffers."""
        start, size = self.places[name]
        return buffer[start : start + size.numel()].view(size)


class Optimiser:
    """Owns the memory of an encoder's parameters and steps those of the languages that were present.

    It calls the fused kernel behind torch.optim.AdamW itself: the class around it imports torch's compiler, which
    takes seconds that a small model on a CPU does not have.
    """

    def __init__(self, encoder: Encoder, settings: Pretrain, device: torch.device, dtype: torch.dtype) -> None:
        self.settings = settings
        self.owned = {owner: _flatten(encoder, owner, device, dtype) for owner in owners(encoder)}
        self.rate = torch.zeros((), device=device)
        self.scale: Tensor | None = None
        if dtype == torch.float16:
            self.scale = torch.tensor(FIRST_SCALE, device=device)
            self.growth = torch.tensor(0, dtype=torch.int32, device=device)
        self.refresh(self.owned.values())

    def step(self, present: Iterable[str]) -> Tensor:
        """Clip the global norm of the present owners' gradients, move their weights, return the norm.

        Clipping goes into the fused update as a divisor of the gradients, which saves a pass over them.
        """
        parts = [self.owned[owner] for owner in present]
        norm: Tensor = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(part.grads) for part in parts]))
        found_inf = None
        if self.scale is not None:
            norm = norm / self.scale
            found_inf = (~torch.isfinite(norm)).float()
        divisor = torch.clamp(norm / self.settings.clip, min=1.0)
        self._adam(parts, divisor if self.scale is None else divisor * self.scale, found_inf)
        if self.scale is not None and found_inf is not None:
            torch._amp_update_scale_(self.scale, self.growth, found_inf, GROWTH, BACKOFF, GROWTH_INTERVAL)
        self.refresh(parts)
        return norm

    def refresh(self, parts: Iterable[Owned]) -> None:
        """Bring the copies in the working precision up to date."""
        for part in parts:
            if part.working is not part.weights:
                part.working.copy_(part.weights)

    def state(self) -> dict[str, Tensor]:
        """Return moments, step counts and the loss scale as tensors on the CPU."""
        return {name: value.cpu().clone() for name, value in self._state().items()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Put back what `state` returned; `KeyError` or `RuntimeError` where it is another run's."""
        for name, value in self._state().items():
            if name in state or name not in ("scale", "growth"):  # resumed on a card without bf16: a fresh scale
                value.copy_(state[name])
        self.refresh(self.owned.values())

    def _state(self) -> dict[str, Tensor]:
        names = ("exp_avg", "exp_avg_sq", "step")
        found: dict[str, Tensor] = {
            f"{o}.{name}": getattr(part, name) for o, part in self.owned.items() for name in names
        }
        return found if self.scale is None else {**found, "scale": self.scale, "growth": self.growth}

    def _adam(self, parts: list[Owned], divisor: Tensor, found_inf: Tensor | None) -> None:
        steps, settings = [part.step for part in parts], self.settings
        torch._foreach_add_(steps, 1.0)
        torch._fused_adamw_(
            [part.weights for part in parts],
            [part.grads for part in parts],
            [part.exp_avg for part in parts],
            [part.exp_avg_sq for part in parts],
            [],
            steps,
            lr=self.rate,
            beta1=settings.betas[0],
            beta2=settings.betas[1],
            weight_decay=settings.weight_decay,
            eps=settings.eps,
            amsgrad=False,
            maximize=False,
            grad_scale=divisor,
            found_inf=found_inf,
        )
        if found_inf is not None:
            torch._foreach_sub_(steps, [found_inf] * len(steps))


def owners(encoder: Encoder) -> list[str]:
    """Return the owners of an encoder's parameters in the order of their first parameter."""
    return list(dict.fromkeys(owner_of(name) for name, _ in encoder.named_parameters()))


def working_path(
    encoder: Encoder, optimiser: Optimiser, language: int
) -> tuple[Path, list[tuple[Tensor, Tensor, str]]]:
    """Return a language's path in the working precision, and (tensor, place of its gradient, owner) of what it trains.

    Embeddings stay in float32 up to their sum; the softmax uses the token table in the working precision. The rows of
    the token table are looked up outside, so the table appears among the trained tensors as the softmax's only.
    """
    names = {id(parameter): name for name, parameter in encoder.named_parameters()}
    master = encoder.path(language)
    trained: list[Trained] = []

    def train(tensor: Tensor, working: bool) -> Tensor:
        name = names[id(tensor)]
        part = optimiser.owned[owner_of(name)]
        leaf = part.view(part.working, name).detach().requires_grad_() if working else tensor
        trained.append((leaf, part.view(part.grads, name), owner_of(name)))
        return leaf

    _, position, vector, norm_weight, norm_bias = master.embeddings
    embeddings = EmbeddingWeights(
        master.embeddings.token,
        train(position, False),
        None if vector is None else train(vector, False),
        train(norm_weight, False),
        train(norm_bias, False),
    )
    layers = tuple(LayerWeights(*(train(tensor, True) for tensor in weights)) for weights in master.layers)
    softmax = train(master.softmax_weight, True), train(master.softmax_bias, True)
    return Path(embeddings, layers, *softmax, master.size), trained


def _flatten(encoder: Encoder, owner: str, device: torch.device, dtype: torch.dtype) -> Owned:
    parameters = {name: p for name, p in encoder.named_parameters() if owner_of(name) == owner}
    places, end = {}, 0
    for name, parameter in parameters.items():
        places[name] = (end, parameter.shape)
        end += -(-parameter.numel() // ALIGNED) * ALIGNED
    weights = torch.zeros(end, device=device)
    working = weights if dtype == torch.float32 else torch.zeros(end, device=device, dtype=dtype)
    grads, exp_avg, exp_avg_sq = (torch.zeros_like(weights) for _ in range(3))
    owned = Owned(weights, grads, exp_avg, exp_avg_sq, torch.zeros((), device=device), working, places)
    for name, parameter in parameters.items():
        place = owned.view(weights, name)
        place.copy_(parameter.detach())
        parameter.data = place
    return owned
