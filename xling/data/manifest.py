"""The manifest of datasets (sources.yaml): read strictly, and filled in for a language or a date.

Paths and addresses in it are templates; `resolve("wikipedia", lg="fr", date="20190101")` fills them.
"""

import dataclasses
import re
import string
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, cast, get_args, get_origin, get_type_hints

import yaml

from xling.core.errors import InputError

MANIFEST = Path(__file__).with_name("sources.yaml")
SAFE_VALUE = r"[A-Za-z0-9][A-Za-z0-9_-]*"  # what a derived name may be: it becomes part of a path
GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Unpack:
    """What is taken out of an archive, and how much it may be."""

    to: str
    members: tuple[str, ...]
    max_bytes: int
    flat: bool = False
    inside: str = ""
    max_members: int = 50_000


@dataclass(frozen=True)
class Sums:
    """A list of hashes that the publisher keeps beside a file."""

    algorithm: str
    url: str


@dataclass(frozen=True)
class SourceFile:
    """One file of a dataset: where it lies below the data root and where it comes from."""

    path: str
    urls: tuple[str, ...] = ()
    size: int | None = None
    about: int | None = None
    sha256: str | None = None
    sums: Sums | None = None
    unpack: Unpack | None = None

    def products(self) -> tuple[str, ...]:
        """Return the paths below the data root that readers use, as far as no pattern hides them."""
        if self.unpack is None:
            return (self.path,)
        names = [member for member in self.unpack.members if not GLOB.search(member)]
        kept = [PurePosixPath(name).name if self.unpack.flat else name for name in names]
        return tuple(f"{self.unpack.to}/{name}" for name in kept)


@dataclass(frozen=True)
class Dataset:
    """One dataset, as a template or filled in."""

    name: str
    role: str
    description: str
    version: str
    licence: str
    terms: str
    files: tuple[SourceFile, ...]
    parameters: dict[str, str] = field(default_factory=dict)
    from_lg: dict[str, dict[str, str]] = field(default_factory=dict)
    ask: str = ""

    def resolve(self, /, **substitutions: str) -> "Dataset":
        """Return the dataset with paths and addresses filled in for these values."""
        values = self._values(substitutions)
        return dataclasses.replace(self, files=_fill(self.files, values), parameters={}, from_lg={})

    def _values(self, given: Mapping[str, str]) -> dict[str, str]:
        unknown = sorted(given.keys() - self.parameters.keys() - self.from_lg.keys())
        missing = sorted(self.parameters.keys() - given.keys())
        if unknown or missing:
            takes = ", ".join(self.parameters) or "nothing"
            wrong = f"missing {', '.join(missing)}" if missing else f"unknown {', '.join(unknown)}"
            raise InputError(MANIFEST, f"{self.name} takes {takes}: {wrong}")
        for name, value in given.items():
            _check_value(f"{self.name}: {name}", value, self.parameters.get(name, SAFE_VALUE))
        derived = {name: self._derive(name, given["lg"]) for name in self.from_lg if name not in given}
        return {**given, **derived}

    def _derive(self, name: str, lg: str) -> str:
        known = self.from_lg[name]
        if lg not in known:
            raise InputError(MANIFEST, f"{self.name} has no {name} for {lg!r}, only for {', '.join(known)}")
        return known[lg]


def resolve(name: str, /, **substitutions: str) -> Dataset:
    """Return one dataset of the study with its paths and addresses filled in."""
    datasets = _study_manifest()
    if name not in datasets:
        raise InputError(MANIFEST, f"no dataset {name!r}, only {', '.join(datasets)}")
    return datasets[name].resolve(**substitutions)


def load_manifest(path: Path = MANIFEST) -> dict[str, Dataset]:
    """Read a manifest; anything unknown, missing or of the wrong kind is an error that names its place."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(path, f"not YAML: {error.problem}", line=line) from None
    if not isinstance(raw, dict) or not raw:
        raise InputError(path, "expected a mapping from dataset names to datasets")
    try:
        datasets = {name: _convert(Dataset, _named(name, body), name) for name, body in raw.items()}
        for dataset in datasets.values():
            _check(dataset)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    return datasets


@cache
def _study_manifest() -> dict[str, Dataset]:
    return load_manifest()


def _named(name: str, body: Any) -> Any:
    return {"name": name, **body} if isinstance(body, dict) else body


def _convert(kind: Any, value: Any, where: str) -> Any:
    """Turn plain YAML values into what the annotation says, strictly: no coercion, no unknown keys."""
    if dataclasses.is_dataclass(kind):
        return _record(cast(type, kind), value, where)
    if isinstance(kind, types.UnionType):
        return _convert(get_args(kind)[0], value, where)  # every union here is "or left out"
    if get_origin(kind) is tuple:
        _expect(isinstance(value, list) and bool(value), where, "a list", value)
        return tuple(_convert(get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if get_origin(kind) is dict:
        _expect(isinstance(value, dict), where, "a mapping", value)
        return {key: _convert(get_args(kind)[1], item, f"{where}.{key}") for key, item in value.items()}
    _expect(type(value) is kind, where, {str: "text", int: "a number", bool: "true or false"}[kind], value)
    return value


def _record(kind: type, value: Any, where: str) -> Any:
    _expect(isinstance(value, dict), where, "a mapping", value)
    hints = get_type_hints(kind)
    required = {
        f.name
        for f in dataclasses.fields(kind)
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    for problem, keys in (("unknown", value.keys() - hints.keys()), ("missing", required - value.keys())):
        if keys:
            raise ValueError(f"{where}: {problem} {', '.join(sorted(map(str, keys)))}")
    return kind(**{key: _convert(hints[key], item, f"{where}.{key}") for key, item in value.items()})


def _expect(right: bool, where: str, expected: str, value: Any) -> None:
    if not right:
        raise ValueError(f"{where}: expected {expected}, found {value!r}")


def _check(dataset: Dataset) -> None:
    """Check what the types cannot say."""
    known = dataset.parameters.keys() | dataset.from_lg.keys()
    if dataset.from_lg and "lg" not in dataset.parameters:
        raise ValueError(f"{dataset.name}: from_lg needs the parameter lg")
    for source in dataset.files:
        where = f"{dataset.name}: {source.path}"
        _expect(bool(source.urls) != bool(dataset.ask), where, "urls, or ask on the dataset, not both", source.urls)
        for text in _strings(source):
            fields = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
            if fields - known:
                raise ValueError(f"{where}: {{{sorted(fields - known)[0]}}} is no parameter")
        for path in [source.path] + ([source.unpack.to] if source.unpack else []):
            _expect(_stays_below(path), where, "a path below the data root", path)
        for url in source.urls:
            _expect(url.startswith(("https://", "http://")), where, "an http address", url)
        if source.sha256 is not None:
            _expect(bool(re.fullmatch("[0-9a-f]{64}", source.sha256)), where, "a sha256 in hex", source.sha256)


def _stays_below(path: str) -> bool:
    parts = PurePosixPath(path)
    return bool(parts.parts) and not parts.is_absolute() and ".." not in parts.parts


def _check_value(where: str, value: Any, pattern: str) -> None:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise InputError(MANIFEST, f"{where} is {value!r}, expected text like {pattern}")


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for item in value for text in _strings(item)]
    if dataclasses.is_dataclass(value):
        return [text for f in dataclasses.fields(value) for text in _strings(getattr(value, f.name))]
    return []


def _fill(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return value.format_map(values)
    if isinstance(value, tuple):
        return tuple(_fill(item, values) for item in value)
    if dataclasses.is_dataclass(value):
        filled = {f.name: _fill(getattr(value, f.name), values) for f in dataclasses.fields(value)}
        return dataclasses.replace(cast(Any, value), **filled)
    return value
