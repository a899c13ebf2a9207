"""Read the description of a study or another YAML file, and merge descriptions."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from xling.core.errors import XlingError
from xling.core.io import to_utf8
from xling.core.records import describe_value
from xling.core.records import nearest as nearest  # re-exported for other modules

REPOSITORY = Path(__file__).resolve().parent.parent
ON_TOP = "# On top of "
Config = Mapping[str, Any]


class ConfigError(XlingError):
    """Raised if a study description is invalid; `problems` holds one line for each problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(f"config: {problem}" for problem in self.problems))


def read_config(*paths: Path) -> dict[str, Any]:
    """Return the description of one study: the first file (config.yaml), overridden by each further file."""
    merged: dict[str, Any] = {}
    for number, path in enumerate(paths):
        merged = merge(merged, read_yaml(path))
        refuse_without_base(path, paths[:number])
    return merged


def refuse_without_base(path: Path, before: Sequence[Path]) -> None:
    """Refuse a file whose first line, "# On top of presets/…", names presets that do not come before it."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    bases = re.findall(r"presets/[\w/-]+\.yaml", first) if first.startswith(ON_TOP) else []
    if any(Path(base).name not in {given.name for given in before} for base in bases):
        raise ConfigError([f"{path}: goes on top of another preset (name {' '.join(bases)} before it)"])


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the values of `top`, merged key by key as Snakemake's --configfile does."""
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping and refuse repeated keys; a plain YAML loader would silently keep the last value."""
    try:
        text = path.read_text(encoding="utf-8")
        value = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 (a SafeLoader)
    except FileNotFoundError:
        there = [found.stem for found in path.parent.glob("*.yaml")]
        raise ConfigError([f"{path}: no such file{f' ({nearest(path.stem, there)})' if there else ''}"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: {(error.strerror or 'cannot be read').lower()}"]) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{path}, line {line}: not UTF-8 ({to_utf8(error.object)})"]) from None
    except yaml.reader.ReaderError as error:
        line, found = text.count("\n", 0, error.position) + 1, chr(error.character)
        raise ConfigError([f"{path}, line {line}: YAML does not allow the character {found!r} (remove it)"]) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        hint = " (YAML indents with spaces, not tabs)" if "'\\t'" in str(error.problem) else ""
        raise ConfigError([f"{path}, line {line}: {error.problem}{hint}"]) from None
    if not isinstance(value, dict):
        found = describe_value(value) if text.strip() else "an empty file"
        raise ConfigError([f"{path}: expected YAML with keys and values, found {found}"])
    return value


class _UniqueKeys(yaml.SafeLoader):
    """A safe loader that refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} stands here twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def expand_path(text: str) -> Path:
    """Return the path of a configured folder, with environment variables and ~ expanded."""
    for name in re.findall(r"\$\{?(\w+)\}?", text):
        if not os.environ.get(name):
            raise ConfigError([f"{text}: the environment variable {name} is not set, or empty"])
    return Path(os.path.expandvars(text)).expanduser()
