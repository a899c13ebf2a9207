"""Zero-shot transfer of a study (Table 1, Figure 3): the encoders that are fine-tuned, and their files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.describe import settings_rows
from workflow_scripts.files import data_paths
from workflow_scripts.flags import expected_run
from workflow_scripts.grid import Model, affecting_weights

if TYPE_CHECKING:
    from workflow_scripts.study import Study

FLOOR = "untrained-"  # a floor is an untrained encoder; its name has this and the kind of vocabulary as its setting
UNTRAINED = {"updates": 0, "warmup": 0}


@dataclass(frozen=True)
class Transfer:
    """The encoders and files of fine-tuning."""

    study: "Study"

    @cached_property
    def folder(self) -> Path:
        """The folder of all scores, with a subfolder for each encoder."""
        return self.study.results / "transfer"

    @cached_property
    def models(self) -> dict[str, Model]:
        """The models of Table 1 with all seeds, by name."""
        return {model.name: model for group in self.study.table_groups for model in self.study.groups[group]}

    @cached_property
    def floors(self) -> dict[str, Model]:
        """The floors by name: one for each pair, kind of vocabulary and seed of `study.seeds`.

        All settings of a pair with the same kind of vocabulary share a floor.
        """
        seeds = self.study.config["study"]["seeds"]
        made = [Model(languages, FLOOR + kind, seed) for languages, kind in self._patterns for seed in seeds]
        return {floor.name: floor for floor in made}

    @cached_property
    def encoders(self) -> dict[str, Model]:
        """All encoders that are fine-tuned, by name."""
        return self.models | self.floors

    @property
    def tasks(self) -> list[str]:
        """The study's tasks."""
        return list(self.study.config["study"]["tasks"])

    def floor_of(self, name: str) -> str:
        """Return the floor of a model: the one with its seed or, for a seed of `more_seeds`, with the first seed."""
        model, seeds = self.models[name], self.study.config["study"]["seeds"]
        seed = model.seed if model.seed in seeds else seeds[0]
        return Model(model.languages, FLOOR + self.study.vocabulary_kind(model), seed).name

    def vocabulary(self, name: str) -> Path:
        """Return the vocabulary file of an encoder."""
        return self.study.vocabulary_folder(self._pattern(name) if name in self.floors else name) / "vocab.json"

    def encoder_files(self, name: str) -> list[Path]:
        """Return the files of an encoder that jobs read, run.json first; of an untrained encoder, only run.json."""
        return [self.folder / name / "run.json"] if name in self.floors else self.study.encoder_files([name])

    def run(self, name: str) -> dict[str, Any]:
        """Return the description of an encoder; a floor has no separate layers, whatever the settings say."""
        if name not in self.floors:
            return self.study.run(name)
        floor, described = self.floors[name], self.study.run(self._pattern(name))
        separate = described["separate"] | {"embeddings": floor.setting == f"{FLOOR}separate", "layers": 0}
        made_from = {"vocabulary": described["made_from"]["vocabulary"]}
        pretrain = affecting_weights(self.study.config["pretrain"]) | UNTRAINED
        own = {"model": name, "seed": floor.seed, "separate": separate, "pretrain": pretrain, "made_from": made_from}
        return described | own

    def data(self, name: str, task: str) -> dict[str, Any]:
        """Return the files of a task: train and dev of the source language, test sets of both languages."""
        return self.study.task_data(task, name.split(".")[0])

    def data_files(self, name: str) -> list[str]:
        """Return all files that an encoder's tasks read."""
        return [path for task in self.tasks for path in data_paths(self.data(name, task))]

    def hashes(self, name: str) -> dict[str, str]:
        """Return the hashes to store in an encoder's scores, by task."""
        return {task: self.study.identity("score", name, task) for task in self.tasks}

    def fine_tuning(self, name: str) -> dict[str, Any]:
        """Return the plan of xling.finetune.fine_tune."""
        settings = self.study.config["tasks"]
        return {
            task: {"task": task, "settings": settings[task], "config": known, **self.data(name, task)}
            for task, known in self.hashes(name).items()
        }

    def expected(self, name: str) -> str:
        """Return the argument of `workflow_scripts.expect`, which refuses an encoder of another configuration."""
        return expected_run(self.encoder_files(name)[0], self.run(name), name in self.floors)

    def files(self, name: str, below: str = "") -> list[Path]:
        """Return the files of an encoder's scores in all tasks or, if `below` is jobs/, of the counts behind them."""
        return [self.folder / name / f"{below}{task}.json" for task in self.tasks]

    def plan(self) -> dict[str, Any]:
        """Return the scores to collect: the rows of Table 1, the models and their floors, and the expected hashes."""
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
        """Return the model that a floor copies, except for its weights and separate layers."""
        own = self.floors[floor]
        return self._patterns[own.languages, own.setting.removeprefix(FLOOR)]

    @cached_property
    def _patterns(self) -> dict[tuple[tuple[str, ...], str], str]:
        """The model that each floor copies: the first model of the pair and kind of vocabulary.

        A model with a vocabulary of Wikipedia text is preferred; Wiki-CC has the same kind from another text.
        """
        kinds: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for name, model in self.models.items():
            kinds.setdefault((model.languages, self.study.vocabulary_kind(model)), []).append(name)
        wiki = {name for name in self.models if self.study.vocabulary(name).endswith(".wiki")}
        return {key: next((name for name in names if name in wiki), names[0]) for key, names in kinds.items()}
