"""An encoder with a task's layers on top: what trains, one step of training, predictions.

What belongs to one language alone is frozen, what the languages share trains (section 4.3 of the paper). At test the
text of a language takes that language's own way through the encoder.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from xling.finetune.adam import Adam
from xling.finetune.batches import Layout, evaluation_batches, tensor
from xling.finetune.data import Example, Labels
from xling.finetune.flat import Flat
from xling.finetune.replay import Replay
from xling.finetune.settings import Point
from xling.finetune.task import Task, initialise_head
from xling.model.config import SHARED
from xling.model.device import autocast, generator
from xling.model.encoder import Encoder, owner_of
from xling.model.layer_states import at_one_scale

ROUNDING = {"cpu": 1, "cuda": 16}  # a GPU is fast on few shapes, a CPU without padding
EVALUATED_TOKENS = {"cpu": 4096, "cuda": 32768}
STEPS_WORTH_COMPILING = 50_000  # measured: a compiled step is a sixth faster, compiling takes most of a minute


def shared_parameters(encoder: Encoder) -> dict[str, nn.Parameter]:
    """Return what fine-tuning trains: all that no language owns, but for the softmax, which it does not use."""
    named = encoder.named_parameters()
    return {name: p for name, p in named if owner_of(name) == SHARED and not name.startswith("softmax.")}


def freeze(encoder: Encoder) -> dict[str, nn.Parameter]:
    """Freeze what belongs to a language and return the rest."""
    encoder.requires_grad_(False)
    shared = shared_parameters(encoder)
    for parameter in shared.values():
        parameter.requires_grad_(True)
    return shared


class Tuner:
    """Fine-tunes one encoder at one point of the grid; `language` is the index of the training language."""

    def __init__(
        self, encoder: Encoder, task: Task, point: Point, language: int, seed: int, longest: int, steps: int = 0
    ) -> None:
        self.encoder, self.task, self.language, self.longest = encoder, task, language, longest
        self.device = next(encoder.parameters()).device
        shared = freeze(encoder)
        self.head = task.head(encoder.config.shape.width)
        initialise_head(self.head, seed)
        self.head.to(self.device)
        own = dict(self.head.named_parameters())
        self.trained = {f"encoder.{name}": p for name, p in shared.items()}
        self.trained |= {f"head.{name}": p for name, p in own.items()}
        self.flats = (Flat(list(shared.values())), Flat(list(own.values())))
        self.peaks = (point.encoder_lr, point.head_lr)
        self.optimiser = Adam([flat.masters for flat in self.flats], self.device)
        self.losses = torch.zeros(2, device=self.device)  # sum and number since the last look
        self.replay = Replay(self._train, self.device)
        compiles = self.device.type == "cuda" and steps >= STEPS_WORTH_COMPILING
        self.forward = torch.compile(encoder.forward, dynamic=True) if compiles else encoder.forward
        self.random = generator(self.device)

    def layout(self, examples: Sequence[Example]) -> Layout:
        """Return how examples lie in a batch on this device."""
        return Layout(examples, ROUNDING[self.device.type], self.longest)

    def step(self, examples: Sequence[Example], scale: float, seed: int) -> None:
        """Train on one batch with the learning rates scaled; the seed is of dropout."""
        layout = self.layout(examples)
        arrays = (layout.tokens, *self.task.places(layout), *self.task.gold(layout))
        self.optimiser.set_rates([peak * scale for peak in self.peaks])
        self.random.manual_seed(seed)
        self.head.train()
        self.encoder.train()
        self.replay([tensor(values, self.device) for values in arrays])

    def mean_loss(self) -> float:
        """Return the mean loss of the batches since it was last asked for."""
        total, count = self.losses.tolist()
        self.losses.zero_()
        return float(total / max(count, 1.0))

    def predict(self, examples: Sequence[Example], language: int) -> list[Labels]:
        """Return the predictions for examples of a language; the device is waited for once, at the end."""
        self.head.eval()
        self.encoder.eval()
        pending = []
        for numbers in evaluation_batches(examples, EVALUATED_TOKENS[self.device.type]):
            layout = self.layout([examples[number] for number in numbers])
            pending.append((numbers, layout, self._outputs(layout, language)))
        found: dict[int, Labels] = {}
        for numbers, layout, outputs in pending:
            read = self.task.read([output.cpu().numpy() for output in outputs], layout)
            found |= dict(zip(numbers, read, strict=True))
        return [found[number] for number in range(len(examples))]

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of what trains, on the CPU."""
        return {name: parameter.detach().cpu().clone() for name, parameter in self.trained.items()}

    def put_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Set what trains."""
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(weights[name])

    def moments(self) -> dict[str, Tensor]:
        """Return a copy of the optimiser's state, on the CPU."""
        return {name: kept.cpu().clone() for name, kept in self.optimiser.state().items()}

    def put_moments(self, moments: Mapping[str, Tensor]) -> None:
        """Set the optimiser's state."""
        for name, kept in self.optimiser.state().items():
            kept.copy_(moments[name])

    def _train(self, tensors: Sequence[Tensor]) -> None:
        tokens, *others = tensors
        places, gold = others[: -self.task.golds], others[-self.task.golds :]
        loss = self.task.loss(self.head, self._states(tokens, self.language), places, gold)
        encoder, head = (flat.parameters for flat in self.flats)
        grads = torch.autograd.grad(loss, [*encoder, *head])
        self.flats[0].take(grads[: len(encoder)])
        self.flats[1].take(grads[len(encoder) :])
        self.optimiser.step()
        self.losses[0] += loss.detach()
        self.losses[1] += 1.0

    @torch.no_grad()
    def _outputs(self, layout: Layout, language: int) -> tuple[Tensor, ...]:
        tokens, *places = (tensor(values, self.device) for values in (layout.tokens, *self.task.places(layout)))
        return self.task.predict(self.head, self._states(tokens, language), places)

    def _states(self, tokens: Tensor, language: int) -> Tensor:
        """Return the top layer's states; padding is masked, and on a CPU only where there is any."""
        keep = tokens != 0
        whole = self.device.type == "cpu" and bool(keep.all())
        forward = self.forward if self.encoder.training else self.encoder.forward
        with autocast(self.device, self.encoder.training):
            states: list[Tensor] = forward(tokens, language, None if whole else keep)
        return at_one_scale(states[-1], self.encoder, len(states) - 1)
