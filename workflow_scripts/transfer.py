"""Zero-shot transfer of a study (Table 1, Figure 3): which encoders are fine-tuned, on which files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.describe import settings_rows
from workflow_scripts.files import data_paths
from workflow_scripts.flags import expected_run
from workflow_scripts.grid import Model, deciding
from xling.finetune.settings import Point, grid_points, read_settings

if TYPE_CHECKING:
    from workflow_scripts.study import Study

FLOOR = "untrained-"  # and the kind of vocabulary: what stands for the setting in a floor's name
UNTRAINED = {"updates": 0, "warmup": 0}


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
        cells = set(self.study.table_cells)
        return {name: model for name, model in self.study.models.items() if (model.languages, model.setting) in cells}

    @cached_property
    def floors(self) -> dict[str, Model]:
        """The untrained encoders by name: one for each pair, kind of vocabulary and seed of `study.seeds`.

        It is the floor of all settings of the pair that have this kind of vocabulary.
        """
        seeds = self.study.config["study"]["seeds"]
        made = [Model(languages, FLOOR + kind, seed) for languages, kind in self._patterns for seed in seeds]
        return {floor.name: floor for floor in made}

    @cached_property
    def encoders(self) -> dict[str, Model]:
        """Everything that is fine-tuned, by name."""
        return self.models | self.floors

    @property
    def tasks(self) -> list[str]:
        """The study's tasks."""
        return list(self.study.config["study"]["tasks"])

    def floor_of(self, name: str) -> str:
        """Return the floor beside a model: that of its own seed, or of the first one for a seed of `more_seeds`."""
        model, seeds = self.models[name], self.study.config["study"]["seeds"]
        seed = model.seed if model.seed in seeds else seeds[0]
        return Model(model.languages, FLOOR + self.study.vocabulary_kind(model), seed).name

    def vocabulary(self, name: str) -> Path:
        """Return an encoder's vocabulary."""
        return self.study.vocabulary_folder(self._pattern(name) if name in self.floors else name) / "vocab.json"

    def encoder_files(self, name: str) -> list[Path]:
        """Return what is read of an encoder, run.json first; there is nothing else of an untrained one."""
        return [self.folder / name / "run.json"] if name in self.floors else self.study.encoder_files([name])

    def run(self, name: str) -> dict[str, Any]:
        """Return what an encoder is; an untrained one shares all its layers, whatever its settings separate."""
        if name not in self.floors:
            return self.study.run(name)
        floor, described = self.floors[name], self.study.run(self._pattern(name))
        separate = described["separate"] | {"embeddings": floor.setting == f"{FLOOR}separate", "layers": 0}
        made_from = {"vocabulary": described["made_from"]["vocabulary"]}
        pretrain = deciding(self.study.config["pretrain"]) | UNTRAINED
        own = {"model": name, "seed": floor.seed, "separate": separate, "pretrain": pretrain, "made_from": made_from}
        return described | own

    def data(self, name: str, task: str) -> dict[str, Any]:
        """Return the files of a task: train and dev of the source language, test sets of both."""
        return self.study.task_data(task, name.split(".")[0])

    def data_files(self, name: str) -> list[str]:
        """Return all files that an encoder's tasks read."""
        return [path for task in self.tasks for path in data_paths(self.data(name, task))]

    def hashes(self, name: str) -> dict[str, str]:
        """Return the hashes that an encoder's scores carry, by task."""
        return {task: self.study.identity("score", name, task) for task in self.tasks}

    def fine_tuning(self, name: str) -> dict[str, Any]:
        """Return the plan of xling.finetune.fine_tune."""
        settings = self.study.config["tasks"]
        return {
            task: {"task": task, "settings": settings[task], "config": known, **self.data(name, task)}
            for task, known in self.hashes(name).items()
        }

    def expected(self, name: str) -> str:
        """Return what an encoder must be, so that no score of another one gets this configuration's hash."""
        return expected_run(self.encoder_files(name)[0], self.run(name), name in self.floors)

    def points(self, task: str) -> list[Point]:
        """Return the grid points of a task."""
        return grid_points(read_settings(self.study.config["tasks"][task]))

    def files(self, name: str, below: str = "") -> list[Path]:
        """Return an encoder's scores in all tasks or, below `jobs/`, the counts behind them."""
        return [self.folder / name / f"{below}{task}.json" for task in self.tasks]

    def plan(self) -> dict[str, Any]:
        """Return what is to be collected: the rows of Table 1, models beside their floors, expected hashes."""
        own = {
            name: {"model": name, "pair": name.split(".")[0], "seed": encoder.seed, "config": self.hashes(name)}
            for name, encoder in self.encoders.items()
        }
        models = [
            own[name] | {"setting": self.study.settings[model.setting]["label"], "floor": self.floor_of(name)}
            for name, model in self.models.items()
        ]
        kinds = {name: floor.setting.removeprefix(FLOOR) for name, floor in self.floors.items()}
        floors = [own[name] | {"setting": f"untrained ({kind})"} for name, kind in kinds.items()]
        return {"settings": settings_rows(self.study), "models": models, "floors": floors}

    def _pattern(self, floor: str) -> str:
        """Return the model that a floor is like, but for its weights and separate layers."""
        own = self.floors[floor]
        return self._patterns[own.languages, own.setting.removeprefix(FLOOR)]

    @cached_property
    def _patterns(self) -> dict[tuple[tuple[str, ...], str], str]:
        """The first model of every pair and kind of vocabulary; if there is one, the first of the encyclopaedia's text.

        Wiki-CC's vocabulary is of another text but of the same kind.
        """
        kinds: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for name, model in self.models.items():
            kinds.setdefault((model.languages, self.study.vocabulary_kind(model)), []).append(name)

        def of_other_text(name: str) -> bool:
            return not self.study.vocabulary(name).endswith(".wiki")

        return {key: min(names, key=of_other_text) for key, names in kinds.items()}
