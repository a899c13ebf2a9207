"""The command `xling`: what can be done with models outside a study.

xling export MODEL             a folder that Hugging Face's transformers loads
xling compare MODEL_A MODEL_B  CKA and retrieval between any two encoders

`xling COMMAND --help` shows the flags. The study itself runs with snakemake.
"""

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from xling.core.errors import XlingError, run

COMMANDS = {
    "export": "xling.interop.export",
    "compare": "xling.interop.compare_published",
}


def dispatch(argv: Sequence[str]) -> None:
    """Call the module of a command; modules are loaded only when they are used."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(__doc__.strip())
        return
    if argv[0] not in COMMANDS:
        raise XlingError(f"unknown command {argv[0]!r}: expected {', '.join(COMMANDS)}")
    import_module(COMMANDS[argv[0]]).main(argv[1:])


def main() -> None:
    """Run a command as the console script does."""
    run(partial(dispatch, sys.argv[1:]))


if __name__ == "__main__":
    main()
