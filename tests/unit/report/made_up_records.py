"""Records as a study might measure them, made up from smooth curves: nothing here was measured."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xling.report.figures.study import Sharing
from xling.report.records import ContextualScore, LayerPair, SentenceScore, WordScore

WORDS = {"fr": (48.0, 42.0), "de": (44.0, 39.5), "ru": (31.0, 30.0), "zh": (22.0, 24.5)}
LANGUAGES = tuple(WORDS)
LAYERS = 8


def hump(layer: int, best: float, width: float, layers: int = LAYERS) -> float:
    """Return a smooth rise and fall between 0 and 1 over the layers."""
    return math.exp(-(((layer / layers - best) / width) ** 2))


def words_4a() -> list[WordScore]:
    """Return Figure 4a's records."""
    made = []
    for code, (bert, fasttext) in WORDS.items():
        made.append(WordScore(code, "BERT", bert, 0.02, None, bert - 2.6, bert + 2.6, 1211))
        made.append(WordScore(code, "fastText", fasttext, 0.02, None, fasttext - 2.4, fasttext + 2.4, 1211))
        made.append(WordScore(code, "untrained", 0.1, 0.02, None, 0.0, 0.4, 1211))
    return made


def words_4b(layers: int = LAYERS) -> list[WordScore]:
    """Return Figure 4b's records."""
    made = []
    for code, (bert, fasttext) in WORDS.items():
        made.append(WordScore(code, "fastText", fasttext + 20, 0.01, None, fasttext + 18, fasttext + 22, 1480))
        for layer in range(layers + 1):
            p1 = bert * (0.5 + 0.6 * hump(layer, 0.9, 0.7, layers))
            made.append(WordScore(code, "BERT", p1, 0.01, layer, p1 - 2, p1 + 2, 1480))
            made.append(WordScore(code, "untrained", 0.6 + 0.1 * layer, 0.01, layer, None, None, 1480))
    return made


def contextual(series: tuple[str, ...] = ("MLM align", "biMLM"), layers: int = LAYERS) -> list[ContextualScore]:
    """Return records of Figure 5 (or 8, with its series)."""
    made = []
    for task, scale in (("ner", 60.0), ("parsing", 70.0)):
        for place, code in enumerate(("fr", "ru", "zh")):
            for number, name in enumerate(series):
                for layer in range(layers + 1):
                    score = scale * (0.75 - 0.17 * place) * (0.35 + 0.65 * hump(layer, 0.55, 0.6, layers))
                    score *= 1 - (0.2 if task == "ner" else 0.06) * (number == 0)
                    made.append(ContextualScore(task, code, name, layer, score, 6.0 + place, score - 1.5, score + 1.5))
    return made


def sentences(layers: int = LAYERS) -> list[SentenceScore]:
    """Return Figure 6's records."""
    made = []
    for place, code in enumerate(LANGUAGES):
        for direction in ("en-x", "x-en"):
            for layer in range(layers + 1):
                p1 = (78 - 13 * place) * (0.45 + 0.55 * hump(layer, 0.25, 0.5, layers)) - 3 * (direction == "x-en")
                made.append(SentenceScore(code, "monolingual", direction, layer, p1, 0.1, p1 - 3, p1 + 3))
                made.append(SentenceScore(code, "untrained", direction, layer, 3 + 0.3 * place + 0.2 * layer, 0.1))
    return made


def matrices(layers: int = LAYERS) -> list[LayerPair]:
    """Return full matrices of similarities for the pairs and models of Figure 7."""
    made = []
    for place, pair in enumerate(("en-en'", "en-fr", "en-de", "en-ru", "en-zh")):
        for step, model in enumerate(("bilingual", "monolingual", "random")):
            for a in range(layers + 1):
                for b in range(layers + 1):
                    near = math.exp(-(((a - b) / layers) ** 2) * 4)
                    made.append(LayerPair(pair, model, a, b, (0.9 - 0.06 * place - 0.18 * step) * (0.4 + 0.6 * near)))
    return made


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
            scores = [0.002 + 0.2 * done * hump(layer, 0.3, 0.5, layers) for layer in range(layers + 1)]
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
