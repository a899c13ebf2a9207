"""What the report's rules ask of a study: its description as text, its scale, its raw files."""

import json
from pathlib import Path

from workflow_scripts.alignment import Alignment
from workflow_scripts.contextual import Contextual
from workflow_scripts.files import needed_files
from workflow_scripts.identity import hashed
from workflow_scripts.study import Study
from workflow_scripts.transfer import Transfer

PAPER_TOKENS = 80_000_000_000  # section 3.1: 200 epochs of 200k streams of 256 tokens on 8 GPUs are 82 billion


def study_json(study: Study) -> str:
    """Return the study's whole description as one line of JSON."""
    return json.dumps(study.config, sort_keys=True)


def study_hash(study: Study) -> str:
    """Return the hash of the study's whole description."""
    return hashed(study.config)


def verdict_hash(transfer: Transfer, alignment: Alignment, contextual: Contextual) -> str:
    """Return the hash that verdicts carry: of the results that they are judged on, each by its own hash."""
    study = transfer.study
    decides = {
        "transfer": json.loads(transfer.plan_json()) if transfer.models else None,
        "alignment": {name: alignment.config_hash(name) for name in alignment.analyses},
        "contextual": {name: contextual.config_hash(name) for name in contextual.jobs},
        "scale": scale_flag(study),
        "revision": study.identity.revision("report"),
    }
    return hashed(decides)


def encoders(transfer: Transfer, contextual: Contextual) -> list[str]:
    """Return the names of everything that is trained, drawn, represented or fine-tuned."""
    return sorted({*transfer.study.models, *transfer.encoders, *contextual.jobs})


def texts(study: Study) -> list[str]:
    """Return the languages and pairs whose text the study reads."""
    together = {"-".join(model.languages) for model in study.models.values()}
    return sorted({*study.languages, *study.originals, *study.config["study"]["pairs"], *together})


def scale_flag(study: Study) -> str:
    """Return the flag that says that a study has the paper's data and budget, or nothing."""
    train = study.config["pretrain"]
    tokens = train["updates"] * train["micro_batches"] * train["micro_batch_tokens"]
    return "--paper-scale" if tokens >= PAPER_TOKENS and not study.generated else ""


def raw_data(study: Study) -> list[Path]:
    """Return every raw file that the study reads."""
    return sorted(set(needed_files(study.config).values()))
