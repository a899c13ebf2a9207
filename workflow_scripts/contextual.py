"""The jobs of Figures 5 and 8: one for every source encoder, with its inputs (section 5.1.2)."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.files import data_paths
from workflow_scripts.grid import MONO, pair_languages

if TYPE_CHECKING:
    from workflow_scripts.study import Study

TASKS = ("ner", "parsing")
DEFAULT, FLOOR = "default", "untrained"


@dataclass(frozen=True)
class Job:
    """One source encoder and all languages that it is tested on; `models` has the source language first."""

    name: str
    seed: int
    models: dict[str, str]
    ways: tuple[str, ...]
    untrained: bool = False

    @property
    def targets(self) -> list[str]:
        """The languages that are tested, except the source language."""
        return list(self.models)[1:]


@dataclass(frozen=True)
class Contextual:
    """Figures 5 and 8 of a study: models of the source language are paired with models of the same seed."""

    study: "Study"

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """All jobs by name; empty if the study lacks the models or the tasks.

        Monolingual encoders use a map, Default models also none. Each has a floor: the same encoder, untrained.
        """
        source, found = self.study.source, []
        for seed in self.study.config["study"]["seeds"] if self.targets() and self.tasks() else []:
            alone = {code: f"{code}.{MONO}.s{seed}" for code in (source, *self.targets())}
            found.append(Job(alone[source], seed, alone, ("aligned",)))
            found.append(Job(f"{source}.{FLOOR}.s{seed}", seed, alone, ("aligned",), untrained=True))
            for code in self.targets():
                model, both = f"{source}-{code}.{DEFAULT}.s{seed}", ("plain", "aligned")
                if model in self.study.models:
                    models = {source: model, code: model}
                    found.append(Job(model, seed, models, both))
                    found.append(Job(f"{source}-{code}.{FLOOR}.s{seed}", seed, models, both, untrained=True))
        return {job.name: job for job in found}

    def targets(self) -> list[str]:
        """Return the target languages of Table 1 that have monolingual models."""
        columns = [pair_languages(pair)[1] for pair in self.study.config["study"]["pairs"]]
        return [code for code in columns if code in self.study.compared]

    def tasks(self) -> list[str]:
        """Return the study's tasks that these figures show."""
        return [task for task in TASKS if task in self.study.config["study"]["tasks"]]

    def data(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the data sets of a job; each entry has one training set and all test sets that go with it."""
        sets: dict[str, dict[str, Any]] = {}
        for task in self.tasks():
            for code in self.jobs[name].targets:
                data = {"task": task, **self.study.task_data(task, f"{self.study.source}-{code}")}
                key = f"{task}.{Path(data['train']).name.split('.')[1]}"
                sets.setdefault(key, data)["test"][code] = data["test"][code]
        return sets

    def results(self) -> dict[str, Path]:
        """Return the result file of every job."""
        return {name: self.study.results / f"contextual/{name}.json" for name in self.jobs}

    def records(self) -> list[Path]:
        """Return the records of Figures 5 and 8, or an empty list if there are no jobs."""
        return [self.study.results / f"records/figure{number}.csv" for number in (5, 8)] if self.jobs else []

    def links(self, code: str) -> Path:
        """Return the file of word links between the parallel sentences of the source language and another language."""
        return self.study.results / f"links/{self.study.source}-{code}.txt.zst"

    def model_files(self, name: str) -> list[Path]:
        """Return the encoder files that a job reads."""
        return self.study.encoder_files(self.jobs[name].models.values(), self.jobs[name].untrained)

    def expected(self, name: str) -> str:
        """Return the arguments of `workflow_scripts.expect`, which check a job's encoders by their hashes."""
        return self.study.expected(self.jobs[name].models.values(), self.jobs[name].untrained)

    def texts(self, name: str) -> list[str]:
        """Return every vocabulary, text, link and task file that a job reads."""
        plan = self.plan(name)
        found = []
        for files in plan["languages"].values():
            found += [f"{files['vocab']}/vocab.json", *(files[key] for key in ("parallel", "links") if key in files)]
        return found + [path for data in plan["data"].values() for path in data_paths(data)]

    @property
    def revision(self) -> list[int]:
        """The code revisions of the three stages that these results depend on."""
        return self.study.identity.revision("contextual", "align", "finetune")

    def plan(self, name: str) -> dict[str, Any]:
        """Return the inputs and options of a job, and the hash to store in its result."""
        job, languages = self.jobs[name], {}
        for code, model in job.models.items():
            folders = {"encoder": self.study.model_file(model).parent, "vocab": self.study.vocabulary_folder(model)}
            links = {"links": self.links(code)} if code in job.targets else {}
            read = folders | {"parallel": self.study.parallel(code)} | links
            languages[code] = {key: str(path) for key, path in read.items()}
        return {
            "name": name,
            "source": self.study.source,
            "languages": languages,
            "untrained": job.untrained,
            "ways": job.ways,
            "options": self.study.config["align"]["contextual"],
            "biaffine": self.study.config["tasks"]["parsing"]["biaffine"],
            "data": self.data(name),
            "seed": job.seed,
            "config": self.study.identity("contextual", name),
        }
