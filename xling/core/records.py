"""Records that are read from files: frozen dataclasses that pydantic checks, with one line per mistake in a file.

The description of each key is in its record. Conditions on several keys are checked in `__post_init__` of the record,
which passes the problems to `refuse`.
"""

import ast
import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, dataclass_transform, get_args, get_origin

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from xling.core.errors import InputError

Record = TypeVar("Record")

# Numbers and booleans are strict: neither "3" nor true is a number.
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=1)]
Size = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
OpenShare = Annotated[float, Field(strict=True, gt=0, lt=1)]
Dropout = Annotated[float, Field(strict=True, ge=0, lt=1)]
Text = Annotated[str, Field(min_length=1)]

EXPECTED = {  # pydantic's name of an error: description of the expected value
    "bool_type": "true or false", "int_type": "a whole number", "float_type": "a number", "string_type": "text",
    "int_parsing": "a whole number", "float_parsing": "a number",
    "list_type": "a list", "tuple_type": "a list", "missing": "another item", "dict_type": "keys and values",
    "dataclass_type": "keys and values", "model_type": "keys and values", "string_too_short": "text that is not empty",
    "finite_number": "a finite number", "greater_than": "more than {gt:g}", "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}", "less_than_equal": "at most {le:g}", "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
}  # fmt: skip
LONGEST_CODE = 3  # letters in a language code; codes are too short for a useful "did you mean"
PATTERNS: dict[str, str] = {}  # the descriptions of the patterns given to `matching`


def key(description: str, **rules: Any) -> Any:
    """Return the field of a key with its description; `rules` are further arguments of pydantic's `Field`."""
    return Field(description=description, **rules)


@dataclass_transform(frozen_default=True, field_specifiers=(Field, key))
def record(kind: type[Record]) -> type[Record]:
    """Turn a class into a frozen dataclass that refuses unknown keys and values of the wrong type."""
    return dataclass(config=ConfigDict(extra="forbid", defer_build=True), frozen=True)(kind)  # type: ignore[return-value]


def optional(description: str = "") -> Any:
    """Return the field of a key that may be omitted; its default is None."""
    return key(description, default=None, json_schema_extra=lambda schema: schema.pop("default"))


def partial(kind: type) -> Any:
    """Return a copy of a record type in which every key may be omitted."""
    keys: dict[str, Any] = {
        name: (field.rebuild_annotation(), optional(field.description or "")) for name, field in _fields(kind).items()
    }
    return create_model(
        f"{kind.__name__}Changes", __config__=ConfigDict(extra="forbid", frozen=True, defer_build=True), **keys
    )


def matching(pattern: str, meaning: str) -> Any:
    """Return the field of a text that must match a pattern; error messages call such a text `meaning`."""
    PATTERNS[pattern] = meaning
    return Field(pattern=pattern)


def _all_different(items: Any) -> Any:
    twice = sorted({str(item) for item in items if list(items).count(item) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} stands in the list twice")
    return items


Different = AfterValidator(_all_different)


class _BetweenKeysError(ValueError):
    """Problems between several keys, one per line; each line begins with a key."""


def refuse(problems: Iterable[str]) -> None:
    """Raise an error if there are problems between the keys of a record; each problem begins with a key."""
    if found := list(problems):
        raise _BetweenKeysError("\n".join(found))


def read_record(kind: type[Record], values: object, path: Path | str, line: int | None = None) -> Record:
    """Return values of a file, or of one of its lines, as a record; raise an error for the first mistake."""
    try:
        return cast(Record, _adapter(kind).validate_python(values))  # type: ignore[arg-type]
    except ValidationError as error:
        raise InputError(path, next(_explain(kind, error.errors()[0])), line) from None


def find_problems(kind: type, values: object) -> list[str]:
    """Return one line per mistake in the values of a record: key path, expected value and found value."""
    try:
        _adapter(kind).validate_python(values)
    except ValidationError as error:
        return [line for details in error.errors() for line in _explain(kind, details)]
    return []


def missing_keys(kind: type, values: Mapping[str, Any], where: str) -> list[str]:
    """Return one line per key of a record that is missing in `values`, even if the key is optional."""
    known = _fields(kind).items()
    return [f"{where}.{name}: missing key{_about(field)}" for name, field in known if name not in values]


def nearest(word: str, valid: Iterable[str]) -> str:
    """Return a hint with the valid name most similar to `word`; a reversed pair (fr-en for en-fr) comes first."""
    names, turned = sorted(valid), "-".join(reversed(word.split("-")))
    close = [turned] if turned in names else difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names[:20])}" if names else "none is known"


def describe_value(value: object) -> str:
    """Return a description of a value for an error message."""
    if isinstance(value, Mapping):
        return "keys and values"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "nothing (null)" if value is None else f"the text {value!r}" if isinstance(value, str) else repr(value)


_adapter = cache(TypeAdapter)


def _explain(kind: type, error: Any) -> Iterator[str]:
    loc, found, rule, context = error["loc"], error["input"], error["type"], error.get("ctx", {})
    if loc and loc[-1] == "[key]":
        loc = loc[:-2]  # the found value is the key itself
    fields = _fields(_record_at(kind, loc[:-1]))
    field = fields.get(loc[-1]) if loc else None
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    where = where.removeprefix(".") or "(top level)"
    match rule:
        case "unexpected_keyword_argument" | "extra_forbidden":
            hint = _elsewhere(kind, loc) if isinstance(loc[-1], str) else ""
            yield f"{where}: unknown key ({hint or nearest(str(loc[-1]), fields)})"
        case "missing" | "missing_argument" if not isinstance(loc[-1], int):
            yield f"{where}: missing key{_about(field)}"
        case "literal_error":
            choices = [ast.literal_eval(name) for name in re.split(", | or ", context["expected"])]
            names = [name if isinstance(name, str) else json.dumps(name) for name in choices]  # null, true, as in YAML
            hint = f" ({nearest(str(found), names)})" if len(str(found)) > LONGEST_CODE else ""
            yield f"{where}: expected one of {', '.join(names)}, found {found!r}{hint}"
        case "string_pattern_mismatch":
            pattern = context["pattern"]
            yield f"{where}: expected {PATTERNS.get(pattern, f'text like {pattern}')}, found {found!r}"
        case "value_error" if isinstance(context["error"], _BetweenKeysError):
            yield from (f"{where}.{line}" if loc else line for line in str(context["error"]).splitlines())
        case "value_error":
            yield f"{where}: {context['error']}"
        case _:
            expected = EXPECTED[rule].format(**context) if rule in EXPECTED else error["msg"]
            if field is not None and type(None) in get_args(field.annotation):
                expected += " or null"
            if field is None and len(loc) > 1:  # an item of a list or a table: describe the list or table
                field = _fields(_record_at(kind, loc[:-2])).get(loc[-2])
                hint = _yaml_hint(found, expected) or _about(field)
            else:
                hint = _about(field) if expected.startswith("keys and values") else _yaml_hint(found, expected)
            yield f"{where}: expected {expected}, found {describe_value(found)}{hint}"


def _fields(kind: type) -> dict[Any, FieldInfo]:
    """Return the fields of a record by their names in the file."""
    fields = kind.__pydantic_fields__.items()  # type: ignore[attr-defined]
    return {field.validation_alias or name: field for name, field in fields}


def _elsewhere(kind: type, loc: tuple[Any, ...]) -> str:
    """Return a hint if a key exists under another key of its record, or elsewhere in the file."""
    starts = [(_record_at(kind, loc[:-1]), loc[:-1])]
    if hasattr(kind, "__pydantic_fields__"):  # a list or a table of records has no keys of its own
        starts.append((kind, ()))
    for start in starts:
        level = [start]
        while level:
            for record, above in level:
                if loc[-1] in _fields(record) and (*above, loc[-1]) != loc:
                    return f"did you mean '{'.'.join(map(str, (*above, loc[-1])))}'?"
            fields = [(above, *field) for record, above in level for field in _fields(record).items()]
            # Below a table, keys are chosen by the user, so there is no path to name.
            plain = [
                (above, name, own.annotation) for above, name, own in fields if get_origin(own.annotation) is not dict
            ]
            level = [(below, (*above, name)) for above, name, own in plain for below in _records_in(own)]
    return ""


def _about(field: FieldInfo | None) -> str:
    """Return the description of a key in parentheses, or the first line of its record's docstring."""
    if field is None:
        return ""
    about = field.description or next((part.__doc__ for part in _records_in(field.annotation)), None)
    return f" ({about.splitlines()[0]})" if about else ""


def _record_at(kind: type, loc: Iterable[object]) -> type:
    """Return the record type at a key path; list items and keys chosen by the user do not change the record type."""
    kind = next(_records_in(kind))
    for part in loc:
        field = _fields(kind).get(part)
        kind = next(_records_in(field.annotation), kind) if field is not None else kind
    return kind


def _records_in(annotation: Any) -> Iterator[type]:
    if hasattr(annotation, "__pydantic_fields__"):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)


def _yaml_hint(value: object, expected: str) -> str:
    """Return a hint for values that YAML misreads: 1e-4 as text, and `no` (code of Norwegian) as false."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]+e[+-]?[0-9]+", value):
        return f" (YAML needs a point: {value.replace('e', '.0e')})"
    if isinstance(value, bool) and "text" in expected:
        return " (YAML reads no, yes, on and off as true or false: put it in quotes)"
    return " (put it in quotes)" if isinstance(value, int | float) and "text" in expected else ""
