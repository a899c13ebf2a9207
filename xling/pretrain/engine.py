"""The computation of an update: losses and gradients of micro-batches, then one optimiser step.

Small models are limited by kernel launches, not by arithmetic. Therefore, on a GPU and if all sequences have the same
length, small micro-batches of different languages are computed together, the loss is compiled (once for each number of
micro-batches and each vocabulary size), and micro-batches and steps are captured as CUDA graphs and replayed.

Each parameter has an owner: a language, or `shared`. The first gradients that an owner gets in an update are copied
into its buffer; later ones are added to it. Micro-batches that are computed together form a group. The graph of a group
depends on its languages and on the owners whose buffers it overwrites; the graph of a step depends on the owners that
it updates. On a CPU, or if the length of sequences varies, everything runs eagerly, one micro-batch after the other; on
a CPU, each process uses one thread.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import attrgetter

import torch
from torch import Tensor

from xling.model.config import SHARED, Shape
from xling.model.device import Replay, generator, half_type
from xling.model.encoder import Encoder
from xling.model.layers import LossInput, draw_keys, masked_losses
from xling.pretrain.batches import Batch, capacity, unpack
from xling.pretrain.config import Pretrain
from xling.pretrain.optimiser import Optimiser, Trained, working_path

TRAIL = 4096  # number of updates whose losses the device keeps; older ones are overwritten
TOGETHER = 16_384  # most tokens in a group: 4,096 of each of two languages fit, a micro-batch of the paper does not
DTYPES = {"float32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def working_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Return the type of activations: `auto` is float32 on a CPU and bf16 on a GPU, or fp16 if it lacks bf16."""
    if precision == "auto":
        return torch.float32 if device.type == "cpu" else half_type()
    return DTYPES[precision]


@cache
def compiled_losses(shape: Shape, apart: int, tied: bool) -> Callable[..., list[Tensor]]:
    """Return the compiled loss function; engines of one process that pass the same arguments share it.

    Compiling layer by layer cuts compilation to a third of the time, but training was 2% slower.
    """
    losses = partial(masked_losses, shape=shape, apart=apart, tied=tied)
    return torch.compile(losses, dynamic=False, fullgraph=True)


def together(batches: Sequence[Batch], most: int) -> list[list[Batch]]:
    """Group micro-batches: a group holds at most one per language, and at most `most` tokens in all.

    A micro-batch with more than `most` tokens forms a group by itself.
    """
    groups: list[list[Batch]] = []
    for batch in batches:
        for group in groups:
            tokens = sum(other.tokens.numel() for other in (*group, batch))
            if tokens <= most and batch.language not in map(attrgetter("language"), group):
                group.append(batch)
                break
        else:
            groups.append([batch])
    return [sorted(group, key=attrgetter("language")) for group in groups]


class Engine:
    """Trains one encoder on one device."""

    def __init__(self, encoder: Encoder, settings: Pretrain, device: torch.device, dtype: torch.dtype) -> None:
        """Move the parameters of an encoder into the optimiser's flat buffers, which training then updates."""
        self.encoder, self.settings, self.device, self.dtype = encoder.train(), settings, device, dtype
        self.captures = device.type == "cuda" and settings.sequences == "streams"
        self.optimiser = Optimiser(encoder, settings, device, dtype, compiled=self.captures)
        codes, shape = encoder.config.languages, encoder.config.shape
        known: dict[str, Trained] = {}
        self.paths = [working_path(encoder, self.optimiser, i, known) for i in range(len(codes))]
        owners = [encoder.config.embedding_owner(code) for code in codes]
        parts = [(self.optimiser.owned[owner], f"embeddings.{owner}.token") for owner in owners]
        # The float32 token table of each language and the buffer of its gradient.
        self.tables = [(part.view(part.weights, name), part.view(part.grads, name)) for part, name in parts]
        apart, tied = encoder.config.separate.layers, not encoder.config.separate.embeddings
        plain = partial(masked_losses, shape=shape, apart=apart, tied=tied)
        self.losses = compiled_losses(shape, apart, tied) if self.captures else plain
        self.replay = Replay(self.captures, empty_cache=True)
        self.inputs: dict[tuple[int, int], Tensor] = {}
        self.share = torch.tensor(1.0 / settings.micro_batches, device=device)
        self.counted = torch.zeros(1 + 2 * len(codes), device=device)
        self.total, self.by_language = self.counted[0], self.counted[1:].view(2, -1)  # rows: loss sums, batch counts
        # Two vectors per language. A batch adds to `counted` the first, multiplied by its loss, and the second.
        self.shares = torch.zeros(len(codes), 2, 1 + 2 * len(codes))
        self.shares[:, 0, 0] = 1.0 / settings.micro_batches
        for i in range(len(codes)):
            self.shares[i, 0, 1 + i] = self.shares[i, 1, 1 + len(codes) + i] = 1.0
        self.shares = self.shares.to(device)
        self.trail = torch.zeros(TRAIL, device=device)  # losses of the most recent updates
        self.slot, self.next_update = torch.zeros(1, dtype=torch.int64, device=device), 0  # next slot in trail
        self.norm = torch.zeros((), device=device)
        self.filled: set[str] = set()
        self.mark: torch.cuda.Event | None = None
        self.random = generator(device)

    @property
    def places(self) -> int | None:
        """Return the number of prediction slots of a batch, or None if no CUDA graph needs a fixed number."""
        rows = max(1, self.settings.micro_batch_tokens // self.settings.length)
        return capacity(rows * self.settings.length, self.settings.mask_rate) if self.captures else None

    def accumulate(self, batches: Sequence[Batch]) -> None:
        """Add the gradients of micro-batches to the gradients of the update."""
        for group in together(batches, TOGETHER if self.captures else 0):
            languages = tuple(batch.language for batch in group)
            owners = SHARED, *(self.encoder.config.languages[language] for language in languages)
            fresh = tuple(owner for owner in owners if owner not in self.filled)
            self.filled |= set(owners) & self.optimiser.owned.keys()
            self.random.manual_seed(group[0].seed)
            if self.captures:
                group = [self._on_device(place, batch) for place, batch in enumerate(group)]
            elif self.device.type != "cpu":
                group = [unpack(b.packed.to(self.device), b.language, b.seed, *b.tokens.shape) for b in group]
            shapes = [batch.tokens.shape for batch in group]
            self.replay(("micro", languages, fresh, *shapes), partial(self._micro, group, fresh))

    def step(self, update: int, present: Sequence[str], rate: float) -> None:
        """Update the weights of the owners in `present` with the gradients accumulated since the last step."""
        self.optimiser.rate.fill_(rate)
        if update != self.next_update:
            self.slot.fill_(update % TRAIL)
        self.replay(("step", *present), partial(self._step, present))
        self.next_update = update + 1
        self.filled.clear()

    def pace(self) -> None:
        """Keep the host at most two calls ahead of the GPU, so that times measured on the host reflect its progress.

        While it waits, the process sleeps instead of polling, because trainings that share a GPU may share cores too.
        """
        if self.device.type == "cuda":
            latest = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            latest.record()
            if self.mark is not None:
                self.mark.synchronize()
            self.mark = latest

    def present(self, languages: Sequence[int]) -> list[str]:
        """Return the owners whose parameters are trained by micro-batches of these languages."""
        codes = {self.encoder.config.languages[language] for language in languages}
        return [owner for owner in self.optimiser.owned if owner == SHARED or owner in codes]

    def gradients(self, present: Sequence[str]) -> list[Tensor]:
        """Return the flat gradients of owners for the caller to sum over processes; zeros where there are none."""
        for owner in present:
            if owner not in self.filled:
                self.optimiser.owned[owner].grads.zero_()
        return [self.optimiser.owned[owner].grads for owner in present]

    def _micro(self, batches: Sequence[Batch], fresh: Sequence[str]) -> None:
        """Compute micro-batches together; overwrite the buffers of owners in `fresh`, add to those of other owners."""
        shape, masked = self.encoder.config.shape, []
        paths, trained = zip(*(self.paths[batch.language] for batch in batches), strict=True)
        for batch in batches:
            rows = self.tables[batch.language][0][batch.tokens].requires_grad_()
            keys, tokens = draw_keys(shape, self.device), batch.tokens if shape.sentences else None
            masked.append(LossInput(rows, batch.picks, batch.inverse, batch.targets, keys, tokens))
        losses = self.losses(paths, masked)
        known = {name: tensors for own in trained for name, tensors in own.items()}
        share = self.share if self.optimiser.scale is None else self.share * self.optimiser.scale
        leaves = [leaf for leaf, _, _ in known.values()]
        found = torch.autograd.grad(sum(losses[1:], losses[0]) * share, [*leaves, *(one.rows for one in masked)])
        # One kernel copies or adds all gradients of the same owner and type.
        groups: dict[tuple[str, torch.dtype], tuple[list[Tensor], list[Tensor]]] = {}
        for (leaf, place, owner), gradient in zip(known.values(), found, strict=False):
            places, gradients = groups.setdefault((owner, leaf.dtype), ([], []))
            places.append(place)
            gradients.append(gradient)
        for (owner, _), (places, gradients) in groups.items():
            put = torch._foreach_copy_ if owner in fresh else torch._foreach_add_
            put(places, gradients)
        for batch, by_row, loss in zip(batches, found[len(leaves) :], losses, strict=True):
            self.tables[batch.language][1].index_add_(0, batch.tokens.view(-1), by_row.flatten(0, 1))
            by_loss, by_batch = self.shares[batch.language]
            self.counted.addcmul_(by_loss, loss.detach()).add_(by_batch)

    def _step(self, present: Sequence[str]) -> None:
        """Step the optimiser and store the loss, both in one CUDA graph: kernels outside it would make the GPU wait."""
        self.norm.copy_(self.optimiser.step(present))
        self.trail.index_copy_(0, self.slot, self.total.view(1))
        self.slot.add_(1).remainder_(TRAIL)
        self.total.zero_()

    def _on_device(self, number: int, batch: Batch) -> Batch:
        key = number, len(batch.packed)
        if key not in self.inputs:
            self.inputs[key] = torch.empty_like(batch.packed, device=self.device)
        place = self.inputs[key]
        place.copy_(batch.packed, non_blocking=True)
        return unpack(place, batch.language, batch.seed, *batch.tokens.shape)
