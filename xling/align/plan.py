"""The plan of a job: a JSON file that says what is compared with what, written by the workflow or by hand."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling.core.errors import InputError, XlingError
from xling.core.io import read_json


def plan_parser(description: str | None, required: bool = True) -> argparse.ArgumentParser:
    """Return the command line of a job that has a plan."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=required, help="a JSON file: what is compared with what")
    parser.add_argument("--out", type=Path, required=True)
    return parser


def parse_plan_or_pair(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read a command line that has either a plan or one pair of files of states."""
    parser.add_argument("--left", type=Path, help="instead of a plan: states of one side's sentences")
    parser.add_argument("--right", type=Path, help="states of the same sentences on the other side, row by row")
    args = parser.parse_args()
    if (args.plan is None) == (args.left is None) or (args.left is None) != (args.right is None):
        raise XlingError("expected either --plan, or --left and --right")
    return args


@dataclass(frozen=True)
class Plan:
    """A part of a plan, which knows its place in the file."""

    path: Path
    value: Any
    place: str = ""

    def object(self, *needed: str) -> dict[str, Any]:
        """Return this part, which must be an object with these keys."""
        if not isinstance(self.value, dict) or any(key not in self.value for key in needed):
            raise self._wrong("an object" + (f" with {', '.join(needed)}" if needed else ""))
        return self.value

    def list(self, length: int | None = None) -> "list[Plan]":
        """Return the items of this part, which must be a list of this length, or of at least one item."""
        if not isinstance(self.value, list) or not self.value or len(self.value) != (length or len(self.value)):
            raise self._wrong(f"a list of {length or 'one or more'}")
        return [Plan(self.path, item, f"{self.place}[{number}]") for number, item in enumerate(self.value)]

    def __getitem__(self, key: str) -> "Plan":
        """Return the part under a key, which must be there."""
        return Plan(self.path, self.object(key)[key], f"{self.place}.{key}".removeprefix("."))

    def _wrong(self, expected: str) -> InputError:
        return InputError(self.path, f"{self.place or 'the plan'}: expected {expected}")


def read_plan(path: Path) -> Plan:
    """Read a plan, of which nothing is checked yet."""
    return Plan(path, read_json(path))


def read_language_plan(path: Path, *needed: str) -> Plan:
    """Return a plan of languages, each with these keys and in every seed the folders of its states and the source's.

    `config` is what the result belongs to: whoever collects results refuses one with another.
    """
    plan = read_plan(path)
    source = plan.object("source", "languages", "config")["source"]
    for code in plan["languages"].object():
        own = plan["languages"][code]
        own.object("seeds", *needed)
        for seed in own["seeds"].list():
            seed.object(source, code)
    return plan
