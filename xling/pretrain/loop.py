"""The training loop: updates, metrics, validation, checkpoints, and a clean exit before the deadline.

Several processes, which torchrun starts, can train one model: they split the micro-batches of an update and sum their
gradients once per update, in flat buffers, after all micro-batches. Unlike with DistributedDataParallel, parameters
that no batch used need no special treatment.
"""

import logging
import math
import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from xling.core.errors import InputError, XlingError
from xling.core.lock import Lock
from xling.core.pool import ahead
from xling.model import checkpoint
from xling.model.files import put_weights, weights_of
from xling.pretrain.batches import Batch, Batches
from xling.pretrain.config import Run
from xling.pretrain.engine import TRAIL, Engine
from xling.pretrain.optimiser import learning_rate
from xling.pretrain.record import Metrics, measured_peak, useful_operations
from xling.pretrain.validate import Validation, perplexity, structure

log = logging.getLogger(__name__)
EXIT_AGAIN = 75  # EX_TEMPFAIL: not finished, run again
AHEAD = 4  # number of updates whose batches are prepared in advance on a GPU
LOGS_PER_VALIDATION = 10
GPU_LOOKS_EVERY = 10  # updates between two checks whether to stop, because each check waits for the GPU
TIMEOUT = timedelta(days=1)  # of waiting for the first process, which may wait for the lock, validate or save


class NotFinishedError(XlingError):
    """The run saved its state and stopped before its last update."""

    exit_code = EXIT_AGAIN


class DivergedError(XlingError):
    """The loss or the gradient norm is no longer finite."""


class Workers:
    """The group of processes to which this process belongs."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        self.device, self.first = device, self.rank == 0  # the first process writes the files
        if self.world > 1:
            backend = "nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(backend, timeout=TIMEOUT)

    def add(self, tensors: Iterable[Tensor]) -> None:
        """Sum tensors over all processes, in place."""
        if self.world > 1:
            for tensor in tensors:
                dist.all_reduce(tensor)

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set in any process."""
        if self.world == 1:
            return flag
        votes = torch.tensor(float(flag), device=self.device)
        dist.all_reduce(votes)
        return bool(votes.item() > 0)

    def broadcast(self, value: Any) -> Any:
        """Return, in every process, the value that the first process passed."""
        box = [value]
        if self.world > 1:
            dist.broadcast_object_list(box, device=self.device)
        return box[0]

    def wait(self) -> None:
        """Wait for the first process, so that no other exits early: torchrun would then kill the rest."""
        self.broadcast(None)

    def leave(self) -> None:
        """Leave the group."""
        if self.world > 1 and dist.is_initialized():
            dist.destroy_process_group()


@dataclass
class State:
    """The progress of a run, as saved in meta.json."""

    update: int = 0
    tokens: int = 0
    best_update: int | None = None
    best_perplexity: float | None = None
    # Since the last metrics line: the summed loss of each language, then the number of losses of each language.
    sums: list[float] = field(default_factory=list)


class Trainer:
    """Resumes a run and trains it to completion."""

    def __init__(
        self,
        run: Run,
        engine: Engine,
        batches: Batches,
        validation: Validation,
        workers: Workers,
        work: Path,
        lock: Lock | None,
    ) -> None:
        self.run, self.settings, self.engine, self.batches = run, run.pretrain, engine, batches
        self.validation, self.workers, self.work, self.lock = validation, workers, work, lock
        self.parallel: list[list[list[int]]] = []
        self.deadline, self.asked_to_leave = math.inf, False
        self.metrics = Metrics(work / "metrics.jsonl")
        self.state = State(sums=[0.0] * (2 * len(run.languages)))
        self.new_tokens, self.checked, self.began_at = 0, 0, 0
        self.took = {"update": 0.0, "validation": 0.0, "saving": 0.0}  # seconds of the last; update: mean
        self.aside = 0.0  # seconds spent on validation and saving
        self.window = self.looked = (self._clock(), 0, 0)
        self.peak = 0.0

    def train(self) -> None:
        """Train to the end; if the run must stop early, save everything and raise NotFinishedError."""
        for asked in (signal.SIGTERM, signal.SIGINT):
            signal.signal(asked, lambda *_: setattr(self, "asked_to_leave", True))
        self.peak = measured_peak(self.engine.device, self.engine.dtype)
        if not self._resume() or self.workers.broadcast(self.state.best_update) is None:
            self._validate()  # in a new run, or if the best checkpoint is lost, the current state is the best
            self._save()
        self.checked = self.began_at = self.state.update
        self.window = self.looked = (self._clock(), self.state.update, self.state.tokens)
        for languages, batches in self.batches_to_do():
            self.update(languages, batches)
            self.state.update += 1
            self._after_update()
            if self.state.update < self.settings.updates and self._must_leave():
                self._save()
                reached = f"stopped at update {self.state.update} of {self.settings.updates}"
                raise NotFinishedError(f"{reached} and saved the state: run the same command again to resume")

    def batches_to_do(self) -> Iterator[tuple[list[int], list[Batch]]]:
        """Yield for each remaining update the languages of all micro-batches and the batches of this process."""
        on_gpu, places = self.engine.device.type == "cuda", self.engine.places

        def make() -> Iterator[tuple[list[int], list[Batch]]]:
            for update in range(self.state.update, self.settings.updates):
                languages = self.batches.languages(update)
                mine = range(self.workers.rank, len(languages), self.workers.world)
                batches = [self.batches.batch(update, micro, languages[micro], places) for micro in mine]
                yield languages, [b._replace(packed=b.packed.pin_memory()) for b in batches] if on_gpu else batches

        return ahead(make(), AHEAD) if on_gpu else make()

    def update(self, languages: list[int], batches: list[Batch]) -> None:
        """Do one update with the batches of this process; `languages` are those of all processes' micro-batches."""
        engine, update = self.engine, self.state.update
        engine.accumulate(batches)
        self.new_tokens += sum(batch.tokens.numel() for batch in batches)
        present = engine.present(languages)
        if self.workers.world > 1:
            self.workers.add(engine.gradients(present))
        engine.step(update, present, learning_rate(update, self.settings))

    def _after_update(self) -> None:
        update, settings = self.state.update, self.settings
        last = update == settings.updates
        logs = max(1, settings.validate_every // LOGS_PER_VALIDATION)
        if self.engine.device.type == "cpu" or update % logs == 0 or update - self.checked >= TRAIL or last:
            self._check_losses()
        if update % logs == 0 or last:
            self._log()
        improved = self._validate() if update % settings.validate_every == 0 or last else False
        if improved or update % settings.save_every == 0 or last:
            self._save()

    def _check_losses(self) -> None:
        """Raise DivergedError, naming the update, if a loss or the gradient norm is not finite."""
        update = self.state.update
        if update == self.checked:
            return
        numbers = torch.arange(self.checked, update, device=self.engine.device) % TRAIL
        losses = self.engine.trail[numbers]
        self.workers.add([losses])
        wrong, norm, problem = torch.nonzero(~torch.isfinite(losses))[:, 0].tolist(), self.engine.norm.item(), ""
        if wrong:
            problem = f"the loss is {float(losses[wrong[0]])} at update {self.checked + wrong[0] + 1}"
        elif self.engine.optimiser.scale is None and not math.isfinite(norm):
            problem = f"the gradient's norm is {norm} at update {update}"
        if problem:
            found = checkpoint.newest(self.work / "checkpoints")
            good = f"the last good checkpoint is {found.folder}" if found else "there is no checkpoint yet"
            raise DivergedError(f"{self.run.model}: {problem}; {good} (lower pretrain.lr or lengthen pretrain.warmup)")
        self.checked = update

    def _collect(self) -> None:
        """Add to the state the losses, micro-batches and tokens that all processes counted since the last call."""
        tokens = torch.tensor([float(self.new_tokens)], dtype=torch.float64, device=self.engine.device)
        counted = torch.cat([self.engine.by_language.double().flatten(), tokens])
        self.workers.add([counted])
        *sums, new_tokens = counted.tolist()
        self.state.sums = [a + b for a, b in zip(self.state.sums, sums, strict=True)]
        self.state.tokens += round(new_tokens)
        self.new_tokens = 0
        self.engine.by_language.zero_()

    def _log(self) -> None:
        self._collect()
        (then, before, tokens_before), now, state = self.window, self._clock(), self.state
        self.window = (now, state.update, state.tokens)
        speed = (state.tokens - tokens_before) / max(now - then, 1e-9)
        left = (self.settings.updates - state.update) * (now - then) / max(state.update - before, 1)
        count = len(self.run.languages)
        losses, counts = state.sums[:count], state.sums[count:]
        state.sums, mean = [0.0] * (2 * count), sum(losses) / max(sum(counts), 1.0)
        if not self.workers.first:
            return
        work = useful_operations(self.engine.encoder.config, self.settings.length, self.settings.mask_rate)
        self.metrics.add(
            kind="train",
            update=state.update,
            tokens=state.tokens,
            loss=mean,
            perplexity=perplexity(mean),
            losses={code: a / n for code, a, n in zip(self.run.languages, losses, counts, strict=True) if n},
            lr=learning_rate(state.update - 1, self.settings),
            gradient_norm=self.engine.norm.item(),
            tokens_per_second=round(speed),
            share_of_peak=round(speed * work / self.peak / self.workers.world, 4),
            seconds_left=round(left),
        )
        log.info("update %d: loss %.3f, %.0f tokens/s, %d s left", state.update, mean, speed, left)

    def _validate(self) -> bool:
        """Validate in the first process; return whether run.selection_language has its best perplexity so far."""
        self._check_losses()
        state, better = self.state, False
        with self._aside("validation"):
            if self.workers.first:
                losses = dict(zip(self.run.languages, self.validation.losses(self.engine), strict=True))
                likeness = structure(self.engine.encoder.eval(), self.parallel) if self.parallel else {}
                self.engine.encoder.train()
                self.metrics.add(
                    kind="validation",
                    update=state.update,
                    loss=losses,
                    perplexity={code: perplexity(loss) for code, loss in losses.items()},
                    unigram_entropy=dict(zip(self.run.languages, self.validation.entropy, strict=True)),
                    **likeness,
                )
                shown = ", ".join(f"{code} {loss:.3f}" for code, loss in losses.items())
                log.info("update %d: validation %s", state.update, shown)
                score = perplexity(losses[self.run.selection_language])
                better = state.best_perplexity is None or score < state.best_perplexity
                if better:
                    state.best_update, state.best_perplexity = state.update, score
            found = self.workers.broadcast((better, state.best_update, state.best_perplexity))
        better, state.best_update, state.best_perplexity = found
        return bool(better)

    def _save(self) -> None:
        self._check_losses()
        self._collect()
        with self._aside("saving"):
            if self.workers.first:
                parts = {"weights": weights_of(self.engine.encoder), "optimiser": self.engine.optimiser.state()}
                checkpoint.save(self.work / "checkpoints", parts, {**asdict(self.state), "model": self.run.model})
                checkpoint.prune(self.work / "checkpoints", self.settings.keep_checkpoints, self.state.best_update)
            self.workers.wait()

    @contextmanager
    def _aside(self, what: str) -> Iterator[None]:
        """Time a block that is not training, and exclude it from the training speed."""
        began = time.monotonic()
        yield
        self.took[what] = time.monotonic() - began
        self.aside += self.took[what]

    def _clock(self) -> float:
        """Return a clock in seconds that runs only during training; its zero is arbitrary."""
        return time.monotonic() - self.aside

    def _resume(self) -> bool:
        """Load the newest undamaged checkpoint; return whether there was one."""
        folder, fields = self.work / "checkpoints", [*State.__dataclass_fields__]
        found = self.workers.broadcast(checkpoint.newest(folder, fields) if self.workers.first else None)
        if found is None:
            if self.workers.first:  # an attempt killed before its first checkpoint may have left metrics
                self.metrics.rewind(0, validated=False)
            return False
        self.state = State(**{name: found.meta[name] for name in fields})
        put_weights(self.engine.encoder, found.tensors("weights"), found.folder)
        self.engine.optimiser.load_state(found.tensors("optimiser"))
        if self.workers.first:
            best = self.state.best_update
            if best is not None and checkpoint.damage(folder / f"step-{best:07d}"):
                # This checkpoint is damaged, or it was deleted for a better one that is now damaged.
                log.warning("the best so far (update %d) is missing or damaged; this one now counts as the best", best)
                self.state.best_update = self.state.best_perplexity = None
            self.metrics.rewind(self.state.update, validated=self.state.best_update is not None)
            log.info("resumed from %s", found.folder)
        return True

    def _must_leave(self) -> bool:
        """Return whether the deadline is near or a signal came; on a GPU, check every GPU_LOOKS_EVERY updates only."""
        looks = GPU_LOOKS_EVERY if self.engine.device.type == "cuda" else 1
        if self.state.update % looks:
            return False
        if self.lock is not None and self.lock.lost:
            raise InputError(self.lock.path, "another process took over: this one had stopped renewing the lock")
        self.engine.pace()
        (then, before, _), now = self.looked, self._clock()
        self.looked = (now, self.state.update, 0)
        self.took["update"] = (now - then) / max(self.state.update - before, 1)
        margin = 3 * looks * self.took["update"] + self.took["validation"] + 3 * self.took["saving"] + 2.0
        return self.workers.any(self.asked_to_leave or time.time() + margin > self.deadline)
