"""Refuse inputs that another configuration made: python -m workflow_scripts.expect models/en.mono.s1/run.json=HASH …

Snakemake identifies input files by name only. If it was told to compare only file times, or if files were copied from
elsewhere, an input may come from another configuration, and the result would then carry the wrong hash.
"""

import sys
from pathlib import Path

from xling.core.errors import run
from xling.core.results import read_result


def main() -> None:
    """Check every file on the command line against its hash."""
    for file in sys.argv[1:]:
        path, _, wanted = file.rpartition("=")
        read_result(Path(path), wanted)


if __name__ == "__main__":
    run(main)
