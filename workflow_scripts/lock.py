"""Write the tested pins from what is installed: python -m workflow_scripts.lock

requirements.lock gets every package. The environments for --sdm conda, envs/*.yaml, keep their lists and get the same
versions; text stages have one without torch and so without the gigabytes that it brings for GPUs.
"""

import argparse
import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from workflow_scripts.config import REPOSITORY
from xling.core.errors import run
from xling.core.io import write_text

LOCK_HEADER = """# Tested together; written by `make lock`. Installed by `make demo` and `make test`.
# torch: this exact version, because another may bring gigabytes of GPU libraries to a machine without one.
"""
LEFT_OUT = {"pip", "xling", "eflomal"}  # eflomal has pins of its own: envs/eflomal.txt


def direct_dependencies(pyproject: Path) -> list[str]:
    """Return the names of what the package itself depends on."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return sorted(canonicalize_name(Requirement(item).name) for item in project["dependencies"])


def pinned(environment: str, versions: Mapping[str, str]) -> str:
    """Return an environment file with these versions."""
    return re.sub("- (.+)==(.+)", lambda pin: f"- {pin[1]}=={versions.get(pin[1], pin[2])}", environment)


def main() -> None:
    """Write lock and environment files from the environment that runs this."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    # Without what a build adds to its version (as +cpu).
    installed = {str(canonicalize_name(one.metadata["Name"])): one.version.split("+")[0] for one in distributions()}
    versions = {name: installed[name] for name in sorted(installed.keys() - LEFT_OUT)}
    texts = {path: pinned(path.read_text(encoding="utf-8"), versions) for path in (REPOSITORY / "envs").glob("*.yaml")}
    lines = "".join(f"{name}=={version}\n" for name, version in versions.items())
    for path, text in {REPOSITORY / "requirements.lock": LOCK_HEADER + lines, **texts}.items():
        with write_text(path) as handle:
            handle.write(text)


if __name__ == "__main__":
    run(main)
