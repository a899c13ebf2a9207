"""The manifest of datasets (sources.yaml), read strictly.

Its paths and addresses are templates; `resolve("wikipedia", lg="fr", date="20190101")` fills in language and date.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field

from xling.core.errors import InputError
from xling.core.records import Count, Flag, matching, read_record, record, refuse

MANIFEST = Path(__file__).with_name("sources.yaml")
SAFE_VALUE = r"[A-Za-z0-9][A-Za-z0-9_-]*"  # pattern of derived names, which become part of a path
GLOB = re.compile(r"[*?\[]")


def _stays_below(path: str) -> str:
    parts = PurePosixPath(path)
    if not parts.parts or parts.is_absolute() or ".." in parts.parts:
        raise ValueError(f"expected a path below the data root, found {path!r}")
    return path


Below = Annotated[str, AfterValidator(_stays_below)]
Url = Annotated[str, matching("^https?://", "an http address")]


@record
class Unpack:
    """What is taken out of an archive, and how much it may be."""

    to: Below
    members: Annotated[tuple[str, ...], Field(min_length=1)]
    max_bytes: Count
    flat: Flag = False
    inside: str = ""
    max_members: Count = 50_000


@record
class Sums:
    """A list of hashes that the publisher keeps beside a file."""

    algorithm: str
    url: str


@record
class SourceFile:
    """One file of a dataset: where it lies below the data root and where it comes from."""

    path: Below
    urls: tuple[Url, ...] = ()
    size: Count | None = None
    about: Count | None = None
    sha256: Annotated[str, matching("^[0-9a-f]{64}$", "a sha256 in hex")] | None = None
    sums: Sums | None = None
    unpack: Unpack | None = None

    def products(self) -> tuple[str, ...]:
        """Return the paths below the data root that readers use, without members that are given as patterns."""
        if self.unpack is None:
            return (self.path,)
        names = [member for member in self.unpack.members if not GLOB.search(member)]
        kept = [PurePosixPath(name).name if self.unpack.flat else name for name in names]
        return tuple(f"{self.unpack.to}/{name}" for name in kept)


@record
class Dataset:
    """One dataset, as a template or filled in."""

    name: str
    role: str
    description: str
    version: str
    licence: str
    terms: str
    files: Annotated[tuple[SourceFile, ...], Field(min_length=1)]
    parameters: dict[str, str] = Field(default_factory=dict)
    from_lg: dict[str, dict[str, str]] = Field(default_factory=dict)
    ask: str = ""

    def __post_init__(self) -> None:
        problems = ["from_lg: needs the parameter lg"] if self.from_lg and "lg" not in self.parameters else []
        known = self.parameters.keys() | self.from_lg.keys()
        for number, file in enumerate(self.files):
            if bool(file.urls) == bool(self.ask):
                problems.append(f"files[{number}]: expected urls, or ask on the dataset, not both")
            used: dict[str, str] = defaultdict(str)
            _fill(asdict(file), used)
            problems += [f"files[{number}]: {{{name}}} is no parameter" for name in sorted(used.keys() - known)]
        refuse(problems)

    def resolve(self, /, **given: str) -> "Dataset":
        """Return the dataset with these values filled in to its paths and addresses."""
        unknown = sorted(given.keys() - self.parameters.keys() - self.from_lg.keys())
        missing = sorted(self.parameters.keys() - given.keys())
        if unknown or missing:
            takes = ", ".join(self.parameters) or "nothing"
            wrong = f"missing {', '.join(missing)}" if missing else f"unknown {', '.join(unknown)}"
            raise InputError(MANIFEST, f"{self.name} takes {takes}: {wrong}")
        for name, value in given.items():
            pattern = self.parameters.get(name, SAFE_VALUE)
            if not isinstance(value, str) or not re.fullmatch(pattern, value):
                raise InputError(MANIFEST, f"{self.name}: {name} is {value!r}, expected text like {pattern}")
        values = dict(given)
        for name, known in self.from_lg.items():
            if name not in given and given["lg"] not in known:
                only = ", ".join(known)
                raise InputError(MANIFEST, f"{self.name} has no {name} for {given['lg']!r}, only for {only}")
            values.setdefault(name, known.get(given["lg"], ""))
        files = tuple(read_record(SourceFile, _fill(asdict(file), values), MANIFEST) for file in self.files)
        return replace(self, files=files, parameters={}, from_lg={})


def resolve(name: str, /, **substitutions: str) -> Dataset:
    """Return one dataset of the study with its paths and addresses filled in."""
    datasets = load_manifest()
    if name not in datasets:
        raise InputError(MANIFEST, f"no dataset {name!r}, only {', '.join(datasets)}")
    return datasets[name].resolve(**substitutions)


@cache
def load_manifest(path: Path = MANIFEST) -> dict[str, Dataset]:
    """Read a manifest; an unknown or missing key or a value of the wrong type is an error that names its place."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(path, f"not YAML: {error.problem}", line=line) from None
    if not isinstance(raw, dict) or not raw:
        raise InputError(path, "expected a mapping from dataset names to datasets")
    named = {name: {"name": name, **body} if isinstance(body, dict) else body for name, body in raw.items()}
    return read_record(dict[str, Dataset], named, path)


def _fill(value: Any, values: Mapping[str, str]) -> Any:
    """Return a value with the templates in it filled in."""
    if isinstance(value, dict):
        return {key: _fill(part, values) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_fill(part, values) for part in value)
    return value.format_map(values) if isinstance(value, str) else value
