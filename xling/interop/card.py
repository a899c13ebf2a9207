"""The model card of an exported model: description, training data and settings, evaluation, and limitations."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from xling.core.errors import InputError
from xling.core.io import numbered_lines, read_json
from xling.model.config import ModelConfig

SEPARATED = {True: "the embeddings and the softmax", "tokens": "the token vectors and the softmax"}


def model_card(
    config: ModelConfig, language: int | None, model: Path, longest: int, licence: str | None, segmented: Sequence[str]
) -> str:
    """Return the README.md of a model, or of one of its languages, from the files of its training run.

    `segmented` lists the languages that need a word segmenter.
    """
    run, provenance = (
        read_json(path) if (path := model / name).is_file() else {} for name in ("run.json", "provenance.json")
    )
    own = [SEPARATED[config.separate.embeddings]] if config.separate.embeddings else []
    own += [f"the first {config.separate.layers} layers"] if config.separate.layers else []
    shape, made = config.shape, run.get("made_from", {})
    sizes = {
        "layers, width, heads, feed-forward": [shape.layers, shape.width, shape.heads, shape.feedforward],
        "LayerNorm": f"{shape.norm} (eps {shape.norm_eps})",
        "activation": shape.activation,
        "positions": shape.positions,
        "vocabulary": [f"{code} {size}" for code, size in zip(config.languages, config.sizes, strict=True)],
        "language embeddings": "yes" if config.has_language_embeddings else "no",
    }
    parts = {"vocabulary": made.get("vocabulary")} | {f"text of {c}": v for c, v in made.get("corpus", {}).items()}
    described = {
        name: [f"{key}: {str(values[key]).lower()}" for key in sorted(values)]
        for name, values in parts.items()
        if values
    }
    training = {"seed": run.get("seed", "not known")} | described | dict(sorted(run.get("pretrain", {}).items()))
    devices = sorted({str(attempt.get("device")) for attempt in provenance.get("attempts", [])})
    origin = {"commit": provenance.get("commit", "unknown"), "hardware": devices, "seconds": provenance.get("seconds")}
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    kept = {"keep_trailing_newline": True, "trim_blocks": True, "lstrip_blocks": True}
    return jinja2.Environment(loader=loader, **kept).get_template("card.md.j2").render(  # type: ignore[arg-type]  # noqa: S701 (Markdown)
        codes=config.languages if language is None else (config.languages[language],),
        apart=language is not None, own=own, config=config, longest=longest, licence=licence, folder=model.name,
        segmented=segmented, run=run, shape=sizes, made=training, last=_last_validation(model / "metrics.jsonl"),
        provenance=origin | provenance.get("versions", {}) if provenance else None,
    )  # fmt: skip


def _last_validation(metrics: Path) -> dict[str, Any] | None:
    """Return the last validation record in the metrics of a run; None if there is none."""
    last = None
    for number, line in numbered_lines(metrics) if metrics.is_file() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            raise InputError(metrics, "not JSON", line=number) from None
        last = record if record.get("kind") == "validation" else last
    return last
