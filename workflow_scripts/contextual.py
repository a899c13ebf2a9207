"""The jobs of Figures 5 and 8: one for every source encoder, and what each of them reads (section 5.1.2)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from workflow_scripts.flags import expected_run
from workflow_scripts.grid import MONO, pair_languages
from workflow_scripts.identity import hashed
from workflow_scripts.study import Study

TASKS = ("ner", "parsing")
DEFAULT, FLOOR = "default", "untrained"


@dataclass(frozen=True)
class Job:
    """One source encoder with all languages that are tested from it; `models` has the source language first."""

    name: str
    seed: int
    models: dict[str, str]
    ways: tuple[str, ...]
    untrained: bool = False

    @property
    def targets(self) -> list[str]:
        """The languages tested beside the source."""
        return list(self.models)[1:]


@dataclass(frozen=True)
class Contextual:
    """Figures 5 and 8 of a study: model s of English with model s of the other language, for every seed s."""

    study: Study

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """All jobs by name; none where the study lacks the models or the tasks."""
        seeds = self.study.config["study"]["seeds"] if self.targets() and self.tasks() else []
        return {job.name: job for seed in seeds for job in self._jobs(seed)}

    def _jobs(self, seed: int) -> Iterator[Job]:
        """Yield monolingual encoders with a map, Default without a map and with one, and what each began as: its floor.

        As in Table 1 the untrained Default, which has the vocabulary of both languages, is of the first seed alone.
        """
        source, targets = self.study.config["study"]["source"], self.targets()
        alone = {code: f"{code}.{MONO}.s{seed}" for code in (source, *targets)}
        yield Job(alone[source], seed, alone, ("aligned",))
        yield Job(f"{source}.{FLOOR}.s{seed}", seed, alone, ("aligned",), untrained=True)
        for code in targets:
            model = f"{source}-{code}.{DEFAULT}.s{seed}"
            if model in self.study.models:
                yield Job(model, seed, {source: model, code: model}, ("plain", "aligned"))
                if seed == self.study.config["study"]["seeds"][0]:
                    yield self._floor(model, seed, code)

    def _floor(self, model: str, seed: int, code: str) -> Job:
        source = self.study.config["study"]["source"]
        name = f"{source}-{code}.{FLOOR}.s{seed}"
        return Job(name, seed, {source: model, code: model}, ("plain", "aligned"), untrained=True)

    def targets(self) -> list[str]:
        """Return the columns of Table 1 whose languages have monolingual models."""
        config = self.study.config["study"]
        columns = [pair_languages(pair)[1] for pair in config["pairs"]]
        alone = config["languages"]
        return [code for code in columns if code in alone] if config["source"] in alone else []

    def tasks(self) -> list[str]:
        """Return the study's tasks that these figures show."""
        return [task for task in TASKS if task in self.study.config["study"]["tasks"]]

    def data(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the data sets of a job: the test sets that share a training set stand together."""
        sets: dict[str, dict[str, Any]] = {}
        for task in self.tasks():
            for code in self.jobs[name].targets:
                train, test = self._names(task, code)
                own = sets.setdefault(f"{task}.{train}", self._english(task, train))
                own["test"][code] = self._file(task, code, test, "test")
        return sets

    def data_files(self, name: str) -> list[str]:
        """Return every task file that a job reads."""
        return [path for own in self.data(name).values() for path in _paths(own)]

    def _names(self, task: str, code: str) -> tuple[str, str]:
        if task == "parsing":
            return "ud", "ud"
        ner = self.study.config["pairs"][f"{self.study.config['study']['source']}-{code}"]["ner"]
        return ner["train"], ner["test"]

    def _english(self, task: str, name: str) -> dict[str, Any]:
        source = self.study.config["study"]["source"]
        train, dev, test = (self._file(task, source, name, split) for split in ("train", "dev", "test"))
        return {"task": task, "train": train, "dev": dev, "test": {source: test}}

    def _file(self, task: str, code: str, name: str, split: str) -> str:
        return str(self.study.results / f"tasks/{task}/{code}.{name}.{split}.jsonl")

    def results(self) -> dict[str, Path]:
        """Return the result of every job."""
        return {name: self.study.results / f"contextual/{name}.json" for name in self.jobs}

    def records(self) -> list[Path]:
        """Return the records of Figures 5 and 8, where the study has what they need."""
        return [self.study.results / f"records/figure{number}.csv" for number in (5, 8)] if self.jobs else []

    def links(self, code: str) -> Path:
        """Return the links between the words of the source language and another's."""
        return self.study.results / f"links/{self.study.config['study']['source']}-{code}.txt.zst"

    def model_files(self, name: str) -> list[Path]:
        """Return what a job reads of its encoders."""
        job = self.jobs[name]
        parts = ["run.json"] if job.untrained else ["run.json", "model.safetensors", "model.json"]
        return [self.study.results / f"models/{m}/{part}" for m in dict.fromkeys(job.models.values()) for part in parts]

    def vocabularies(self, name: str) -> dict[str, Path]:
        """Return the vocabulary directory of each language of a job."""
        models = self.jobs[name].models
        return {code: self.study.results / f"vocab/{self.study.vocabulary(model)}" for code, model in models.items()}

    def options(self) -> str:
        """Return how task layers are built and trained, as JSON."""
        return json.dumps(self.study.config["align"]["contextual"], sort_keys=True)

    def biaffine(self) -> str:
        """Return the sizes of the parser, as JSON."""
        return json.dumps(self.study.config["tasks"]["parsing"]["biaffine"], sort_keys=True)

    def plan(self, name: str) -> str:
        """Return everything that a job reads and does, as JSON."""
        job, parallel, vocabularies = self.jobs[name], self.parallel(name), self.vocabularies(name)
        languages = {
            code: {
                "encoder": str(self.study.results / f"models/{model}"),
                "vocab": str(vocabularies[code]),
                "parallel": str(parallel[code]),
                **({"links": str(self.links(code))} if code in job.targets else {}),
            }
            for code, model in job.models.items()
        }
        plan = {
            "name": name,
            "source": next(iter(job.models)),
            "languages": languages,
            "untrained": job.untrained,
            "ways": job.ways,
            "options": self.study.config["align"]["contextual"],
            "biaffine": self.study.config["tasks"]["parsing"]["biaffine"],
            "data": self.data(name),
            "seed": job.seed,
            "config": self.config_hash(name),
        }
        return json.dumps(plan, sort_keys=True)

    @property
    def revision(self) -> list[int]:
        """The revisions of the three stages that make these numbers."""
        return self.study.identity.revision("contextual", "align", "finetune")

    def config_hash(self, name: str) -> str:
        """Return the hash that a job's result carries: of its encoders, its texts, its data and its options."""
        job, known = self.jobs[name], self.study.identity
        decides = {
            "encoders": {code: self._encoder(job, model) for code, model in job.models.items()},
            "parallel": {code: known.parallel(code) for code in job.models},
            "data": {key: [known.prepared(path) for path in _paths(own)] for key, own in self.data(name).items()},
            "options": [self.options(), self.biaffine(), job.ways, job.untrained, job.seed],
            "revision": self.revision,
        }
        return hashed(decides)

    def _encoder(self, job: Job, model: str) -> str:
        known = self.study.identity
        return known.untrained(self.study.run(model)) if job.untrained else known.model(model)

    def expected(self, name: str) -> str:
        """Return what a job's encoders must be."""
        job, folder = self.jobs[name], self.study.results / "models"
        models = dict.fromkeys(job.models.values())
        return " ".join(expected_run(folder / m / "run.json", self.study.run(m), job.untrained) for m in models)

    def parallel(self, name: str) -> dict[str, Path]:
        """Return the parallel sentences of a job's languages."""
        return {code: self.study.results / f"parallel/{code}.txt" for code in self.jobs[name].models}


def _paths(data: dict[str, Any]) -> list[str]:
    return [data["train"], data["dev"], *data["test"].values()]
