"""Write the tested pins: python -m workflow_scripts.lock --lock requirements.lock --environments envs"""

import argparse
import tomllib
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
ENVIRONMENT = """# For --sdm conda: {about}, pinned as in requirements.lock; written by `make lock`.
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


def direct_dependencies(pyproject: Path) -> list[str]:
    """Return the names of what the package itself depends on."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return sorted(canonicalize_name(Requirement(item).name) for item in project["dependencies"])


def environments(versions: dict[str, str], names: list[str]) -> dict[str, str]:
    """Return the conda environment files: of all that the package imports, and of stages without torch."""
    stacks = {
        "xling": ("what xling imports (on Linux this torch is the one for GPUs)", names),
        "text": ("what text stages import", TEXT),
    }
    return {
        f"{stack}.yaml": ENVIRONMENT.format(about=about, python=PYTHON, pip=PIP)
        + "".join(f"      - {name}=={versions[name]}\n" for name in wanted)
        for stack, (about, wanted) in stacks.items()
    }


def main() -> None:
    """Write lock and environment files from the environment that runs this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=Path, required=True)
    parser.add_argument("--environments", type=Path, required=True, help="folder of the environment files")
    args = parser.parse_args()
    # Without what a build adds to its version (as +cpu).
    installed = {str(canonicalize_name(one.metadata["Name"])): one.version.split("+")[0] for one in distributions()}
    versions = {name: installed[name] for name in sorted(installed.keys() - LEFT_OUT)}
    with write_text(args.lock) as handle:
        handle.write(LOCK_HEADER + "".join(f"{name}=={version}\n" for name, version in versions.items()))
    for name, text in environments(versions, direct_dependencies(REPOSITORY / "pyproject.toml")).items():
        with write_text(args.environments / name) as handle:
            handle.write(text)


if __name__ == "__main__":
    run(main)
