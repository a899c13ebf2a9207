"""The computation of an update: losses and gradients of micro-batches, then one optimiser step.

On a GPU with sequences of fixed length, the loss is compiled once for all languages, and micro-batches and steps are
captured as CUDA graphs and replayed, because small models are limited by kernel launches, not by arithmetic. The owner
of a parameter is a language or `shared`. A micro-batch has one graph per language and set of owners that get their
first gradients of the update (copied, not added); a step has one graph per set of owners. On a CPU, everything runs
eagerly with one thread per process.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import torch
from torch import Tensor

from xling.model.config import SHARED, Shape
from xling.model.device import Replay, generator, half_type
from xling.model.encoder import Encoder
from xling.model.layers import draw_keys, masked_loss
from xling.pretrain.batches import Batch, capacity, unpack
from xling.pretrain.config import Pretrain
from xling.pretrain.optimiser import Optimiser, working_path

TRAIL = 4096  # number of losses that the device stores until they must be checked
DTYPES = {"float32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def working_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Return the type of activations: `auto` is float32 on a CPU and bf16 on a GPU, or fp16 if it lacks bf16."""
    if precision == "auto":
        return torch.float32 if device.type == "cpu" else half_type()
    return DTYPES[precision]


@cache
def compiled_loss(shape: Shape) -> Callable[..., Tensor]:
    """Return the loss compiled as one graph, which all engines of a process share.

    Compiling layer by layer takes a third of the time, but was measured to make training 2% slower.
    """
    return torch.compile(partial(masked_loss, shape=shape), dynamic=False, fullgraph=True)


class Engine:
    """Trains one encoder on one device."""

    def __init__(self, encoder: Encoder, settings: Pretrain, device: torch.device, dtype: torch.dtype) -> None:
        """Take over the parameters of an encoder."""
        self.encoder, self.settings, self.device, self.dtype = encoder.train(), settings, device, dtype
        self.captures = device.type == "cuda" and settings.sequences == "streams"
        self.optimiser = Optimiser(encoder, settings, device, dtype, compiled=self.captures)
        codes, shape = encoder.config.languages, encoder.config.shape
        made = [working_path(encoder, self.optimiser, i) for i in range(len(codes))]
        self.paths = [(path, [leaf for leaf, _, _ in trained]) for path, trained in made]
        # For each language, owner (0 shared, 1 the language itself) and type: the indices of trained tensors and the
        # buffers of their gradients, which one kernel copies or adds.
        self.groups: list[dict[tuple[int, torch.dtype], tuple[list[int], list[Tensor]]]] = [{} for _ in codes]
        for groups, (_, trained) in zip(self.groups, made, strict=True):
            for number, (leaf, place, owner) in enumerate(trained):
                numbers, places = groups.setdefault((int(owner != SHARED), leaf.dtype), ([], []))
                numbers.append(number)
                places.append(place)
        owners = [encoder.config.embedding_owner(code) for code in codes]
        parts = [(self.optimiser.owned[owner], f"embeddings.{owner}.token") for owner in owners]
        # The float32 token table of each language and the buffer of its gradient.
        self.tables = [(part.view(part.weights, name), part.view(part.grads, name)) for part, name in parts]
        self.loss = compiled_loss(shape) if self.captures else partial(masked_loss, shape=shape)
        self.replay = Replay(self.captures, empty_cache=True)
        self.inputs: dict[int, Tensor] = {}
        self.share = torch.tensor(1.0 / settings.micro_batches, device=device)
        self.counted = torch.zeros(1 + 2 * len(codes), device=device)
        self.total, self.by_language = self.counted[0], self.counted[1:].view(2, -1)  # rows: loss sums, batch counts
        self.shares = torch.zeros(len(codes), 2, 1 + 2 * len(codes))  # to update `counted`: loss factors, counts
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
        """Return the number of prediction slots of a batch, or None if batch sizes may vary."""
        rows = max(1, self.settings.micro_batch_tokens // self.settings.length)
        return capacity(rows * self.settings.length, self.settings.mask_rate) if self.captures else None

    def accumulate(self, batch: Batch) -> None:
        """Add the gradients of one micro-batch to the gradients of the update."""
        own = self.encoder.config.languages[batch.language]
        fresh = tuple(owner not in self.filled for owner in (SHARED, own))
        self.filled |= {SHARED, own} & self.optimiser.owned.keys()
        self.random.manual_seed(batch.seed)
        if self.captures:
            batch = self._on_device(batch)
        elif self.device.type != "cpu":
            batch = unpack(batch.packed.to(self.device), batch.language, batch.seed, *batch.tokens.shape)
        self.replay(("micro", batch.language, fresh, batch.tokens.shape), partial(self._micro, batch, fresh))

    def step(self, update: int, present: Sequence[str], rate: float) -> None:
        """Update the weights of the owners in `present` with the gradients accumulated since the last step."""
        self.optimiser.rate.fill_(rate)
        if update != self.next_update:
            self.slot.fill_(update % TRAIL)
        self.replay(("step", *present), partial(self._step, present))
        self.next_update = update + 1
        self.filled.clear()

    def pace(self) -> None:
        """Keep the host at most two calls of this method ahead of the GPU, so host times reflect the GPU's progress."""
        if self.device.type == "cuda":
            latest = torch.cuda.Event()  # type: ignore[no-untyped-call]
            latest.record()
            if self.mark is not None:
                self.mark.synchronize()
            self.mark = latest

    def present(self, languages: Sequence[int]) -> list[str]:
        """Return the owners whose parameters are trained by micro-batches of these languages."""
        codes = {self.encoder.config.languages[language] for language in languages}
        return [owner for owner in self.optimiser.owned if owner == SHARED or owner in codes]

    def gradients(self, present: Sequence[str]) -> list[Tensor]:
        """Return the flat gradients of owners for summing over processes; owners without gradients here get zeros."""
        for owner in present:
            if owner not in self.filled:
                self.optimiser.owned[owner].grads.zero_()
        return [self.optimiser.owned[owner].grads for owner in present]

    def _micro(self, batch: Batch, fresh: tuple[bool, ...]) -> None:
        path, leaves = self.paths[batch.language]
        table, grads = self.tables[batch.language]
        rows = table[batch.tokens].requires_grad_()
        keys = draw_keys(self.encoder.config.shape, self.device)
        tokens = batch.tokens if self.encoder.config.shape.sentences else None
        loss = self.loss(path, rows, batch.picks, batch.inverse, batch.targets, keys, tokens=tokens)
        share = self.share if self.optimiser.scale is None else self.share * self.optimiser.scale
        *found, by_row = torch.autograd.grad(loss * share, [*leaves, rows])
        for (own, _), (numbers, places) in self.groups[batch.language].items():
            put = torch._foreach_copy_ if fresh[own] else torch._foreach_add_
            put(places, [found[i] for i in numbers])
        grads.index_add_(0, batch.tokens.view(-1), by_row.flatten(0, 1))
        by_loss, by_batch = self.shares[batch.language]
        self.counted.addcmul_(by_loss, loss.detach()).add_(by_batch)

    def _step(self, present: Sequence[str]) -> None:
        """Step the optimiser and store the loss on the device: each launch outside a CUDA graph makes the GPU wait."""
        self.norm.copy_(self.optimiser.step(present))
        self.trail.index_copy_(0, self.slot, self.total.view(1))
        self.slot.add_(1).remainder_(TRAIL)
        self.total.zero_()

    def _on_device(self, batch: Batch) -> Batch:
        if len(batch.packed) not in self.inputs:
            self.inputs[len(batch.packed)] = torch.empty_like(batch.packed, device=self.device)
        place = self.inputs[len(batch.packed)]
        place.copy_(batch.packed, non_blocking=True)
        return unpack(place, batch.language, batch.seed, *batch.tokens.shape)
