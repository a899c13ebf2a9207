"""The files of a study that figures read: its description (study.json) and training metrics (metrics.jsonl).

study.json is an object with `records` (its settings, each a `Sharing`), `layers`, `source`, `languages` (languages with
a monolingual model), `pairs` (the columns of Table 1) and `shown` (display names of codes, for example en' for en2). A
line of metrics.jsonl has the kind `train` (update, losses by language, lr) or `validation` (update, loss and unigram
entropy by language; for a bilingual model also retrieval by direction and CKA, each a list over layers).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from xling.core.errors import InputError
from xling.core.io import numbered_lines, read_json
from xling.core.records import read_record
from xling.report.names import pair_title

MONO = "mono"
Number = Annotated[float, BeforeValidator(lambda value: math.nan if value is None else value)]  # null: a missing value
Series = dict[str, Number]
BY_NAME = ConfigDict(validate_by_name=True, validate_by_alias=True)  # some keys have other names in the file


@dataclass(frozen=True)
class Sharing:
    """A setting: the parts of a bilingual model that its languages share (Table 1, Figure 1)."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}
    name: str
    label: str
    group: str
    domain: str  # of the text of the other language: wiki or crawl
    merges: str
    anchors: Annotated[str, Field(pattern="^(all|none|extra)$")]
    embeddings: Annotated[str, Field(pattern="^(shared|separate|tokens)$")]  # tokens: shared positions, own tokens
    separate_layers: int
    softmax: Annotated[str, Field(pattern="^(shared|separate)$")]
    updates: int = 0  # of training; given if settings differ in it


@dataclass(frozen=True, config=BY_NAME)
class Study:
    """The description of a study."""

    settings: Annotated[tuple[Sharing, ...], Field(min_length=1, validation_alias="records")]
    layers: int
    source: str
    languages: tuple[str, ...]
    pairs: tuple[str, ...]
    shown: dict[str, str]

    def label(self, setting: str) -> str:
        """Return the label of a setting; for monolingual models it is "Monolingual"."""
        names = {known.name: known.label for known in self.settings} | {MONO: "Monolingual"}
        return names.get(setting, setting)

    def written(self, code: str) -> str:
        """Return the code of a language as written in records, for example en'."""
        return self.shown.get(code, code)

    def pair(self, languages: Sequence[str]) -> str:
        """Return the languages of a model as written in text, for example en-en′."""
        return pair_title("-".join(self.written(code) for code in languages))


@dataclass(frozen=True)
class Step:
    """The mean training losses since the previous `Step`, and the learning rate."""

    update: int
    losses: Series
    lr: float


@dataclass(frozen=True, config=BY_NAME)
class Validation:
    """Losses on held-out text, and for a bilingual model the retrieval and CKA of parallel sentences."""

    update: int
    losses: Annotated[Series, Field(validation_alias="loss")]
    entropy: Annotated[Series, Field(validation_alias="unigram_entropy")]
    retrieval: dict[str, list[Number]] = field(default_factory=dict)
    cka: list[Number] = field(default_factory=list)
    sentences: int = 0

    @property
    def retrieved(self) -> list[float]:
        """The mean retrieval of both directions at each layer, in per cent."""
        return [100 * math.fsum(found) / len(found) for found in zip(*self.retrieval.values(), strict=True)]


class Metrics(NamedTuple):
    """All training and validation records of a model."""

    steps: Sequence[Step]
    validations: Sequence[Validation]

    @property
    def measured(self) -> list[Validation]:
        """The validations of a bilingual model that compared parallel sentences."""
        return [point for point in self.validations if point.cka]


def read_study(path: Path) -> Study:
    """Read and check study.json; an error names the problem."""
    return read_record(Study, read_json(path), path)


def split_name(model: str) -> tuple[list[str], str]:
    """Return the languages and the setting in the name of a model, for example en-fr.sep-emb.s1."""
    languages, setting, _ = model.split(".")
    return languages.split("-"), setting


def model_name(path: Path) -> str:
    """Return the name of the model whose folder contains a file."""
    name = path.resolve().parent.name
    if name.count(".") != 2:
        raise InputError(path, "not in the folder of a model", fix="a folder named like en-fr.default.s1")
    return name


def read_metrics(path: Path) -> Metrics:
    """Read and check metrics.jsonl; an error names the line."""
    kinds: dict[str, type[Any]] = {"train": Step, "validation": Validation}
    found: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for number, line in numbered_lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(path, f"not JSON: {error.msg}", line=number) from None
        if not isinstance(value, dict) or value.get("kind") not in kinds:
            raise InputError(path, "expected an object whose 'kind' is train or validation", line=number)
        found[value["kind"]].append(read_record(kinds[value["kind"]], value, path, number))
    if not found["validation"]:
        raise InputError(path, "no validation in it: nothing to draw", fix="has the model been trained?")
    return Metrics(found["train"], found["validation"])
