"""Frozen dataclasses from JSON: every key without a default is there, none unknown, each of its type, or one line."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from xling.core.errors import InputError

Record = TypeVar("Record")


def from_dict(kind: type[Record], values: object, path: Path | str, where: str = "") -> Record:
    """Build a dataclass from the object read at `where` in a JSON file, checking keys and types."""
    if not isinstance(values, Mapping):
        raise InputError(path, f"{where or 'the file'}: expected an object, not {values!r}")
    types = get_type_hints(kind)
    known = {field.name: field.default is MISSING for field in fields(kind)}  # type: ignore[arg-type]
    _check_keys(known, list(values), path, where)
    return kind(
        **{name: _value(types[name], values[name], path, _join(where, name)) for name in known if name in values}
    )


def _check_keys(expected: Mapping[str, bool], found: list[str], path: Path | str, where: str) -> None:
    missing = [name for name, needed in expected.items() if needed and name not in found]
    unknown = [name for name in found if name not in expected]
    if missing:
        raise InputError(path, f"no {_join(where, missing[0])}", fix="add it")
    if unknown:
        raise InputError(path, f"unknown key {_join(where, unknown[0])}", fix=f"one of {', '.join(expected)}")


def _value(kind: Any, value: object, path: Path | str, where: str) -> Any:
    if is_dataclass(kind):
        return from_dict(kind, value, path, where)  # type: ignore[arg-type]
    if get_origin(kind) is Literal:
        return _choice(get_args(kind), value, path, where)
    if get_origin(kind) is Union:
        return _alternative(get_args(kind), value, path, where)
    if get_origin(kind) is tuple:
        return _sequence(get_args(kind), value, path, where)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(path, f"{where}: expected {kind.__name__}, not {value!r}")
    return value


def _choice(choices: tuple[object, ...], value: object, path: Path | str, where: str) -> object:
    if value not in choices:
        raise InputError(path, f"{where}: expected one of {', '.join(map(str, choices))}, not {value!r}")
    return value


def _alternative(kinds: tuple[Any, ...], value: object, path: Path | str, where: str) -> Any:
    for kind in kinds:
        with suppress(InputError):
            return _value(kind, value, path, where)
    names = [", ".join(get_args(kind)) if get_origin(kind) is Literal else kind.__name__ for kind in kinds]
    raise InputError(path, f"{where}: expected {' or '.join(names)}, not {value!r}")


def _sequence(kinds: tuple[Any, ...], value: object, path: Path | str, where: str) -> tuple[Any, ...]:
    endless = kinds[-1] is Ellipsis
    if not isinstance(value, list | tuple) or (not endless and len(value) != len(kinds)):
        raise InputError(path, f"{where}: expected a list{'' if endless else f' of {len(kinds)}'}, not {value!r}")
    each = [kinds[0]] * len(value) if endless else list(kinds)
    return tuple(
        _value(kind, item, path, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(each, value, strict=True))
    )


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
