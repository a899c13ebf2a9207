"""Zero-shot transfer of a study (Table 1, Figure 3): which encoders are fine-tuned, in which jobs, on which files."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from workflow_scripts.flags import expected_run
from workflow_scripts.grid import Model, domain_of, pair_languages, setting_of, table_cells, vocabulary_kind
from workflow_scripts.identity import hashed
from workflow_scripts.rows import settings_rows
from workflow_scripts.runs import deciding, resolve_run
from workflow_scripts.study import SPLITS, Study
from xling.finetune.settings import Point, grid_points, read_settings

TREES = "ud"
UNTRAINED = {"updates": 0, "warmup": 0}


@dataclass(frozen=True)
class Floor:
    """An untrained encoder: the floor of all settings of a pair that have this kind of vocabulary."""

    pair: str
    kind: str
    domain: str
    seed: int

    @property
    def name(self) -> str:
        """The public name, as en-fr.untrained-joint.s1."""
        return f"{self.pair}.untrained-{self.kind}.s{self.seed}"


@dataclass(frozen=True)
class Transfer:
    """Encoders, jobs and files of fine-tuning."""

    study: Study

    @cached_property
    def folder(self) -> Path:
        """The folder of all scores, one below it for each encoder."""
        return self.study.results / "transfer"

    @cached_property
    def models(self) -> dict[str, Model]:
        """The models of Table 1, every seed, by name."""
        cells = set(table_cells(self.study.config))
        return {name: model for name, model in self.study.models.items() if (model.languages, model.setting) in cells}

    @cached_property
    def floors(self) -> dict[str, Floor]:
        """The untrained encoders by name: one for each pair and kind of vocabulary, with the study's first seed.

        Wiki-CC's vocabulary is of another text but of the same kind: the floor is that of the encyclopaedia's, where
        the study has a model of it.
        """
        kinds: dict[tuple[str, str], set[str]] = {}
        for model in self.models.values():
            domain = domain_of(self.study.config, model, model.languages[-1])
            kinds.setdefault((_pair(model), vocabulary_kind(self.study.config, model)), set()).add(domain)
        seed = self.study.config["study"]["seeds"][0]
        made = [Floor(*key, "wiki" if "wiki" in domains else min(domains), seed) for key, domains in kinds.items()]
        return {floor.name: floor for floor in made}

    @cached_property
    def encoders(self) -> list[str]:
        """Names of everything that is fine-tuned."""
        return [*self.models, *self.floors]

    @property
    def tasks(self) -> list[str]:
        """The study's tasks."""
        return list(self.study.config["study"]["tasks"])

    @property
    def together(self) -> list[str]:
        """Tasks that share one job of an encoder."""
        return [task for task in self.tasks if self._task(task)["points_per_job"] is None]

    @property
    def apart(self) -> list[str]:
        """Tasks with jobs of their own."""
        return [task for task in self.tasks if task not in self.together]

    def floor_of(self, name: str) -> str:
        """Return the floor beside a model."""
        model = self.models[name]
        wanted = (_pair(model), vocabulary_kind(self.study.config, model))
        return next(floor.name for floor in self.floors.values() if (floor.pair, floor.kind) == wanted)

    def pair(self, name: str) -> str:
        """Return an encoder's pair of languages."""
        return self.floors[name].pair if name in self.floors else _pair(self.models[name])

    def seed(self, name: str) -> int:
        """Return an encoder's seed, which is that of its fine-tuning too."""
        return self.floors[name].seed if name in self.floors else self.models[name].seed

    def vocabulary(self, name: str) -> Path:
        """Return an encoder's vocabulary."""
        floor = self.floors.get(name)
        own = _vocabulary(floor) if floor else self.study.vocabulary(name)
        return self.study.results / f"vocab/{own}/vocab.json"

    def encoder_files(self, name: str) -> list[Path]:
        """Return what is read of an encoder, run.json first; there is nothing else of an untrained one."""
        if name in self.floors:
            return [self.folder / name / "run.json"]
        return [
            self.study.results / f"models/{name}/{file}" for file in ("run.json", "model.json", "model.safetensors")
        ]

    def run(self, name: str) -> dict[str, Any]:
        """Return what an encoder is; an untrained one shares all its layers, whatever its settings separate."""
        if name not in self.floors:
            return self.study.run(name)
        floor, config = self.floors[name], self.study.config
        models = [m for m in self.models.values() if _pair(m) == floor.pair]
        like = next(m for m in models if vocabulary_kind(config, m) == floor.kind)
        described = resolve_run(config, like)
        separate = described["separate"] | {"embeddings": floor.kind == "separate", "layers": 0}
        own = {"model": name, "seed": floor.seed, "separate": separate}
        vocabulary = described["made_from"]["vocabulary"] | {"hash": self.study.identity.vocabulary(_vocabulary(floor))}
        made_from = {"vocabulary": vocabulary}
        return described | own | {"pretrain": deciding(config["pretrain"]) | UNTRAINED, "made_from": made_from}

    def run_json(self, name: str) -> str:
        """Return the same as one line of JSON."""
        return json.dumps(self.run(name), sort_keys=True)

    def data(self, name: str, task: str) -> dict[str, Any]:
        """Return the files of a task: train and dev of the source language, test sets of both."""
        pair = self.pair(name)
        source, target = pair_languages(pair)
        own, other = self._sets(pair, task)
        train, dev, test = (self._file(task, source, own, split) for split in SPLITS)
        return {"train": train, "dev": dev, "test": {source: test, target: self._file(task, target, other, "test")}}

    def data_files(self, name: str, tasks: Iterable[str]) -> list[str]:
        """Return all files that an encoder's tasks read."""
        found = [self.data(name, task) for task in tasks]
        return [path for own in found for path in (own["train"], own["dev"], *own["test"].values())]

    def settings(self, task: str) -> dict[str, Any]:
        """Return how a task is fine-tuned; how its points are shared out over jobs is left out."""
        return {key: value for key, value in self._task(task).items() if key != "points_per_job"}

    def config_hash(self, name: str, task: str) -> str:
        """Return the hash that a result carries: of its encoder, its data and how it is fine-tuned."""
        known = self.study.identity
        decides = {
            "encoder": known.untrained(self.run(name)) if name in self.floors else known.model(name),
            "seed": self.seed(name),
            "data": [known.prepared(path) for path in self.data_files(name, [task])],
            "task": task,
            "settings": self.settings(task),
            "revision": known.revision("finetune"),
        }
        return hashed(decides)

    def fine_tuning(self, name: str, tasks: Iterable[str], batch: int | None = None) -> str:
        """Return what xling.finetune.run is to do, as JSON: whole tasks, or one batch of a task's grid points."""
        plan = {}
        for task in tasks:
            about = {"task": task, "settings": self.settings(task), "config": self.config_hash(name, task)}
            part = {} if batch is None else {"points": [int(n) for n in self.batches(task)[batch].split(",")]}
            plan[task if batch is None else f"{task}.{batch}"] = about | self.data(name, task) | part
        return json.dumps(plan, sort_keys=True)

    def untrained_flag(self, name: str) -> str:
        """Return the flag that draws an encoder's weights instead of reading them, or nothing."""
        return "--untrained" if name in self.floors else ""

    def expected(self, name: str) -> str:
        """Return what an encoder must be, so that no score of another one gets this configuration's hash."""
        return expected_run(self.encoder_files(name)[0], self.run(name), name in self.floors)

    def jobs(self, name: str, task: str) -> list[Path]:
        """Return the results of the jobs of one task, numbered as their batches of grid points are."""
        return [self.folder / name / f"jobs/{task}.{number}.json" for number in range(len(self.batches(task)))]

    def points(self, task: str) -> list[Point]:
        """Return the grid points of a task, in the order of the numbers that its jobs are given."""
        return grid_points(read_settings(self._task(task))[0])

    def batches(self, task: str) -> list[str]:
        """Return the grid points of each job of a task, as 0,1."""
        numbers, size = range(len(self.points(task))), self._task(task)["points_per_job"]
        return [",".join(map(str, numbers[start : start + size])) for start in numbers[::size]]

    def score(self, name: str, task: str) -> Path:
        """Return the score of an encoder in a task."""
        return self.folder / name / f"{task}.json"

    def scores(self) -> list[Path]:
        """Return all scores of the study."""
        return [self.score(name, task) for name in self.encoders for task in self.tasks]

    def plan_json(self) -> str:
        """Return what is to be collected, as JSON: rows of Table 1, models beside their floors, expected hashes."""
        config = self.study.config
        models = [
            self._planned(name, setting_of(config, model.setting)["label"]) | {"floor": self.floor_of(name)}
            for name, model in self.models.items()
        ]
        floors = [self._planned(name, f"untrained ({floor.kind})") for name, floor in self.floors.items()]
        return json.dumps({"settings": settings_rows(config), "models": models, "floors": floors}, sort_keys=True)

    def _planned(self, name: str, label: str) -> dict[str, Any]:
        hashes = {task: self.config_hash(name, task) for task in self.tasks}
        return {"model": name, "setting": label, "pair": self.pair(name), "seed": self.seed(name), "config": hashes}

    def _task(self, task: str) -> dict[str, Any]:
        return dict(self.study.config["tasks"][task])

    def _sets(self, pair: str, task: str) -> tuple[str, str]:
        """Return the data sets of a task that the pair's two languages read."""
        if task == "ner":
            ner = self.study.config["pairs"][pair]["ner"]
            return ner["train"], ner["test"]
        return ("xnli", "xnli") if task == "xnli" else (TREES, TREES)

    def _file(self, task: str, code: str, dataset: str, split: str) -> str:
        kind = {"xnli": "nli", "pos": "parsing"}.get(task, task)
        return str(self.study.results / f"tasks/{kind}/{code}.{dataset}.{split}.jsonl")


def _pair(model: Model) -> str:
    return "-".join(model.languages)


def _vocabulary(floor: Floor) -> str:
    return f"{floor.pair}.{floor.kind}.{floor.domain}"
