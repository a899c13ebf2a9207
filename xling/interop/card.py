"""The card of an exported model: what it is, what it was made from, what was measured, what it is not for."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import numbered_lines, read_json
from xling.interop.tokenizer_files import longest_text
from xling.model.config import ModelConfig

PAPER = "*Emerging Cross-lingual Structure in Pretrained Language Models* (Conneau et al., 2020)"
SEPARATED = {True: "the embeddings and the softmax", "tokens": "the token vectors and the softmax"}
NO_CACHE = "from xling.interop.hugging_face import NoCache  # transformers 5 fails on pre_norm without it\n"


def model_card(config: ModelConfig, language: int | None, model: Path, licence: str | None) -> str:
    """Return the README.md of a model, or of one language of it, from the files of its run."""
    run = _optional(model / "run.json")
    parts = [
        _front_matter(config, language, licence),
        f"# {run.get('model', model.name)}{'' if language is None else f', the part of {config.languages[language]}'}",
        _what(config, language),
        _section("How to use it", _usage(config, language)),
        _section("The model", _table(_shape(config))),
        _section("How it was made", _made(run)),
        _section("What was measured", _measured(model / "metrics.jsonl")),
        _section("Limits", _limits(config, longest_text(model, config))),
        _section("Licence", _licence(licence)),
        _section("Cite", f"{PAPER}, Proceedings of ACL, doi:10.18653/v1/2020.acl-main.536."),
        _provenance(_optional(model / "provenance.json")),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def last_validation(path: Path) -> dict[str, Any] | None:
    """Return the last validation of a run, or None where there was none."""
    last = None
    for number, line in numbered_lines(path) if path.is_file() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            raise InputError(path, "not JSON", line=number) from None
        last = record if record.get("kind") == "validation" else last
    return last


def _front_matter(config: ModelConfig, language: int | None, licence: str | None) -> str:
    codes = config.languages if language is None else (config.languages[language],)
    lines = ["---", "language:", *(f"- {code}" for code in codes), f"license: {licence or 'other'}"]
    return "\n".join([*lines, "library_name: transformers", "pipeline_tag: fill-mask", "tags:", "- xling", "---"])


def _what(config: ModelConfig, language: int | None) -> str:
    whole = f"A masked language model of {' and '.join(config.languages)}, trained with xling in a study after {PAPER}."
    if language is None:
        return whole
    own = [SEPARATED[config.separate.embeddings]] if config.separate.embeddings else []
    own += [f"the first {config.separate.layers} layers"] if config.separate.layers else []
    return f"{whole} Each language has {' and '.join(own)} to itself, so each has a folder; the rest is the same."


def _usage(config: ModelConfig, language: int | None) -> str:
    one = language is not None or len(config.languages) == 1
    named = "" if one else f', language="{config.languages[0]}"'
    pre = config.shape.norm == "pre"
    code = f"""from transformers import AutoModelForMaskedLM
from xling.interop.hf_tokenizer import XlingTokenizer
{NO_CACHE if pre else ""}
tokenizer = XlingTokenizer.from_pretrained("FOLDER"{named})
model = AutoModelForMaskedLM.from_pretrained("FOLDER").eval()
inputs = tokenizer("TEXT", truncation=True, return_tensors="pt")
outputs = model(**inputs{", cache=NoCache.of(model.config)" if pre else ""})"""
    told = "The tokenizer takes raw text and gives the ids of training"
    langs = ", and `langs` beside them: without `langs` the numbers are wrong" if config.speaks else ""
    return f"```python\n{code}\n```\n\n{told}{langs}."


def _shape(config: ModelConfig) -> dict[str, Any]:
    shape = config.shape
    return {
        "layers, width, heads, feed-forward": f"{shape.layers}, {shape.width}, {shape.heads}, {shape.feedforward}",
        "LayerNorm": f"{shape.norm} (eps {shape.norm_eps})",
        "activation": shape.activation,
        "positions": shape.positions,
        "vocabulary": ", ".join(f"{c} {n}" for c, n in zip(config.languages, config.sizes, strict=True)),
        "language embeddings": "yes" if config.speaks else "no",
    }


def _made(run: Mapping[str, Any]) -> str:
    if not run:
        return "Not known: the model came without a run.json."
    made = run.get("made_from", {})
    corpus = {f"text of {code}": _flat(about) for code, about in made.get("corpus", {}).items()}
    vocabulary = {"vocabulary": _flat(made["vocabulary"])} if "vocabulary" in made else {}
    training = {name: run["pretrain"][name] for name in sorted(run.get("pretrain", {}))}
    return _table({"seed": run.get("seed", "not known"), **vocabulary, **corpus, **training})


def _measured(metrics: Path) -> str:
    last = last_validation(metrics)
    if last is None:
        return "Nothing: the model came without a validation in its metrics.jsonl."
    heading = f"Masked-language-model loss on held-out text after {last['update']} updates, in nats."
    entropy = last.get("unigram_entropy", {})
    rows = [
        f"| {code} | {loss:.4f} | {last['perplexity'][code]:.2f} | {entropy[code]:.4f} |"
        if code in entropy
        else f"| {code} | {loss:.4f} | {last['perplexity'][code]:.2f} | |"
        for code, loss in last["loss"].items()
    ]
    head = ["| language | loss | perplexity | loss of word frequencies alone |", "|---|---|---|---|"]
    return "\n".join([heading, "", *head, *rows])


def _limits(config: ModelConfig, longest: int) -> str:
    lines = [
        "Made to study how cross-lingual structure emerges, not for use in products: no filtering of its text, "
        "no study of bias, small beside published models.",
        f"Reads at most {longest} tokens, `</s>` at both ends included.",
    ]
    if len(config.languages) > 1:
        lines.append("A text has one language: name it to the tokenizer.")
    return "\n".join(f"- {line}" for line in lines)


def _licence(licence: str | None) -> str:
    if licence is None:
        return "Not stated by whoever exported it. The text it was trained on has licences of its own."
    return f"{licence}, as stated by whoever exported it. The text it was trained on has licences of its own."


def _provenance(about: Mapping[str, Any]) -> str:
    if not about:
        return ""
    devices = sorted({str(attempt.get("device")) for attempt in about.get("attempts", [])})
    rows = {"commit": about.get("commit", "unknown"), "hardware": ", ".join(devices), "seconds": about.get("seconds")}
    return _section("Provenance", _table({**rows, **about.get("versions", {})}))


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}"


def _table(rows: Mapping[str, Any]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in rows.items())])


def _cell(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
    return text.replace("|", "\\|")


def _flat(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {str(values[name]).lower()}" for name in sorted(values))


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}
