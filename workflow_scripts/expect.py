"""Refuse inputs that another configuration made.

python -m workflow_scripts.expect --run models/en-fr.default.s1/run.json=HASH --made states/en.mono.s1/states.json=HASH

Snakemake hands a job whatever lies under its inputs' names. Where it was told to look at times alone, or files were
copied from elsewhere, that can be of another configuration, and the result would carry the hash of this one. Here the
inputs are asked first: a run.json for the hash of all it says (--run), or of what decides an encoder that is not
trained (--drawn); the result of a job for the hash it carries (--made).
"""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.identity import drawn_parts, hashed
from xling.core.errors import InputError, run
from xling.core.io import read_json

ASKED: dict[str, Callable[[Any], str]] = {
    "run": hashed,
    "drawn": lambda described: hashed(drawn_parts(described)),
    "made": lambda result: str(result["config"]),
}
FIX = "let Snakemake make it again, without --rerun-triggers mtime, or take the configuration it was made with"


def check(asked: str, files: Iterable[str]) -> None:
    """Refuse the first of these files, each with the hash it must have, that is of another configuration."""
    for file in files:
        path, _, wanted = file.rpartition("=")
        try:
            found = ASKED[asked](read_json(Path(path)))
        except (KeyError, TypeError):
            raise InputError(path, "says nothing of the configuration it was made with", fix=FIX) from None
        if found != wanted:
            raise InputError(path, f"of another configuration: {found or 'none'}, not {wanted}", fix=FIX)


def main() -> None:
    """Ask all inputs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ASKED:
        parser.add_argument(f"--{name}", action="append", default=[], metavar="FILE=HASH")
    args = parser.parse_args()
    for name in ASKED:
        check(name, getattr(args, name))


if __name__ == "__main__":
    run(main)
