"""Write the tested pins: python -m workflow_scripts.lock --lock requirements.lock --environments envs"""

import argparse
import re
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

from workflow_scripts.config import REPOSITORY
from xling.core.errors import run
from xling.core.io import write_text

LOCK_HEADER = """# Tested together; written by `make lock`. Installed by `make demo` and `make test`.
# torch: this exact version, because another may bring gigabytes of GPU libraries to a machine without one.
"""
ENVIRONMENT_HEADER = """# For --sdm conda: {about}, pinned as in requirements.lock; written by `make lock`.
channels:
  - conda-forge
dependencies:
  - python={python}
  - pip={pip}
  - pip:
"""
PYTHON, PIP = "3.11.7", "25.0"  # of the environments; the package runs on 3.11 and later
# Data, text and vocabularies need no torch and so none of the gigabytes that it brings for GPUs.
TEXT = [
    *("backports-zstd", "jieba", "numpy", "opencc", "pandas", "pydantic", "pyyaml"),
    *("requests", "sacremoses", "sentencepiece", "urllib3"),
]
LEFT_OUT = {"pip", "xling", "eflomal"}  # eflomal has pins of its own: envs/eflomal.txt


def pins(installed: list[Distribution]) -> dict[str, str]:
    """Return the version of every distribution by name, without what a build adds to it (as +cpu)."""
    found = {canonical(item.metadata["Name"]): item.version.split("+")[0] for item in installed}
    return {name: version for name, version in sorted(found.items()) if name not in LEFT_OUT}


def direct_dependencies(pyproject: Path) -> list[str]:
    """Return the names of what the package itself depends on."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return sorted(canonical(re.split(r"[^A-Za-z0-9._-]", item)[0]) for item in project["dependencies"])


def environments(versions: dict[str, str], names: list[str]) -> dict[str, str]:
    """Return the conda environment files: of all that the package imports, and of stages without torch."""
    about = {"xling": "what xling imports (on Linux this torch is the one for GPUs)", "text": "what text stages import"}
    stacks = {"xling": names, "text": TEXT}
    return {f"{stack}.yaml": _environment(versions, stacks[stack], about[stack]) for stack in stacks}


def _environment(versions: dict[str, str], names: list[str], about: str) -> str:
    header = ENVIRONMENT_HEADER.format(about=about, python=PYTHON, pip=PIP)
    return header + "".join(f"      - {name}=={versions[name]}\n" for name in names)


def canonical(name: str) -> str:
    """Return a distribution's name in the one way that all spellings have in common."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Write lock and environment files from the environment that runs this."""
    args = parse_args()
    versions = pins(list(distributions()))
    with write_text(args.lock) as handle:
        handle.write(LOCK_HEADER + "".join(f"{name}=={version}\n" for name, version in versions.items()))
    for name, text in environments(versions, direct_dependencies(REPOSITORY / "pyproject.toml")).items():
        with write_text(args.environments / name) as handle:
            handle.write(text)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=Path, required=True)
    parser.add_argument("--environments", type=Path, required=True, help="folder of the environment files")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
