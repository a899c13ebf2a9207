"""Refuse inputs that another configuration made: python -m workflow_scripts.expect models/en.mono.s1/run.json=HASH …

Snakemake hands a job whatever lies under its inputs' names. Where it was told to look at times alone, or files were
copied from elsewhere, that can be of another configuration, and the result would carry the hash of this one.
"""

import sys
from pathlib import Path

from xling.core.errors import run
from xling.core.results import read_result


def main() -> None:
    """Check every file that the command line names with its hash."""
    for file in sys.argv[1:]:
        path, _, wanted = file.rpartition("=")
        read_result(Path(path), wanted)


if __name__ == "__main__":
    run(main)
