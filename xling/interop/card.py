"""The card of an exported model: what it is, what it was made from, what was measured, and what it is not for."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from xling.core.errors import InputError
from xling.core.io import numbered_lines, read_json
from xling.model.config import ModelConfig

SEPARATED = {True: "the embeddings and the softmax", "tokens": "the token vectors and the softmax"}


def model_card(config: ModelConfig, language: int | None, model: Path, longest: int, licence: str | None) -> str:
    """Return the README.md of a model, or of one language of it, from the files of its run."""
    run, provenance = (
        read_json(path) if (path := model / name).is_file() else {} for name in ("run.json", "provenance.json")
    )
    own = [SEPARATED[config.separate.embeddings]] if config.separate.embeddings else []
    own += [f"the first {config.separate.layers} layers"] if config.separate.layers else []
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    kept = {"keep_trailing_newline": True, "trim_blocks": True, "lstrip_blocks": True}
    return jinja2.Environment(loader=loader, **kept).get_template("card.md.j2").render(  # type: ignore[arg-type]  # noqa: S701 (Markdown)
        codes=config.languages if language is None else (config.languages[language],),
        apart=language is not None, own=own, config=config, longest=longest, licence=licence, folder=model.name,
        run=run, shape=_shape(config), made=_made(run), last=_last_validation(model / "metrics.jsonl"),
        provenance=_provenance(provenance) if provenance else None,
    )  # fmt: skip


def _shape(config: ModelConfig) -> dict[str, Any]:
    shape = config.shape
    return {
        "layers, width, heads, feed-forward": [shape.layers, shape.width, shape.heads, shape.feedforward],
        "LayerNorm": f"{shape.norm} (eps {shape.norm_eps})",
        "activation": shape.activation,
        "positions": shape.positions,
        "vocabulary": [f"{code} {size}" for code, size in zip(config.languages, config.sizes, strict=True)],
        "language embeddings": "yes" if config.has_language_embeddings else "no",
    }


def _made(run: Mapping[str, Any]) -> dict[str, Any]:
    made = run.get("made_from", {})
    parts = {"vocabulary": made.get("vocabulary")} | {f"text of {c}": v for c, v in made.get("corpus", {}).items()}
    described = {
        name: [f"{key}: {str(values[key]).lower()}" for key in sorted(values)]
        for name, values in parts.items()
        if values
    }
    return {"seed": run.get("seed", "not known")} | described | dict(sorted(run.get("pretrain", {}).items()))


def _last_validation(metrics: Path) -> dict[str, Any] | None:
    """Return the last validation in a run's metrics."""
    last = None
    for number, line in numbered_lines(metrics) if metrics.is_file() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            raise InputError(metrics, "not JSON", line=number) from None
        last = record if record.get("kind") == "validation" else last
    return last


def _provenance(about: Mapping[str, Any]) -> dict[str, Any]:
    devices = sorted({str(attempt.get("device")) for attempt in about.get("attempts", [])})
    rows = {"commit": about.get("commit", "unknown"), "hardware": devices, "seconds": about.get("seconds")}
    return {**rows, **about.get("versions", {})}
