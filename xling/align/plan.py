"""A study's plan as an analysis gets it on the command line: which states are compared, as JSON."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.align.represent import states_file
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
    if not isinstance(plan, dict) or any(key not in plan for key in needed):
        raise XlingError(f"--plan: expected a JSON object with {', '.join(needed)}")
    return plan


def seed_states(seeds: Folders, kind: str, name: str, codes: Sequence[str]) -> Iterator[list[States]]:
    """Yield for each seed the states of a set in these languages; every seed's must be of the same items."""
    first: list[States] = []
    for folders in seeds:
        states = [read_states(states_file(Path(folders[code]), kind, name, code)) for code in codes]
        first = first or states
        for ours, known in zip(states, first, strict=True):
            check_same_items(ours, known)
        yield states
