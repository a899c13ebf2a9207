"""Install eflomal, the word aligner of Figures 5 and 8, beside this interpreter.

python -m workflow_scripts.install_aligner

Eflomal is distributed as source and needs a C compiler. If the machine has none, pip fetches one (zig, MIT licence) for
the build. The build includes two headers from envs/eflomal: with them eflomal runs in one thread and reads its seed
from a file, for which it has no option. Its sources are unchanged, and only xling.align.align_words runs it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from workflow_scripts.config import REPOSITORY
from xling.core.errors import XlingError, run
from xling.core.log import log_to_stderr

PINS = REPOSITORY / "envs" / "eflomal.txt"
HEADERS = REPOSITORY / "envs" / "eflomal"
COMPILERS = ("cc", "gcc", "clang")
COMPILER = "ziglang==0.13.0"
FIX = "Figures 5 and 8 need it: install a C compiler, make and Python's headers, then run the command again"


def build_environment(folder: Path, compiler: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the build; MAKEFLAGS=e makes it override the variables in eflomal's Makefile."""
    headers = shutil.copytree(HEADERS, folder / "headers")
    flags = f"-O3 -std=gnu99 -I{headers} -include {headers / 'seeded.h'}"
    return {**environment, "CC": compiler, "CFLAGS": flags, "LDFLAGS": "", "LDLIBS": "-lm", "MAKEFLAGS": "e"}


def find_compiler(folder: Path) -> str:
    """Return the machine's C compiler, or one that pip installs into a folder."""
    for name in (os.environ.get("CC", ""), *COMPILERS):
        if name and shutil.which(name):
            return name
    log_to_stderr(__name__).info("no C compiler here: fetching %s for this build", COMPILER)
    pip("--target", str(folder / "zig"), COMPILER)
    script = folder / "cc"
    script.write_text(f'#!/bin/sh\nexec "{folder}/zig/ziglang/zig" cc "$@"\n')
    script.chmod(0o755)
    return str(script)


def pip(*arguments: str, environment: Mapping[str, str] | None = None) -> None:
    """Run pip install without dependencies and without the cache, which may hold a build without our headers."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line.lower()]
        raise XlingError(f"pip could not install {arguments[-1]}: {(said or ['it said nothing'])[0].strip()} ({FIX})")


def main() -> None:
    """Build and install the pinned version."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = build_environment(folder, find_compiler(folder), os.environ)
        pip("--force-reinstall", "--requirement", str(PINS), environment=environment)


if __name__ == "__main__":
    run(main)
