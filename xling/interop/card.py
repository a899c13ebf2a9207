"""The card of an exported model: what it is, what it was made from, what was measured, and what it is not for."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import numbered_lines, read_json
from xling.model.config import ModelConfig

PAPER = "*Emerging Cross-lingual Structure in Pretrained Language Models* (Conneau et al., 2020)"
SEPARATED = {True: "the embeddings and the softmax", "tokens": "the token vectors and the softmax"}
NO_CACHE = "from xling.interop.hugging_face import NoCache  # transformers 5 fails on pre_norm without it\n"


def model_card(config: ModelConfig, language: int | None, model: Path, longest: int, licence: str | None) -> str:
    """Return the README.md of a model, or of one language of it, from the files of its run."""
    run, provenance = (_optional(model / name) for name in ("run.json", "provenance.json"))
    codes = config.languages if language is None else (config.languages[language],)
    part = "" if language is None else f", the part of {codes[0]}"
    stated = "Not stated" if licence is None else f"{licence}, as stated"
    several = "- A text has one language: name it to the tokenizer.\n" if len(config.languages) > 1 else ""
    card = f"""---
language:
{_lines(f"- {code}" for code in codes)}
license: {licence or "other"}
library_name: transformers
pipeline_tag: fill-mask
tags:
- xling
---

# {run.get("model", model.name)}{part}

{_what(config, language)}

## How to use it

{_usage(config, len(codes) == 1)}

## The model

{_table(_shape(config))}

## How it was made

{_made(run)}

## What was measured

{_measured(model / "metrics.jsonl")}

## Limits

- Made to study how cross-lingual structure emerges, not for use in products: its text was not filtered, bias was not \
studied, and it is small beside published models.
- Reads at most {longest} tokens, `</s>` at both ends included.
{several}
## Licence

{stated} by whoever exported it. The text it was trained on has licences of its own.

## Cite

{PAPER}, Proceedings of ACL, doi:10.18653/v1/2020.acl-main.536.
"""
    return card + (f"\n## Provenance\n\n{_provenance(provenance)}\n" if provenance else "")


def _what(config: ModelConfig, language: int | None) -> str:
    whole = f"A masked language model of {' and '.join(config.languages)}, trained with xling in a study after {PAPER}."
    if language is None:
        return whole
    own = [SEPARATED[config.separate.embeddings]] if config.separate.embeddings else []
    own += [f"the first {config.separate.layers} layers"] if config.separate.layers else []
    return f"{whole} Each language has {' and '.join(own)} to itself, so each has a folder; the rest is the same."


def _usage(config: ModelConfig, one: bool) -> str:
    pre = config.shape.norm == "pre"
    langs = ", and `langs` beside them: without `langs` the numbers are wrong" if config.has_language_embeddings else ""
    return f"""```python
from transformers import AutoModelForMaskedLM
from xling.interop.hf_tokenizer import XlingTokenizer
{NO_CACHE if pre else ""}
tokenizer = XlingTokenizer.from_pretrained("FOLDER"{"" if one else f', language="{config.languages[0]}"'})
model = AutoModelForMaskedLM.from_pretrained("FOLDER").eval()
inputs = tokenizer("TEXT", truncation=True, return_tensors="pt")
outputs = model(**inputs{", cache=NoCache.of(model.config)" if pre else ""})
```

The tokenizer takes raw text and gives the ids of training{langs}."""


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


def _made(run: Mapping[str, Any]) -> str:
    if not run:
        return "Not known: the model came without a run.json."
    made = run.get("made_from", {})
    parts = {"vocabulary": made.get("vocabulary")} | {f"text of {c}": v for c, v in made.get("corpus", {}).items()}
    described = {
        name: [f"{key}: {str(values[key]).lower()}" for key in sorted(values)]
        for name, values in parts.items()
        if values
    }
    return _table({"seed": run.get("seed", "not known")} | described | dict(sorted(run.get("pretrain", {}).items())))


def _measured(metrics: Path) -> str:
    """Return a table of the last validation in a run's metrics."""
    last = None
    for number, line in numbered_lines(metrics) if metrics.is_file() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            raise InputError(metrics, "not JSON", line=number) from None
        last = record if record.get("kind") == "validation" else last
    if last is None:
        return "Nothing: the model came without a validation in its metrics.jsonl."
    entropy = {code: f"{value:.4f}" for code, value in last.get("unigram_entropy", {}).items()}
    rows = (
        f"| {code} | {loss:.4f} | {last['perplexity'][code]:.2f} | {entropy.get(code, '')} |"
        for code, loss in last["loss"].items()
    )
    return f"""Masked-language-model loss on held-out text after {last["update"]} updates, in nats.

| language | loss | perplexity | loss of word frequencies alone |
|---|---|---|---|
{_lines(rows)}"""


def _provenance(about: Mapping[str, Any]) -> str:
    devices = sorted({str(attempt.get("device")) for attempt in about.get("attempts", [])})
    rows = {"commit": about.get("commit", "unknown"), "hardware": devices, "seconds": about.get("seconds")}
    return _table({**rows, **about.get("versions", {})})


def _table(rows: Mapping[str, Any]) -> str:
    return _lines(["| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in rows.items())])


def _cell(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
    return text.replace("|", "\\|")


def _lines(parts: Any) -> str:
    return "\n".join(parts)


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}
