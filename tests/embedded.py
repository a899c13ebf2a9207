"""The embedded study's description, for tests that change a key of it."""

import copy
from pathlib import Path
from typing import Any

from workflow_scripts.config import merge, read_config

ROOT = Path(__file__).resolve().parents[1]
EMBEDDED = read_config(ROOT / "config.yaml")


def study(**changes: Any) -> dict[str, Any]:
    """Return the embedded description with changes laid over it, as a preset would."""
    return copy.deepcopy(merge(EMBEDDED, changes))
