"""Reads and checks a study description; every problem is one line with key path, expectation and nearest valid name."""

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMA_FILE = REPOSITORY / "rules" / "config.schema.yaml"
LONGEST_CODE = 3  # letters of a language's code: any two codes look alike
Config = Mapping[str, Any]


class ConfigError(Exception):
    """A study description that cannot be run; `problems` holds one line each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(f"config: {problem}" for problem in self.problems))


@cache
def schema() -> dict[str, Any]:
    """Return the JSON schema of the study description."""
    return dict(yaml.safe_load(SCHEMA_FILE.read_text(encoding="utf-8")))


def read_config(*paths: Path) -> dict[str, Any]:
    """Return the description of one study: config.yaml and what goes on top of it."""
    merged: dict[str, Any] = {}
    for path in paths:
        merged = merge(merged, read_yaml(path))
    return merged


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one description over another, key by key, as Snakemake does with --configfile."""
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping and refuse a key that stands in it twice: YAML itself would keep the last in silence."""
    try:
        text = path.read_text(encoding="utf-8")
        value = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 (a SafeLoader)
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{path}, line {line}: not UTF-8 (save the file as UTF-8)"]) from None
    except yaml.reader.ReaderError as error:
        line, found = text.count("\n", 0, error.position) + 1, chr(error.character)
        raise ConfigError([f"{path}, line {line}: YAML does not allow the character {found!r} (remove it)"]) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigError([f"{path}, line {line}: {error.problem}"]) from None
    if not isinstance(value, dict):
        raise ConfigError([f"{path}: expected keys and values, found {_kind(value)}"])
    return value


class _UniqueKeys(yaml.SafeLoader):
    """The safe loader, except that a repeated key is an error."""

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


def schema_problems(config: Config) -> list[str]:
    """Return what the schema says against a description, a line each, in the order of the keys."""
    validator = jsonschema.Draft202012Validator(schema())
    errors = sorted(validator.iter_errors(config), key=lambda error: [str(part) for part in error.absolute_path])
    return [line for error in errors for line in _explain(error)]


def expand_path(text: str) -> Path:
    """Return a configured folder with environment variables and ~ filled in."""
    for name in re.findall(r"\$\{?(\w+)\}?", text):
        if name not in os.environ:
            raise ConfigError([f"{text}: the environment variable {name} is not set"])
    return Path(os.path.expandvars(text)).expanduser()


def nearest(word: str, valid: Iterable[str]) -> str:
    """Return a hint at the valid name that looks most like `word`; one turned round, as fr-en, comes first."""
    names, turned = sorted(valid), "-".join(reversed(word.split("-")))
    close = [turned] if turned in names else difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names[:20])}" if names else "none is known"


def _explain(error: Any) -> Iterator[str]:
    where = _key_path(error.absolute_path)
    rule, wanted, value = error.validator, error.validator_value, error.instance
    match rule:
        case "additionalProperties":
            known = list(error.schema.get("properties", {}))
            for key in [key for key in value if key not in known]:
                yield f"{_key_path([*error.absolute_path, key])}: unknown key ({nearest(str(key), known)})"
        case "required":
            for key in [key for key in wanted if key not in value]:
                yield f"{_key_path([*error.absolute_path, key])}: missing key ({_describe(error.schema, key)})"
        case "enum":
            names = [name if isinstance(name, str) else json.dumps(name) for name in wanted]  # null, true, as in YAML
            hint = f" ({nearest(str(value), names)})" if len(str(value)) > LONGEST_CODE else ""
            yield f"{where}: expected one of {', '.join(names)}, found {value!r}{hint}"
        case "type" | "anyOf":
            expected = _expected(error)
            yield f"{where}: expected {expected}, found {_kind(value)}{_yaml_hint(value, expected)}"
        case "pattern":
            yield f"{where}: {value!r} is not a valid name here (expected to match {wanted})"
        case "not":
            yield f"{where}: {value!r} is not allowed here ({wanted['description']})"
        case "uniqueItems":
            twice = sorted({str(item) for item in value if value.count(item) > 1})
            yield f"{where}: {', '.join(twice)} stands in the list twice"
        case "minItems" | "maxItems":
            yield f"{where}: expected {_length(error.schema)}, found {len(value)}"
        case _:
            yield f"{where}: {error.message}"


def _key_path(parts: Iterable[object]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "(top level)"


def _describe(where: Mapping[str, Any], key: str) -> str:
    return str(where.get("properties", {}).get(key, {}).get("description", "see rules/config.schema.yaml"))


def _expected(error: Any) -> str:
    if error.validator == "anyOf":
        return " or ".join(
            dict.fromkeys(_expected(child) for child in error.context or [] if child.validator == "type")
        )
    names = {"object": "keys and values", "array": "a list", "string": "text", "boolean": "true or false"}
    names |= {"integer": "a whole number", "number": "a number", "null": "null"}
    wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    return " or ".join(names[kind] for kind in wanted)


def _kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "keys and values"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "nothing (null)" if value is None else f"the text {value!r}" if isinstance(value, str) else repr(value)


def _yaml_hint(value: object, expected: str) -> str:
    """YAML reads 1e-4 as text and no, the code of Norwegian, as false."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]+e[+-]?[0-9]+", value):
        return f" (YAML needs a point: {value.replace('e', '.0e')})"
    if isinstance(value, bool) and "text" in expected:
        return " (YAML reads no, yes, on and off as true or false: put it in quotes)"
    return ""


def _length(rules: Mapping[str, Any]) -> str:
    low, high = rules.get("minItems", 0), rules.get("maxItems")
    return f"{low} items" if low == high else f"at least {low} items"
