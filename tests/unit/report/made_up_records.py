"""What the figures of a study are drawn from, made up from smooth curves: nothing here was measured."""

import json
import math
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from made_up_study import curves

from xling.report import published
from xling.report.figures.study import Sharing
from xling.report.records import KINDS, LayerPair

LAYERS = 8
PAIRS, MODELS = ("en-en'", "en-fr", "en-de", "en-ru", "en-zh"), ("bilingual", "monolingual", "random")


def records() -> dict[str, list[Any]]:
    """Return the records of each figure; those of Figures 3 and 7 are the paper's own."""
    alike = [
        LayerPair(pair, model, a, b, (0.9 - 0.06 * place - 0.18 * step) * math.exp(-abs(a - b) / LAYERS))
        for (place, pair), (step, model), a, b in product(enumerate(PAIRS), enumerate(MODELS), range(3), range(3))
    ]
    papers = {"figure3": list(published.table1().cells), "figure7": list(published.figure7()), "cka_matrix": alike}
    return {name: list(getattr(curves(), name)) for name in KINDS} | papers


def sharing() -> list[Sharing]:
    """Return the ten settings of Table 1."""
    groups = ("", "Domain Similarity (§4.1)", "Anchor Points (§4.2)", "Parameter Sharing (§4.3)")
    joint, each = "80k", "40k/40k"
    return [
        Sharing("default", "Default", groups[0], "wiki", joint, "all", "shared", 0, "shared"),
        Sharing("wiki-cc", "Wiki-CC", groups[1], "crawl", joint, "all", "shared", 0, "shared"),
        Sharing("no-anchors", "No anchors", groups[2], "wiki", each, "none", "shared", 0, "shared"),
        Sharing("default-anchors", "Default anchors", groups[2], "wiki", each, "all", "shared", 0, "shared"),
        Sharing("extra-anchors", "Extra anchors", groups[2], "wiki", joint, "extra", "shared", 0, "shared"),
        Sharing("sep-emb", "Sep Emb", groups[3], "wiki", each, "none", "separate", 0, "separate"),
        Sharing("sep-l1-3", "Sep L1-3", groups[3], "wiki", each, "all", "shared", 3, "shared"),
        Sharing("sep-l1-6", "Sep L1-6", groups[3], "wiki", each, "all", "shared", 6, "shared"),
        Sharing("sep-emb-l1-3", "Sep Emb + L1-3", groups[3], "wiki", each, "none", "separate", 3, "separate"),
        Sharing("sep-emb-l1-6", "Sep Emb + L1-6", groups[3], "wiki", each, "none", "separate", 6, "separate"),
    ]


def study() -> dict[str, Any]:
    """Return the content of study.json."""
    return {
        "records": [asdict(setting) for setting in sharing()],
        "layers": LAYERS,
        "source": "en",
        "languages": ["en", "en2", "fr", "de", "ru", "zh"],
        "pairs": ["en-fr", "en-ru", "en-zh"],
        "shown": {"en2": "en'"},
    }


def metrics(*languages: str, updates: int = 1000, layers: int = LAYERS) -> list[dict[str, Any]]:
    """Return the lines of a model's metrics.jsonl."""
    made: list[dict[str, Any]] = []
    for update in range(0, updates + 1, updates // 4):
        done = update / updates
        if update:
            losses = dict.fromkeys(languages, 7.4 - 4.8 * done)
            made.append({"kind": "train", "update": update, "losses": losses, "lr": 0.006 * (1 - done)})
        losses = {code: 7.5 - 4.5 * done + 0.1 * place for place, code in enumerate(languages)}
        point: dict[str, Any] = {"kind": "validation", "update": update, "loss": losses}
        point["unigram_entropy"] = dict.fromkeys(languages, 5.0)
        if len(languages) == 2:
            scores = [0.002 + 0.2 * done * math.exp(-((2 * layer / layers - 0.6) ** 2)) for layer in range(layers + 1)]
            point["retrieval"] = {"-".join(languages): scores, "-".join(reversed(languages)): scores}
            point |= {"cka": [0.3 + 0.6 * done - 0.01 * layer for layer in range(layers + 1)], "sentences": 500}
        made.append(point)
    return made


def audit(left: str, right: str, share: float) -> dict[str, Any]:
    """Return the content of a model's anchors.json."""
    running = {code: {"tokens": 1000, "shared": round(1000 * share), "share": share} for code in (left, right)}
    return {"languages": [left, right], "running_tokens": running, "used_by_both": round(300 * share)}


def write_model(folder: Path, name: str, share: float = 0.4) -> None:
    """Write a model's metrics and, of a bilingual one, its audit."""
    languages = name.split(".")[0].split("-")
    (folder / name).mkdir(parents=True)
    lines = [json.dumps(line) for line in metrics(*languages)]
    (folder / name / "metrics.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if len(languages) == 2:
        (folder / name / "anchors.json").write_text(json.dumps(audit(*languages, share)), encoding="utf-8")
