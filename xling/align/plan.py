"""A study's plan as an analysis gets it on the command line: which states are compared, as JSON."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.align.represent_encoder import states_file
from xling.align.states import States, check_same_items, read_states
from xling.core.errors import XlingError

Folders = Sequence[Mapping[str, str]]  # for each seed the folder of every language's states


def plan_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the command line of an analysis of a whole study."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", required=True, metavar="JSON", help="what is compared with what")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--out", type=Path, required=True)
    return parser


def read_plan(text: str, *needed: str) -> dict[str, Any]:
    """Return the plan, which must have these keys."""
    try:
        plan = json.loads(text)
    except json.JSONDecodeError as error:
        raise XlingError(f"--plan is not JSON: {error.msg} at character {error.pos + 1}") from None
    return plan_object(plan, "--plan", *needed)


def read_language_plan(text: str, *needed: str) -> dict[str, Any]:
    """Return a plan of languages, each with these keys and in every seed the folders of its states and the source's."""
    plan = read_plan(text, "source", "languages")
    for code, about in plan_object(plan["languages"], "--plan: languages").items():
        place = f"--plan: languages.{code}"
        for folders in plan_list(plan_object(about, place, "seeds", *needed)["seeds"], f"{place}.seeds"):
            plan_object(folders, f"{place}.seeds", plan["source"], code)
    return plan


def plan_object(value: Any, place: str, *needed: str) -> dict[str, Any]:
    """Return a part of a plan, which must be an object with these keys."""
    if not isinstance(value, dict) or any(key not in value for key in needed):
        raise XlingError(f"{place}: expected a JSON object" + (f" with {', '.join(needed)}" if needed else ""))
    return value


def plan_list(value: Any, place: str, length: int | None = None) -> list[Any]:
    """Return a part of a plan, which must be a list with something in it, or of this length."""
    if not isinstance(value, list) or not value or len(value) != (length or len(value)):
        raise XlingError(f"{place}: expected a JSON list of {length or 'one or more'}")
    return value


def seed_states(seeds: Folders, kind: str, name: str, codes: Sequence[str]) -> Iterator[list[States]]:
    """Yield for each seed the states of a set in these languages; every seed's must be of the same items."""
    first: list[States] = []
    for folders in seeds:
        states = [read_states(states_file(Path(folders[code]), kind, name, code)) for code in codes]
        first = first or states
        for ours, known in zip(states, first, strict=True):
            check_same_items(ours, known)
        yield states
