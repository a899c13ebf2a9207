"""The embedded study's description, for tests that change a key of it."""

import copy
from pathlib import Path
from typing import Any

from workflow_scripts.config import merge, read_config
from workflow_scripts.study import Study

ROOT = Path(__file__).resolve().parents[1]
EMBEDDED = read_config(ROOT / "config.yaml")
SEP_TOKENS = {  # a setting beside the ten: token vectors are a language's own, positions are shared
    "label": "Sep Tokens", "bpe": "per-language", "anchors": "none", "separate": {"embeddings": "tokens"},
    "softmax": "per-language",
}  # fmt: skip


def study(**changes: Any) -> dict[str, Any]:
    """Return the embedded description with changes laid over it, as a preset would."""
    return copy.deepcopy(merge(EMBEDDED, changes))


def made(**changes: Any) -> Study:
    """Return the embedded study with changes laid over its description."""
    return Study(study(**changes))


DEMO = made()
PAPER = Study(read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml"))
