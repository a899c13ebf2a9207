"""What the report's rules ask of a study: its description as text, its scale, its raw files."""

import hashlib
import json
from pathlib import Path

from workflow_scripts.files import needed_files
from workflow_scripts.study import Study

PAPER_TOKENS = 80_000_000_000  # section 3.1: 200 epochs of 200k streams of 256 tokens on 8 GPUs are 82 billion


def study_json(study: Study) -> str:
    """Return the study's whole description as one line of JSON."""
    return json.dumps(study.config, sort_keys=True)


def study_hash(study: Study) -> str:
    """Return the hash of the study's whole description, which its verdicts carry."""
    return hashlib.sha256(study_json(study).encode()).hexdigest()[:16]


def scale_flag(study: Study) -> str:
    """Return the flag that says that a study has the paper's data and budget, or nothing."""
    train = study.config["pretrain"]
    tokens = train["updates"] * train["micro_batches"] * train["micro_batch_tokens"]
    return "--paper-scale" if tokens >= PAPER_TOKENS and not study.generated else ""


def raw_data(study: Study) -> list[Path]:
    """Return every raw file that the study reads."""
    return sorted(set(needed_files(study.config).values()))
