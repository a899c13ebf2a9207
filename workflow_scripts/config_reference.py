"""Write the reference of all config keys, for people and for text editors: python -m workflow_scripts.config_reference

It generates docs/config.md and docs/config.schema.json from workflow_scripts/schema.py and config.yaml.
"""

import json
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import TypeAdapter

from workflow_scripts.config import REPOSITORY, Config, read_config
from workflow_scripts.schema import Description
from xling.core.errors import run
from xling.core.io import write_text
from xling.core.records import PATTERNS
from xling.core.tasks import TASKS

HEADER = f"""# The keys of a study

Every key of `config.yaml`, section by section. A preset or an overlay holds only what differs. `<name>` stands for a
name that you choose; below it, the default is that of a key that is left out. Elsewhere the default is the value in
`config.yaml`, for tasks in the order {", ".join(TASKS)} if they differ. An editor that reads
`docs/config.schema.json` completes keys and marks mistakes.

This page and the schema are made from `workflow_scripts/schema.py` by `python -m workflow_scripts.config_reference`.
"""
LONGEST = 60  # characters of a default in the table; for a longer default the table refers to config.yaml
KINDS = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text"}
BOUNDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "less than"}
ABSENT = object()
Node = dict[str, Any]


def json_schema() -> Node:
    """Return the JSON schema of a description; no key is required, because a preset may omit any key."""
    tidy: Node = _tidy(TypeAdapter(Description).json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **tidy}


def _tidy(value: Any, names: bool = False) -> Any:
    """Remove titles and `required`, and close tables of patterns; with `names`, keys are names and not keywords."""
    if isinstance(value, list):
        return [_tidy(part) for part in value]
    if not isinstance(value, dict):
        return value
    closed = {"additionalProperties": False} if "patternProperties" in value and not names else {}
    parts = {key: part for key, part in value.items() if names or key not in ("title", "required")}
    return closed | {key: _tidy(part, key in ("properties", "$defs") and not names) for key, part in parts.items()}


def markdown(schema: Node, config: Config) -> str:
    """Return the reference as Markdown, one table per section."""
    parts = [HEADER]
    for section, node in schema["properties"].items():
        (record,) = node["patternProperties"].values() if "patternProperties" in node else (node,)
        rows = _rows(schema, node, section, [config[section]])
        parts.append(f"## {section}\n\n{_target(schema, record)['description']}\n")
        parts.append("\n".join(["| key | values | default | meaning |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _rows(schema: Node, node: Node, path: str, values: list[Any]) -> Iterator[str]:
    """Yield the table rows of a key and of the keys below it; `values` are their values in config.yaml."""
    inner = _not_null(node)
    if inner is not node and ("$ref" in inner or "patternProperties" in inner):
        yield f"| `{path}` | keys and values, or `null` |  | {node['description']} |"
    if "patternProperties" in inner:  # only `settings` has an entry named default
        (child,) = inner["patternProperties"].values()
        yield from _rows(schema, child, f"{path}.<name>", [_get(value, "default") for value in values])
    elif "$ref" in inner.get("items", {}):
        yield from _rows(schema, inner["items"], f"{path}[]", [])
    elif "$ref" in inner and not _changes(schema, inner):
        keys = _target(schema, inner)["properties"]
        if "parsing" in keys:  # all tasks have the same keys
            child, values, keys = keys["parsing"], [_get(values[0], task) for task in keys], {}
            yield from _rows(schema, child, f"{path}.<task>", values)
        for key, child in keys.items():
            yield from _rows(schema, child, f"{path}.{key}", [_get(value, key) for value in values])
    else:
        known = [value for value in values if value is not ABSENT] or [node.get("default", ABSENT)]
        texts = [_flow(value) for value in known if value is not ABSENT]
        default = " / ".join(texts if len(set(texts)) > 1 else texts[:1])
        about = node.get("description", "").replace("<", "&lt;")
        yield f"| `{path}` | {_allowed(schema, node)} | {default} | {about} |"


def _allowed(schema: Node, node: Node) -> str:
    """Return a description of the values that a key may have."""
    inner = _not_null(node)
    if "enum" in inner:
        text = ", ".join(_flow(choice) for choice in inner["enum"])
    elif "$ref" in inner:
        text = f"keys of `{_changes(schema, inner)}`"
    elif inner["type"] == "array":
        items = inner.get("items") or inner["prefixItems"][0]
        number = f" {inner['minItems']}" if inner.get("minItems") == inner.get("maxItems", 0) else ""
        text = f"list of{number}: {_allowed(schema, items)}"
    else:
        bounds = [f"{word} {inner[bound]}" for bound, word in BOUNDS.items() if bound in inner]
        text = PATTERNS.get(inner.get("pattern", ""), ", ".join([KINDS[inner["type"]], *bounds]))
    return text if inner is node else f"{text}, or `null`"


def _not_null(node: Node) -> Node:
    return next((part for part in node.get("anyOf", []) if part != {"type": "null"}), node)


def _target(schema: Node, node: Node) -> Node:
    return dict(schema["$defs"][node["$ref"].rpartition("/")[2]])


def _changes(schema: Node, node: Node) -> str:
    """Return the section whose keys a table overrides, or an empty string if it overrides none."""
    sections: dict[str, str] = {f"{part.get('$ref')}Changes": key for key, part in schema["properties"].items()}
    return sections.get(node["$ref"], "")


def _get(value: Any, key: str) -> Any:
    return value.get(key, ABSENT) if isinstance(value, dict) else ABSENT


def _flow(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=1000).removesuffix("...\n").strip()
    return f"`{text}`" if len(text) <= LONGEST else "in `config.yaml`"


def main() -> None:
    """Write both files."""
    schema, docs = json_schema(), REPOSITORY / "docs"
    with write_text(docs / "config.schema.json") as handle:
        handle.write(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")
    with write_text(docs / "config.md") as handle:
        handle.write(markdown(schema, read_config(REPOSITORY / "config.yaml")))


if __name__ == "__main__":
    run(main)
