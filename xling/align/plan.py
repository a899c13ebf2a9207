"""The plan of an analysis: a JSON file that says what is compared with what, written by the workflow or by hand."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

Seeds = Annotated[tuple[dict[str, Path], ...], Field(min_length=1)]  # for each seed the folders of states, by language


def missing_folders(source: str, languages: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a plan of languages: each seed has the states of the source and of the language."""
    for code, own in languages.items():
        for number, folders in enumerate(own.seeds):
            if not {source, code} <= set(folders):
                yield f"languages.{code}.seeds[{number}]: expected folders of {source} and {code}"


def plan_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the command line of a job that has a plan."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=True, help="a JSON file: what is compared with what")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--out", type=Path, required=True)
    return parser
