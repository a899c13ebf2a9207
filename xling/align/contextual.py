"""Contextual transfer (section 5.1.2, Figures 5 and 8): task layers on layer i of one encoder, tested on others.

For every layer, data set and way of showing states, task layers are trained on the source language, the best epoch by
its dev set is kept, and each language is tested. `aligned`: all states normalised, those of other languages mapped onto
the source's. `plain`: states as they are, which makes sense where one encoder reads both languages. Finished trainings
are kept in a work folder, so that a killed job goes on where it was.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from xling.align.contextual_options import Options
from xling.align.contextual_scores import Result, pool
from xling.align.frozen import (
    AlignedView,
    Fitted,
    FrozenTuner,
    Linked,
    Reader,
    Side,
    TaskLayers,
    fit_map,
    word_states,
)
from xling.align.mapping import fit_normaliser
from xling.core.io import read_json, write_json
from xling.core.log import log_to_stderr
from xling.core.stats import LEVEL
from xling.finetune.data import Example
from xling.finetune.settings import Point
from xling.finetune.tasks import Task, count_items, scored
from xling.finetune.trainer import Material, train_point

Way = Literal["plain", "aligned"]


@dataclass(frozen=True)
class Language:
    """A language of a job: its reader, its side of the parallel sentences, and their links with the source's."""

    reader: Reader
    sentences: Sequence[Example]
    linked: Linked | None = None  # None for the source itself


@dataclass(frozen=True)
class DataSet:
    """A task's data: the source to train and select on; test sets are used only in the final evaluation."""

    name: str
    task: Task
    train: Sequence[Example]
    dev: Sequence[Example]
    tests: Mapping[str, Sequence[Example]]


@dataclass(frozen=True)
class Job:
    """All trainings on one source encoder; `languages` has the source first."""

    name: str
    languages: Mapping[str, Language]
    data: Sequence[DataSet]
    ways: Sequence[Way]
    options: Options
    longest: int
    seed: int

    def units(self) -> Iterator[tuple[int, DataSet, Way]]:
        """Yield every training of the job, layer by layer."""
        for layer in self.options.layers:
            for data in self.data:
                for way in self.ways:
                    yield layer, data, way


def fit_layer(job: Job, layer: int) -> dict[str, Fitted]:
    """Return each language's normaliser at a layer, and the map onto the source of every other one."""
    source, *others = job.languages
    first = job.languages[source]
    normaliser, states = fit_normaliser(word_states(first.reader, first.sentences, layer, job.longest))
    fitted = {source: Fitted(normaliser)}
    for code in others:
        own = job.languages[code]
        assert own.linked is not None  # noqa: S101 (only the source has no links)
        fitted[code] = fit_map(states, word_states(own.reader, own.sentences, layer, job.longest), own.linked)
    return fitted


def make_sides(job: Job, fitted: Mapping[str, Fitted]) -> dict[str, Side]:
    """Return every language normalised and mapped, or as its encoder leaves it where nothing is fitted."""
    sides = {}
    for code, own in job.languages.items():
        device, fit = next(own.reader.encoder.parameters()).device, fitted.get(code)
        sides[code] = Side(own.reader, AlignedView(fit.normaliser, fit.matrix, device) if fit else None)
    return sides


def train_unit(job: Job, layer: int, data: DataSet, way: Way, sides: Mapping[str, Side], folder: Path) -> Result:
    """Train task layers on one layer of the first side, select by its dev set, test every language."""
    options, point = job.options, Point(layer, job.options.batch, job.options.lr, job.options.lr)
    sizes = TaskLayers(options.task_layers, options.heads, options.feedforward, options.dropout)
    tuner = FrozenTuner(list(sides.values()), layer, sizes, data.task, point, job.seed, job.longest)
    material = Material(data.task, options.settings, 0, job.longest, data.train, data.dev, job.seed)
    course = train_point(tuner, material, point, folder)
    scores = {}
    for number, code in enumerate(sides):
        if code in data.tests:
            test = data.tests[code]
            found = scored(data.task, count_items(data.task, test, tuner.predict(test, number)))
            scores[code] = found | pool(data.task.name, [found], way, code, layer)
    return {"losses": course.losses, "dev": course.dev, "best_epoch": course.best, "scores": scores}


def run_job(job: Job, work: Path) -> list[Result]:
    """Return the result of every training, from the work folder where an earlier attempt finished it."""
    log, units = log_to_stderr(__name__), list(job.units())
    fits: dict[int, dict[str, Fitted]] = {}
    results = []
    for number, (layer, data, way) in enumerate(units, start=1):
        done = work / f"{data.name}.layer-{layer}.{way}.json"
        if not done.is_file():
            log.info("%s: %s on layer %d, %s (%d of %d)", job.name, data.name, layer, way, number, len(units))
            if way == "aligned" and layer not in fits:
                fits = {layer: fit_layer(job, layer)}  # of one layer at a time: the states are large
            fitted = fits[layer] if way == "aligned" else {}
            folder = done.with_suffix("")
            found = train_unit(job, layer, data, way, make_sides(job, fitted), folder)
            cosines = {code: fit.cosine for code, fit in fitted.items() if fit.matrix is not None}
            about = {"data": data.name, "task": data.task.name, "layer": layer, "way": way, "map_cosine": cosines}
            write_json(done, about | found)
            shutil.rmtree(folder, ignore_errors=True)
        results.append(read_json(done))
    return results


def describe(job: Job) -> Result:
    """Return what a job's result says of its making and its data."""
    sizes = {
        data.name: {"train": len(data.train), "dev": len(data.dev)} | {c: len(t) for c, t in data.tests.items()}
        for data in job.data
    }
    links = {code: len(own.linked.source) for code, own in job.languages.items() if own.linked is not None}
    source = next(iter(job.languages))
    about = {"source": source, "options": asdict(job.options), "seed": job.seed, "ways": list(job.ways)}
    sentences = len(job.languages[source].sentences)
    return about | {"sizes": sizes, "sentences": sentences, "links": links, "level": LEVEL}
