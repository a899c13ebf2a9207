"""One job: some points of a task's grid for one encoder, with everything that was measured."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.core.errors import InputError, XlingError
from xling.core.io import read_json, write_json
from xling.finetune.data import Example
from xling.finetune.settings import Point, Settings, grid_points
from xling.finetune.task import Task, count_items, score
from xling.finetune.trainer import Material, initial_weights, make_tuner, train_point
from xling.finetune.tuner import Tuner
from xling.model.encoder import Encoder

Result = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """A language's test set; `index` is the language's number in the encoder."""

    language: str
    index: int
    examples: Sequence[Example]


def choose_points(text: str, settings: Settings) -> list[Point]:
    """Return the points of the grid that `0,1,5` names, or all."""
    points = grid_points(settings)
    if text == "all":
        return points
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise XlingError(f"--points {text}: expected numbers with commas between, or all") from None
    if len(set(numbers)) != len(numbers) or not set(numbers) <= set(range(len(points))):
        raise XlingError(f"--points {text}: expected different numbers from 0 to {len(points) - 1}")
    return [points[number] for number in numbers]


def claim(work: Path, identity: Mapping[str, Any]) -> None:
    """Make a directory this job's own, or refuse one in which another job has begun."""
    path = work / "job.json"
    known = read_json(path) if path.is_file() else None
    if known is None:
        write_json(path, identity)
        return
    for key in sorted(known.keys() | identity.keys()):
        if known.get(key) != identity.get(key):
            problem = f"this directory belongs to another job: {key} is {known.get(key)!r} there, {identity.get(key)!r}"
            raise InputError(path, f"{problem} here", fix="give another --work, or delete it to start afresh")


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


def scored(task: Task, counts: NDArray[np.int64]) -> Result:
    """Return all measures, and a line of numbers a column: what a bootstrap needs."""
    columns = zip(task.columns, counts.T.tolist(), strict=True)
    items = {name: " ".join(map(str, column)) for name, column in columns}
    return {"measures": score(task, counts), "items": items, "columns": list(task.columns)}
