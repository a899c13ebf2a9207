"""Zero-shot transfer of a study (Table 1, Figure 3): which encoders are fine-tuned, on which files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.describe import settings_rows
from workflow_scripts.flags import expected_run
from workflow_scripts.grid import Model, deciding, describe_run, domain_of, setting_of, table_cells, vocabulary_kind
from xling.finetune.settings import Point, grid_points, read_settings

if TYPE_CHECKING:
    from workflow_scripts.study import Study

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

    @property
    def vocabulary(self) -> str:
        """Its vocabulary, as en-fr.joint.wiki."""
        return f"{self.pair}.{self.kind}.{self.domain}"


@dataclass(frozen=True)
class Transfer:
    """Encoders and files of fine-tuning."""

    study: "Study"

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
        """The untrained encoders by name: one for each pair, kind of vocabulary and seed of `study.seeds`.

        Wiki-CC's vocabulary is of another text but of the same kind: the floor is that of the encyclopaedia's, where
        the study has a model of it.
        """
        kinds: dict[tuple[str, str], set[str]] = {}
        for name, model in self.models.items():
            domain = domain_of(self.study.config, model, model.languages[-1])
            kinds.setdefault(self._kinds[name], set()).add(domain)
        made = [
            Floor(*key, "wiki" if "wiki" in domains else min(domains), seed)
            for key, domains in kinds.items()
            for seed in self.study.config["study"]["seeds"]
        ]
        return {floor.name: floor for floor in made}

    @cached_property
    def encoders(self) -> list[str]:
        """Names of everything that is fine-tuned."""
        return [*self.models, *self.floors]

    @property
    def tasks(self) -> list[str]:
        """The study's tasks."""
        return list(self.study.config["study"]["tasks"])

    def floor_of(self, name: str) -> str:
        """Return the floor beside a model: that of its own seed, or of the first one for a seed of `more_seeds`."""
        own, seeds = self.models[name].seed, self.study.config["study"]["seeds"]
        return self._floor_names[*self._kinds[name], own if own in seeds else seeds[0]]

    def seed(self, name: str) -> int:
        """Return an encoder's seed, which is that of its fine-tuning too."""
        return (self.floors.get(name) or self.models[name]).seed

    def vocabulary(self, name: str) -> Path:
        """Return an encoder's vocabulary."""
        own = self.floors[name].vocabulary if name in self.floors else self.study.vocabulary(name)
        return self.study.results / f"vocab/{own}/vocab.json"

    def encoder_files(self, name: str) -> list[Path]:
        """Return what is read of an encoder, run.json first; there is nothing else of an untrained one."""
        if name in self.floors:
            return [self.folder / name / "run.json"]
        return [self.study.model_file(name, file) for file in ("run.json", "model.json", "model.safetensors")]

    def run(self, name: str) -> dict[str, Any]:
        """Return what an encoder is; an untrained one shares all its layers, whatever its settings separate."""
        if name not in self.floors:
            return self.study.run(name)
        floor, config = self.floors[name], self.study.config
        described = describe_run(config, self._first_models[floor.pair, floor.kind])
        separate = described["separate"] | {"embeddings": floor.kind == "separate", "layers": 0}
        own = {"model": name, "seed": floor.seed, "separate": separate}
        known = {"hash": self.study.identity("vocabulary", floor.vocabulary)}
        made_from = {"vocabulary": described["made_from"]["vocabulary"] | known}
        return described | own | {"pretrain": deciding(config["pretrain"]) | UNTRAINED, "made_from": made_from}

    def data(self, name: str, task: str) -> dict[str, Any]:
        """Return the files of a task: train and dev of the source language, test sets of both."""
        return self.study.task_data(task, name.split(".")[0])

    def data_files(self, name: str) -> list[str]:
        """Return all files that an encoder's tasks read."""
        found = [self.data(name, task) for task in self.tasks]
        return [path for own in found for path in (own["train"], own["dev"], *own["test"].values())]

    def settings(self, task: str) -> dict[str, Any]:
        """Return how a task is fine-tuned."""
        return dict(self.study.config["tasks"][task])

    def hashes(self, name: str) -> dict[str, str]:
        """Return the hashes that an encoder's scores carry, by task."""
        return {task: self.study.identity("score", name, task) for task in self.tasks}

    def fine_tuning(self, name: str) -> dict[str, Any]:
        """Return the plan of xling.finetune.fine_tune."""
        hashes = self.hashes(name)
        return {
            task: {"task": task, "settings": self.settings(task), "config": hashes[task], **self.data(name, task)}
            for task in self.tasks
        }

    def untrained_flag(self, name: str) -> str:
        """Return the flag that initialises an encoder's weights instead of reading them, or nothing."""
        return "--untrained" if name in self.floors else ""

    def expected(self, name: str) -> str:
        """Return what an encoder must be, so that no score of another one gets this configuration's hash."""
        return expected_run(self.encoder_files(name)[0], self.run(name), name in self.floors)

    def points(self, task: str) -> list[Point]:
        """Return the grid points of a task."""
        return grid_points(read_settings(self.settings(task)))

    def files(self, name: str, below: str = "") -> list[Path]:
        """Return an encoder's scores in all tasks or, below `jobs/`, the counts behind them."""
        return [self.folder / name / f"{below}{task}.json" for task in self.tasks]

    def scores(self) -> list[Path]:
        """Return all scores of the study."""
        return [path for name in self.encoders for path in self.files(name)]

    def plan(self) -> dict[str, Any]:
        """Return what is to be collected: the rows of Table 1, models beside their floors, expected hashes."""
        config = self.study.config
        own = {
            name: {"model": name, "pair": name.split(".")[0], "seed": self.seed(name), "config": self.hashes(name)}
            for name in self.encoders
        }
        models = [
            own[name] | {"setting": setting_of(config, model.setting)["label"], "floor": self.floor_of(name)}
            for name, model in self.models.items()
        ]
        floors = [own[name] | {"setting": f"untrained ({floor.kind})"} for name, floor in self.floors.items()]
        return {"settings": settings_rows(config), "models": models, "floors": floors}

    @cached_property
    def _kinds(self) -> dict[str, tuple[str, str]]:
        """Pair and kind of vocabulary of every model."""
        config, models = self.study.config, self.models.items()
        return {name: ("-".join(model.languages), vocabulary_kind(config, model)) for name, model in models}

    @cached_property
    def _first_models(self) -> dict[tuple[str, str], Model]:
        """The first model of every pair and kind of vocabulary."""
        return {self._kinds[name]: model for name, model in reversed(self.models.items())}

    @cached_property
    def _floor_names(self) -> dict[tuple[str, str, int], str]:
        return {(floor.pair, floor.kind, floor.seed): name for name, floor in self.floors.items()}
