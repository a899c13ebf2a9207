"""Fine-tuning at one point of the grid: epochs, English dev after each, the best epoch by it.

Every finished epoch is saved. Whatever is random belongs to (seed, epoch, step), so a restarted job goes on exactly as
the killed one would have.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from xling.core.log import log_to_stderr
from xling.core.seeds import derive_seed
from xling.finetune.batches import epoch_order, steps_per_epoch, training_batches
from xling.finetune.data import Example
from xling.finetune.settings import Point, Settings
from xling.finetune.task import Task, count_items, main_score
from xling.finetune.tuner import Tuner, shared_parameters
from xling.model.encoder import Encoder
from xling.pretrain import checkpoint


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
    """Train all epochs, going on from the newest saved in a folder, and put the best epoch's weights in place."""
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
    return main_score(material.task, count_items(material.task, material.dev, predictions))


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
