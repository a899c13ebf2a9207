"""Install eflomal, the word aligner of Figures 5 and 8, beside this interpreter.

python -m workflow_scripts.install_aligner

It comes as source only and needs a C compiler. Where a machine has none, pip brings one (zig, MIT licence) for the
build. Two headers of ours are put before its sources: with them it runs in one thread and takes its seed from a
file, which it offers no other way to do. Nothing of it is changed, and nothing but xling.align.align_words runs it.
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
    """Return the variables of the build; MAKEFLAGS=e lets ours stand before those of eflomal's Makefile."""
    headers = shutil.copytree(HEADERS, folder / "headers")
    flags = f"-O3 -std=gnu99 -I{headers} -include {headers / 'seeded.h'}"
    return {**environment, "CC": compiler, "CFLAGS": flags, "LDFLAGS": "", "LDLIBS": "-lm", "MAKEFLAGS": "e"}


def find_compiler(folder: Path) -> str:
    """Return the machine's C compiler, or one that pip brings into a folder."""
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
    """Install what is named and nothing else, without the cache: it may hold a build without our headers."""
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
