"""An encoder with the layers of a task on top: trained parameters, one training step, predictions.

Parameters of a single language are frozen; parameters that the languages share are trained (section 4.3 of the paper).
In evaluation, text of a language passes through the parameters of that language.

The optimiser is Adam without weight decay (section 3.2 of the paper). Small tensors are joined into one flat buffer: in
small models Adam would spend most of its time on the overhead of a hundred small tensors. Large tensors stay separate,
because copying their gradients into the buffer would cost more than it saves. Long trainings compile their steps and
keep the matrices of the layers in bf16, where autocast would convert every matrix in every step.

Several tuners may run on one GPU, each on its own CUDA stream. So tuners share nothing that a step writes: each has its
own weights, memory of captured CUDA graphs, and random state for dropout.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from xling.bpe.streams import END
from xling.core.seeds import numpy_rng
from xling.finetune.data import Example, Labels, Layout, Order, evaluation_batches, tensor
from xling.finetune.settings import Point
from xling.finetune.tasks import IGNORED, Material
from xling.model.adam import compiled, fused_adam, move, tick
from xling.model.config import SHARED
from xling.model.device import Replay, autocast, autocast_type, generator
from xling.model.encoder import Encoder, owner_of

ROUNDING = {"cpu": 1, "cuda": 16}  # few different shapes are faster on a GPU, no padding is faster on a CPU
EVALUATED_TOKENS = {"cpu": 4096, "cuda": 32768}
BETAS, EPSILON = (0.9, 0.999), 1e-8
LARGE = 1 << 20  # number of elements from which a tensor stays separate
TABLE = f"embeddings.{SHARED}.token"
STEPS_WORTH_COMPILING = 50_000  # measured: a compiled step is a sixth faster, compiling takes most of a minute


def shared_parameters(encoder: Encoder) -> dict[str, nn.Parameter]:
    """Return the encoder parameters that fine-tuning trains: the shared ones, without the softmax, which is unused."""
    named = encoder.named_parameters()
    return {name: p for name, p in named if owner_of(name) == SHARED and not name.startswith("softmax.")}


def worth_compiling(device: torch.device, steps: int) -> bool:
    """Return whether a training on a device is long enough for compiled steps."""
    return device.type == "cuda" and steps >= STEPS_WORTH_COMPILING


def initialise_head(head: nn.Module, seed: int) -> None:
    """Initialise linear layers uniformly within 1 / sqrt(inputs), as PyTorch does, with one seeded generator per name.

    Biases start at zero. The biaffine weights start at zero too, as in the authors' parser.
    """
    for name, parameter in head.named_parameters():
        bound = 1 / math.sqrt(parameter.shape[-1]) if name.endswith("weight") else 0.0
        values = numpy_rng("head", seed, name).uniform(-bound, bound, tuple(parameter.shape))
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values))


class Group:
    """Parameters with the same learning rate, and their Adam state.

    `masters` are the tensors that Adam updates: each large parameter, and one flat buffer that holds all small ones.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], device: torch.device) -> None:
        small = [parameter for parameter in parameters if parameter.numel() < LARGE]
        self.parts = [[parameter] for parameter in parameters if parameter.numel() >= LARGE]
        self.masters: list[Tensor] = [part[0] for part in self.parts]
        if small:
            memory = torch.cat([parameter.detach().reshape(-1) for parameter in small])
            places = torch.split(memory, [parameter.numel() for parameter in small])
            for parameter, place in zip(small, places, strict=True):
                parameter.data = place.view(parameter.shape)
            self.parts.append(small)
            self.masters.append(memory)
        self.parameters = [parameter for part in self.parts for parameter in part]  # gradients have this order
        self.rate = torch.zeros((), device=device)
        self.steps = [torch.zeros((), device=device) for _ in self.masters]
        self.means, self.squares = ([torch.zeros_like(m, requires_grad=False) for m in self.masters] for _ in range(2))

    def step(self, grads: Sequence[Tensor]) -> None:
        """Update the parameters with their gradients."""
        rest, joined = iter(grads), []
        for master, part in zip(self.masters, self.parts, strict=True):
            own = [next(rest) for _ in part]
            joined.append(own[0] if master is part[0] else torch.cat([grad.reshape(-1) for grad in own]))
        if joined:
            moments = self.means, self.squares
            fused_adam(self.masters, joined, moments, self.steps, BETAS, lr=self.rate, eps=EPSILON)

    def state(self) -> dict[str, Tensor]:
        """Return the state tensors by name, without copying."""
        kinds = {"steps": self.steps, "means": self.means, "squares": self.squares}
        return {f"{i}:{name}": tensor for name, tensors in kinds.items() for i, tensor in enumerate(tensors)}


class HalfGroup:
    """Parameters that become bf16 copies of float32 values, which Adam updates in a compiled step."""

    def __init__(self, parameters: Sequence[nn.Parameter], device: torch.device) -> None:
        self.parameters, self.masters = parameters, [parameter.detach().clone() for parameter in parameters]
        for parameter in parameters:
            parameter.data = parameter.data.bfloat16()
        self.copies = [parameter.data for parameter in parameters]
        self.rate, self.count = (torch.zeros((), device=device) for _ in range(2))
        self.betas, self.unclipped = torch.tensor(BETAS, dtype=torch.float64, device=device), torch.ones_like(self.rate)
        self.means, self.squares = ([torch.zeros_like(master) for master in self.masters] for _ in range(2))

    @torch.no_grad()
    def step(self, grads: Sequence[Tensor]) -> None:
        """Update the float32 values and their copies with the gradients of the copies."""
        numbers = self.rate, self.unclipped, compiled(tick)(self.count, self.betas)
        for buffers in zip(self.masters, grads, self.means, self.squares, self.copies, strict=True):
            compiled(move)(buffers, numbers, (*BETAS, 0.0, EPSILON))

    def state(self) -> dict[str, Tensor]:
        """Return the state tensors by name, without copying."""
        kinds = {"steps": [self.count], "means": self.means, "squares": self.squares}
        return {f"{i}:{name}": tensor for name, tensors in kinds.items() for i, tensor in enumerate(tensors)}


class Tuner:
    """Fine-tunes one encoder at one point of the grid.

    If the token table is shared, only the rows of ids that occur in the training data are trained. All other gradients
    are zero, and Adam would read and write most of the model for nothing. For this the table is reordered, trained rows
    first, and `layout` converts ids to their new row numbers.
    """

    def __init__(self, encoder: Encoder, material: Material, point: Point) -> None:
        self.encoder, self.material, self.point, self.task = encoder, material, point, material.task
        self.device = next(encoder.parameters()).device
        shared = shared_parameters(encoder)
        encoder.requires_grad_(False)
        for parameter in shared.values():
            parameter.requires_grad_(True)
        table = shared.get(TABLE)
        self.numbers: Order | None = None  # new row number of each token id
        if table is not None:
            first = np.union1d(np.arange(END + 1), material.words)  # padding and </s> keep their numbers
            order = np.concatenate([first, np.setdiff1d(np.arange(len(table)), first)])
            self.numbers = np.argsort(order)
            self.table, self.all_rows = table, table.detach()[torch.from_numpy(order).to(self.device)]
            table.data = self.all_rows[: len(first)].clone()
        self.head = self.task.head(encoder.config.shape.width)
        initialise_head(self.head, material.seed)
        self.head.to(self.device)
        own = dict(self.head.named_parameters())
        self.trained: dict[str, Tensor] = {f"encoder.{name}": p for name, p in shared.items()}
        self.trained |= {f"head.{name}": p for name, p in own.items()}
        compiles = worth_compiling(self.device, material.settings.epochs * material.steps(point.batch))
        halves = compiles and autocast_type(self.device, training=True) == torch.bfloat16
        halved = {name: p for name, p in shared.items() if halves and name.startswith("layers.") and p.dim() == 2}
        whole = [p for name, p in shared.items() if name not in halved]
        self.groups: list[Group | HalfGroup] = [Group(part, self.device) for part in (whole, list(own.values()))]
        if halved:
            group = HalfGroup(list(halved.values()), self.device)
            self.trained |= {f"encoder.{name}": master for name, master in zip(halved, group.masters, strict=True)}
            self.groups.append(group)
        self.trained_rows = None if self.numbers is None else self.table.data
        self.usual: float | None = None  # the mean number of labels in a batch, if every label counts equally
        if material.settings.loss == "per-word":
            self.usual = point.batch * float(np.mean([example.labels.shape[-1] for example in material.train]))
        self.losses = torch.zeros(2, device=self.device)  # sum and number of losses since the last call of mean_loss
        on_gpu = self.device.type == "cuda"
        self.replay = Replay(on_gpu)
        self.inputs: dict[tuple[tuple[int, ...], ...], Tensor] = {}  # input buffer of the graph of each set of shapes
        self.plain = partial(encoder.forward, pick=self.task.pick)
        self.forward = torch.compile(self.plain, dynamic=True) if compiles else self.plain
        self.random = torch.Generator(self.device) if on_gpu else generator(self.device)

    def layout(self, examples: Sequence[Example]) -> Layout:
        """Return the layout of a batch of examples on this device."""
        made = Layout(examples, ROUNDING[self.device.type], self.material.longest)
        if self.numbers is not None:
            made.tokens = self.numbers[made.tokens]
        return made

    def step(self, examples: Sequence[Example], scale: float, seed: int) -> None:
        """Train on one batch with the peak learning rates times `scale`; `seed` is the seed for dropout."""
        layout = self.layout(examples)
        arrays = (layout.tokens, *self.task.places(layout), *self.task.gold(layout))
        shapes = tuple(array.shape for array in arrays)
        packed = torch.from_numpy(np.concatenate([array.reshape(-1) for array in arrays]))
        if self.device.type == "cuda":  # one copy for all arrays, into the input buffer of the CUDA graph
            if shapes not in self.inputs:
                self.inputs[shapes] = torch.empty_like(packed, device=self.device)
            packed = self.inputs[shapes].copy_(packed.pin_memory(), non_blocking=True)
            # Dropout uses torch's default generator. A CUDA graph keeps the generator state of its capture and reads
            # the seed from the memory of that state. With one state per tuner, no other tuner can change the seed.
            generator(self.device).graphsafe_set_state(self.random)
        for group in self.groups:
            group.rate.fill_(scale * (self.point.head_lr if group is self.groups[1] else self.point.encoder_lr))
        self.random.manual_seed(seed)
        self._set_mode(training=True)
        self.replay(shapes, partial(self._train, packed, shapes))

    def mean_loss(self) -> float:
        """Return the mean loss of the batches since the last call."""
        total, count = self.losses.tolist()
        self.losses.zero_()
        return float(total / max(count, 1.0))

    @torch.no_grad()
    def predict(self, examples: Sequence[Example], language: int) -> list[Labels]:
        """Return the predictions for examples of a language, waiting for the device only once, at the end."""
        self._set_mode(training=False)
        pending = []
        for numbers in evaluation_batches(examples, EVALUATED_TOKENS[self.device.type]):
            layout = self.layout([examples[number] for number in numbers])
            tokens, *places = (tensor(values, self.device) for values in (layout.tokens, *self.task.places(layout)))
            pending.append((numbers, layout, self.task.predict(self.head, self._states(tokens, language), places)))
        found: dict[int, Labels] = {}
        for numbers, layout, outputs in pending:
            read = self.task.read([output.cpu().numpy() for output in outputs], layout)
            found |= dict(zip(numbers, read, strict=True))
        return [found[number] for number in range(len(examples))]

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of the trained parameters on the same device."""
        self._set_mode(training=True)
        return {name: parameter.detach().clone() for name, parameter in self.trained.items()}

    def moments(self) -> dict[str, Tensor]:
        """Return the tensors of the optimiser state, without copying."""
        return {f"{i}.{name}": kept for i, group in enumerate(self.groups) for name, kept in group.state().items()}

    def put(self, weights: Mapping[str, Tensor], moments: Mapping[str, Tensor] | None = None) -> None:
        """Load the trained parameters and, if given, the optimiser state."""
        self._set_mode(training=True)
        state = self.moments()
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(weights[name])
            for name, value in (moments or {}).items():
                state[name].copy_(value)
            for group in self.groups:
                if isinstance(group, HalfGroup):
                    torch._foreach_copy_(group.copies, group.masters)

    def _set_mode(self, training: bool) -> None:
        if {self.head.training, self.encoder.training} == {training}:  # skip the slow walk through all modules
            return
        self.head.train(training)
        self.encoder.train(training)
        if self.trained_rows is not None:  # evaluation may use rows that do not occur in training
            self.all_rows[: len(self.trained_rows)] = self.trained_rows
            self.table.data = self.trained_rows if training else self.all_rows

    def _train(self, packed: Tensor, shapes: Sequence[tuple[int, ...]]) -> None:
        parts = torch.split(packed, [math.prod(shape) for shape in shapes])
        tokens, *others = (part.view(shape) for part, shape in zip(parts, shapes, strict=True))
        places, gold = others[: -self.task.golds], others[-self.task.golds :]
        loss = self.task.loss(self.head, self._states(tokens, self.material.language), places, gold)
        if self.usual is not None:
            loss = loss * ((gold[0] != IGNORED).sum() / self.usual)
        grads = iter(torch.autograd.grad(loss, [p for group in self.groups for p in group.parameters]))
        for group in self.groups:
            group.step([next(grads) for _ in group.parameters])
        self.losses[0] += loss.detach()
        self.losses[1] += 1.0

    def _states(self, tokens: Tensor, language: int) -> Tensor:
        """Return the top-layer states that the task reads; a CPU batch without padding gets no mask."""
        keep = tokens != 0
        whole = self.device.type == "cpu" and bool(keep.all())
        forward = self.forward if self.encoder.training else self.plain
        with autocast(self.device, self.encoder.training):
            states: list[Tensor] = forward(tokens, language, None if whole else keep)
        return self.encoder.at_one_scale(states[-1], len(states) - 1)
