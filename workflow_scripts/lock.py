"""Write the tested pins: python -m workflow_scripts.lock --out requirements.lock"""

import argparse
from importlib.metadata import Distribution, distributions
from pathlib import Path

from xling.core.errors import run
from xling.core.io import write_text

HEADER = """# Tested together; written by `make lock`. Installed by `make demo` and `make test`.
# torch: this exact version, because another may bring gigabytes of GPU libraries to a machine without one.
"""
LEFT_OUT = {"pip", "xling"}


def pins(installed: list[Distribution]) -> list[str]:
    """Return name==version for every distribution, without what a build adds to the version (as +cpu)."""
    found = {item.metadata["Name"].lower().replace("_", "-"): item.version.split("+")[0] for item in installed}
    return [f"{name}=={version}" for name, version in sorted(found.items()) if name not in LEFT_OUT]


def main() -> None:
    """Write the lock file from the environment that runs this."""
    args = parse_args()
    with write_text(args.out) as handle:
        handle.write(HEADER + "\n".join(pins(list(distributions()))) + "\n")


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
