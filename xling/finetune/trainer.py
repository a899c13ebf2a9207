"""Fine-tuning at the points of a grid: epochs, the source language's dev set after each, the best epoch by it.

Every finished epoch is saved. Whatever is random belongs to (seed, epoch, step), so a restarted job continues exactly
as the killed one would have.
"""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from xling.core.io import read_json, write_json
from xling.core.log import log_to_stderr
from xling.core.seeds import derive_seed
from xling.finetune.batches import epoch_order, steps_per_epoch, training_batches
from xling.finetune.data import Example
from xling.finetune.settings import Point, Settings
from xling.finetune.task import Result, Task, count_items, score, scored
from xling.finetune.tuner import Tuner, shared_parameters
from xling.model import checkpoint
from xling.model.encoder import Encoder


@dataclass(frozen=True)
class Material:
    """All that training may see: one language's training and dev sets, and how to train."""

    task: Task
    settings: Settings
    language: int
    longest: int
    train: Sequence[Example]
    dev: Sequence[Example]
    seed: int


@dataclass(frozen=True)
class Target:
    """A language's test set; `index` is the language's number in the encoder."""

    language: str
    index: int
    examples: Sequence[Example]


@dataclass
class Course:
    """How training went so far: the mean loss and the dev score of each epoch."""

    losses: list[float]
    dev: list[float]

    @property
    def best(self) -> int:
        """Return the best epoch by dev, counted from 1; the first of equals."""
        return 1 + int(np.argmax(self.dev))


def rate_scale(step: int, steps: int, settings: Settings) -> float:
    """Return the share of the peak learning rate at a step counted from 0.

    Fixed, or rising to 1 over the warm-up steps and falling linearly, to 0 where a further step would be.
    """
    if settings.schedule == "fixed":
        return 1.0
    warmup = round(settings.warmup_share * steps)
    if step < warmup:
        return (step + 1) / warmup
    return (steps - step) / (steps - warmup)


def initial_weights(encoder: Encoder) -> dict[str, torch.Tensor]:
    """Return a copy of what fine-tuning changes in an encoder, to start every point from the same weights."""
    return {name: parameter.detach().cpu().clone() for name, parameter in shared_parameters(encoder).items()}


def make_tuner(encoder: Encoder, start: dict[str, torch.Tensor], material: Material, point: Point) -> Tuner:
    """Return a tuner of the encoder with its weights as pretraining left them."""
    with torch.no_grad():
        for name, parameter in shared_parameters(encoder).items():
            parameter.copy_(start[name])
    settings = material.settings
    steps = settings.epochs * steps_per_epoch(len(material.train), settings.examples_per_epoch or 0, point.batch)
    return Tuner(encoder, material.task, point, material.language, material.seed, material.longest, steps)


def train_point(tuner: Tuner, material: Material, point: Point, folder: Path) -> Course:
    """Train all epochs, resuming from the newest saved in a folder, and put the best epoch's weights in place."""
    log, settings = log_to_stderr(__name__), material.settings
    course = resume(tuner, folder)
    for epoch in range(len(course.dev), settings.epochs):
        train_epoch(tuner, material, point, epoch)
        course.losses.append(tuner.mean_loss())
        course.dev.append(dev_score(tuner, material))
        save(tuner, course, folder)
        log.info(
            "%s point %d epoch %d of %d: loss %.4f, dev %.2f",
            *(material.task.name, point.number, epoch + 1, settings.epochs, course.losses[-1], course.dev[-1]),
        )
    best = checkpoint.Checkpoint(folder / f"step-{course.best:07d}", {})
    tuner.put_weights(best.tensors("weights"))
    return course


def train_epoch(tuner: Tuner, material: Material, point: Point, epoch: int) -> None:
    """Train on the batches of one epoch."""
    settings, seed, count = material.settings, material.seed, len(material.train)
    per_epoch = steps_per_epoch(count, settings.examples_per_epoch or 0, point.batch)
    lengths = np.array([example.length for example in material.train])
    order = epoch_order(count, settings.examples_per_epoch or 0, seed, epoch)
    for place, numbers in enumerate(training_batches(lengths, order, point.batch, seed, epoch)):
        step = epoch * per_epoch + place
        examples = [material.train[number] for number in numbers]
        scale = rate_scale(step, settings.epochs * per_epoch, settings)
        tuner.step(examples, scale, derive_seed("dropout", seed, step))


def dev_score(tuner: Tuner, material: Material) -> float:
    """Return the score on the training language's dev set."""
    predictions = tuner.predict(material.dev, material.language)
    found = score(material.task, count_items(material.task, material.dev, predictions))
    return next(iter(found.values()))  # the measure that decides


def save(tuner: Tuner, course: Course, folder: Path) -> None:
    """Save an epoch; kept are the newest and the best."""
    meta = {"update": len(course.dev), "losses": course.losses, "dev": course.dev}
    checkpoint.save(folder, {"weights": tuner.weights(), "optimiser": tuner.moments()}, meta)
    checkpoint.prune(folder, 1, course.best)


def resume(tuner: Tuner, folder: Path) -> Course:
    """Put the newest saved epoch into a tuner and return how training had gone, if the best epoch is whole too."""
    newest = checkpoint.newest(folder)
    course = Course(newest.meta["losses"], newest.meta["dev"]) if newest else Course([], [])
    if newest is None or checkpoint.damage(folder / f"step-{course.best:07d}"):
        shutil.rmtree(folder, ignore_errors=True)
        return Course([], [])
    tuner.put_weights(newest.tensors("weights"))
    tuner.put_moments(newest.tensors("optimiser"))
    return course


def run_points(
    encoder: Encoder, material: Material, tests: Sequence[Target], points: Sequence[Point], work: Path
) -> list[Result]:
    """Return the result of each point, from the work directory where an earlier attempt finished it."""
    start = initial_weights(encoder)
    results = []
    for point in points:
        folder, done = work / f"point-{point.number}", work / f"point-{point.number}.json"
        if not done.is_file():
            tuner = make_tuner(encoder, start, material, point)
            course = train_point(tuner, material, point, folder)
            found = {test.language: evaluate(tuner, material.task, test) for test in tests}
            best = {"best_epoch": course.best, "dev_score": course.dev[course.best - 1]}
            write_json(done, {**asdict(point), "losses": course.losses, "dev": course.dev, **best, "test": found})
        shutil.rmtree(folder, ignore_errors=True)
        results.append(read_json(done))
    return results


def evaluate(tuner: Tuner, task: Task, test: Target) -> Result:
    """Return the scores of a test set and the counts of every item of it."""
    return scored(task, count_items(task, test.examples, tuner.predict(test.examples, test.index)))


def baselines(task: Task, train: Sequence[Example], tests: Sequence[Target]) -> Result:
    """Return what one would score without reading the text, knowing only the training labels."""
    guess = task.guess(train)
    found = {
        test.language: score(task, count_items(task, test.examples, [guess(example) for example in test.examples]))
        for test in tests
    }
    return {"what": task.baseline, "measures": found}
