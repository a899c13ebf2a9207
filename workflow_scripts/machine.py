"""What a result was made with: commit, versions, machine."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from workflow_scripts.config import REPOSITORY
from workflow_scripts.lock import direct_dependencies

PROCESSORS = Path("/proc/cpuinfo")


def commit() -> tuple[str, bool]:
    """Return the commit of the checkout, and whether tracked files differ from it; `unknown` outside a checkout."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return os.environ.get("XLING_COMMIT", "unknown"), False
    return head, bool(_git("status", "--porcelain", "--untracked-files=no"))


def versions() -> dict[str, str]:
    """Return the installed version of everything that the package itself depends on."""
    found = {}
    for name in direct_dependencies(REPOSITORY / "pyproject.toml"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a dependency of another Python version
            continue
    return found


def machine() -> dict[str, Any]:
    """Return this machine's processor, cores, memory and system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "host": platform.node(),
        "processor": processor(PROCESSORS.read_text(encoding="utf-8") if PROCESSORS.is_file() else ""),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(memory / 2**30, 2),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def processor(cpuinfo: str) -> str:
    """Return the processor's name as Linux tells it, else only its kind."""
    names = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, check=True)  # noqa: S603, S607
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
