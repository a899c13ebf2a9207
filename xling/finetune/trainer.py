"""Fine-tune at each point of a grid: evaluate on the source language's dev set after every epoch, keep the best epoch.

Each training run is a generator that yields after every step, so several runs can be interleaved. On a GPU each run has
its own CUDA stream: a step consists of hundreds of small kernels, so a single run would not use the whole GPU.
All randomness is derived from (seed, epoch, step), so the result of a run does not depend on which other runs are
active or on how often it is restarted, except for rounding differences on a GPU.
"""

import copy
import shutil
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from xling.core.errors import XlingError
from xling.core.io import read_json, read_saved, write_json
from xling.core.log import log_to_stderr
from xling.core.seeds import derive_seed
from xling.core.stats import Counts
from xling.finetune.data import Example, epoch_order, training_batches
from xling.finetune.metrics import Result
from xling.finetune.settings import Point, Settings
from xling.finetune.tasks import Material, Task, Tests, count_items, score, scored
from xling.finetune.tuner import Tuner, shared_parameters
from xling.model import checkpoint
from xling.model.encoder import Encoder

SIDE_BY_SIDE = 6  # default maximum of concurrent runs on a GPU (bench/finetune.py)
ROOM = 3 << 30  # GPU bytes for one run's activations and temporary buffers
KEPT_COPIES = 5  # weight-sized copies in memory: weights, Adam's two moments, gradients, weights of the best epoch
SAVE_SECONDS = 600  # minimum time between two checkpoints; at the paper's model size, one takes seconds to write
Value = TypeVar("Value")
InTurn = Generator[None, None, Value]  # a generator that yields after each step and finally returns a value


@dataclass
class Course:
    """The training history: the mean loss and the dev score of each finished epoch."""

    losses: list[float]
    dev: list[float]

    @property
    def best(self) -> int:
        """Return the epoch with the best dev score, counted from 1; ties go to the earliest."""
        return 1 + int(np.argmax(self.dev))


def rate_scale(step: int, steps: int, settings: Settings) -> float:
    """Return the learning rate at a step (counted from 0) as a fraction of its peak.

    With the schedule "fixed" it is always 1. Otherwise it rises linearly to 1 and then falls linearly; it would reach 0
    at the step after the last.
    """
    if settings.schedule == "fixed":
        return 1.0
    warmup = round(settings.warmup_share * steps)
    if step < warmup:
        return (step + 1) / warmup
    return (steps - step) / (steps - warmup)


def lanes(encoder: Encoder, wanted: int | None = None) -> list["torch.cuda.Stream | None"]:
    """Return one CUDA stream for each run that may be active at once.

    `wanted` is their number; by default it is what fits in the memory of the GPU, at most SIDE_BY_SIDE. On a CPU, which
    has no streams and gains nothing from several runs, each entry is None and the default is one run.
    """
    device = next(encoder.parameters()).device
    if wanted is not None and wanted < 1:
        raise XlingError(f"--side-by-side {wanted}: expected at least 1")
    if device.type == "cpu":
        return [None] * (wanted or 1)
    if wanted is None:
        weights = sum(parameter.numel() * parameter.element_size() for parameter in encoder.parameters())
        free = torch.cuda.mem_get_info(device)[0]
        wanted = max(1, min(SIDE_BY_SIDE, free // (KEPT_COPIES * weights + ROOM)))
    torch.cuda.synchronize()  # the copy of the weights to the GPU must finish before other streams read them
    return [torch.cuda.Stream(device) for _ in range(wanted)]  # type: ignore[no-untyped-call]


def in_turn(works: Iterable[InTurn[Value]], streams: Sequence["torch.cuda.Stream | None"]) -> list[Value]:
    """Run generators and return their results in order.

    At most one generator per stream is active. The active generators take turns, one step at a time. A training
    step queues work on its stream without waiting for it, so steps of several generators overlap on the GPU.
    """
    waiting, free = enumerate(works), list(streams)
    running: deque[tuple[int, InTurn[Value], torch.cuda.Stream | None]] = deque()
    found: dict[int, Value] = {}
    while True:
        while free and (started := next(waiting, None)):
            running.append((*started, free.pop()))
        if not running:
            return [found[number] for number in sorted(found)]
        number, work, stream = running.popleft()
        try:
            with torch.cuda.stream(stream) if stream else nullcontext():
                next(work)
            running.append((number, work, stream))
        except StopIteration as end:
            found[number] = end.value
            free.append(stream)


def resumed(done: Path, work: Callable[[Path], InTurn[Result]]) -> InTurn[Result]:
    """Return the result saved in the file `done`; if there is none, do the work and save its result there.

    `work` receives a folder in which to keep the files that it needs to resume; the folder is deleted at the end.
    """
    folder, result = done.with_suffix(""), read_saved(done)
    if result is None:
        write_json(done, (yield from work(folder)))
        result = read_json(done)
    shutil.rmtree(folder, ignore_errors=True)
    return result


def tune_point(encoder: Encoder, material: Material, tests: Tests, point: Point, work: Path) -> InTurn[Result]:
    """Train and test a copy of the encoder at one grid point, reusing files that an earlier attempt saved in `work`."""

    def tune(folder: Path) -> InTurn[Result]:
        frozen = set(encoder.parameters()) - set(shared_parameters(encoder).values())
        own = copy.deepcopy(encoder, {id(kept): kept for kept in frozen})  # all copies use the same frozen parameters
        found = yield from train_and_test(Tuner(own, material, point), tests, folder)
        return {**asdict(point), **found, "dev_score": found["dev"][found["best_epoch"] - 1]}

    return resumed(work / f"point-{point.number}.json", tune)


def train_and_test(tuner: Tuner, tests: Tests, folder: Path) -> InTurn[Result]:
    """Train for all epochs, then test the weights of the best epoch in every language."""
    course, found = (yield from train(tuner, folder)), {}
    for code, (index, examples) in tests.items():
        found[code] = scored(tuner.task, _counts(tuner, examples, index))
        yield
    return {"losses": course.losses, "dev": course.dev, "best_epoch": course.best, "test": found}


def train(tuner: Tuner, folder: Path) -> InTurn[Course]:
    """Train for all epochs, resuming from the newest checkpoint in `folder`, then load the best epoch's weights."""
    material, folder = tuner.material, folder / "states"
    course, best, saved = Course([], []), tuner.weights(), time.monotonic()
    if newest := checkpoint.newest(folder, ("losses", "dev")):
        course, best = Course(newest.meta["losses"], newest.meta["dev"]), newest.tensors("best")
        tuner.put(newest.tensors("weights"), newest.tensors("optimiser"))
    for epoch in range(len(course.dev), epochs := material.settings.epochs):
        yield from train_epoch(tuner, epoch)
        course.losses.append(tuner.mean_loss())
        main_measure, *_ = score(tuner.task, _counts(tuner, material.dev, material.language)).values()
        course.dev.append(main_measure)
        if course.best == len(course.dev):
            best = tuner.weights()
        if epoch + 1 < epochs and time.monotonic() - saved >= SAVE_SECONDS:
            save(tuner, best, course, folder)
            saved = time.monotonic()
        about = tuner.task.name, tuner.point.number, epoch + 1, epochs, course.losses[-1], course.dev[-1]
        log_to_stderr(__name__).info("%s point %d epoch %d of %d: loss %.4f, dev %.2f", *about)
    tuner.put(best)
    return course


def train_epoch(tuner: Tuner, epoch: int) -> InTurn[None]:
    """Train on the batches of one epoch, then yield until the GPU has finished the last batch."""
    material, size = tuner.material, tuner.point.batch
    settings, seed, per_epoch = material.settings, material.seed, material.steps(size)
    order = epoch_order(len(material.train), settings.examples_per_epoch or 0, seed, epoch)
    for place, numbers in enumerate(training_batches(material.lengths, order, size, seed, epoch)):
        step = epoch * per_epoch + place
        scale = rate_scale(step, settings.epochs * per_epoch, settings)
        tuner.step([material.train[number] for number in numbers], scale, derive_seed("dropout", seed, step))
        yield
    if tuner.device.type == "cuda":
        end = torch.cuda.Event()  # type: ignore[no-untyped-call]
        end.record()
        while not end.query():  # type: ignore[no-untyped-call]
            yield


def save(tuner: Tuner, best: dict[str, torch.Tensor], course: Course, folder: Path) -> None:
    """Save a checkpoint after an epoch, and delete the previous one."""
    meta = {"update": len(course.dev), **asdict(course)}
    checkpoint.save(folder, {"weights": tuner.weights(), "best": best, "optimiser": tuner.moments()}, meta)
    checkpoint.prune(folder, 1, None)


def _counts(tuner: Tuner, examples: Sequence[Example], language: int) -> Counts:
    return count_items(tuner.task, examples, tuner.predict(examples, language))


def baselines(task: Task, train: Sequence[Example], tests: Tests) -> Result:
    """Return the scores of a baseline that uses the training labels but not the text."""
    guess = task.guess(train)
    found = {
        code: score(task, count_items(task, examples, [guess(example) for example in examples]))
        for code, (_, examples) in tests.items()
    }
    return {"what": task.baseline, "measures": found}
