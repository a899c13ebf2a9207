"""What a result was made with: commit, versions, machine."""

import os
import platform
from pathlib import Path
from typing import Any

from workflow_scripts.config import REPOSITORY
from workflow_scripts.lock import direct_dependencies
from xling.core import provenance

PROCESSORS = Path("/proc/cpuinfo")


def commit() -> tuple[str, bool]:
    """Return the commit of the checkout, and whether tracked files differ from it; `unknown` outside a checkout."""
    changes = provenance.git(REPOSITORY, "status", "--porcelain", "--untracked-files=no")
    return provenance.commit(REPOSITORY), bool(changes)


def versions() -> dict[str, str]:
    """Return the installed version of everything that the package itself depends on."""
    return provenance.installed(direct_dependencies(REPOSITORY / "pyproject.toml"))


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
    """Return the processor's name as Linux gives it, else only its kind."""
    names = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()
