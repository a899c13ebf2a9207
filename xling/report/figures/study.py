"""What the drawings need to know of a study: its settings, its layers and what its languages are called.

study.json is an object with `records` (its settings, each a `Sharing`), `layers`, `source`, `languages` (those that
have a monolingual model), `pairs` (the columns of Table 1) and `shown` (how a code is written where that differs: en2
is en').
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report.names import pair_title
from xling.report.records import refuse_repeats, validated

MONO = "mono"


@dataclass(frozen=True)
class Sharing:
    """A setting: which parts of a bilingual model its languages share (Table 1, Figure 1)."""

    KEY: ClassVar = ("name",)
    __pydantic_config__: ClassVar = {"extra": "forbid"}
    name: str
    label: str
    group: str
    domain: str  # of the other language's text: wiki or crawl
    merges: str
    anchors: Annotated[str, Field(pattern="^(all|none|extra)$")]
    embeddings: Annotated[str, Field(pattern="^(shared|separate|tokens)$")]  # tokens: shared positions, own tokens
    separate_layers: int
    softmax: Annotated[str, Field(pattern="^(shared|separate)$")]


@dataclass(frozen=True)
class ModelName:
    """The parts of a model's name, as en-fr.sep-emb.s1."""

    languages: tuple[str, ...]
    setting: str
    seed: str

    @staticmethod
    def of(text: str) -> "ModelName":
        """Return the parts of a name."""
        languages, setting, seed = text.split(".")
        return ModelName(tuple(languages.split("-")), setting, seed)

    def __str__(self) -> str:
        """Return the name in one piece."""
        return f"{'-'.join(self.languages)}.{self.setting}.{self.seed}"

    @property
    def language(self) -> str:
        """The language that the model stands for in a panel: the other one of a pair, or its only one."""
        return self.languages[-1]


@dataclass(frozen=True)
class Study:
    """A study as the drawings see it."""

    settings: Annotated[tuple[Sharing, ...], Field(min_length=1, validation_alias="records")]
    layers: int
    source: str
    languages: tuple[str, ...]
    pairs: tuple[str, ...]
    shown: dict[str, str]

    def label(self, setting: str) -> str:
        """Return what a setting is called; monolingual models have none."""
        names = {known.name: known.label for known in self.settings} | {MONO: "Monolingual"}
        return names.get(setting, setting)

    def written(self, code: str) -> str:
        """Return how a language's code is written in records, as en'."""
        return self.shown.get(code, code)

    def pair(self, model: ModelName) -> str:
        """Return a model's languages as they are written in text, as en-en′."""
        return pair_title("-".join(self.written(code) for code in model.languages))


def read_study(path: Path) -> Study:
    """Read study.json, naming what is wrong with it."""
    study = validated(Study, read_json(path), path)
    refuse_repeats(path, study.settings)
    for setting in study.settings:
        if not 0 <= setting.separate_layers <= study.layers:
            raise InputError(path, f"{setting.name} has {setting.separate_layers} separate layers of {study.layers}")
    return study


def model_name(path: Path) -> ModelName:
    """Return the name of the model whose folder holds a file."""
    try:
        return ModelName.of(path.resolve().parent.name)
    except ValueError:
        raise InputError(path, "not in the folder of a model", fix="a folder named like en-fr.default.s1") from None
