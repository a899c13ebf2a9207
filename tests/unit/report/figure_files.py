"""Files that figures are drawn from: records, the description of a reference run, and the files of made-up models."""

import json
import math
from itertools import product
from typing import Any

import yaml
from embedded import ROOT
from made_up_study import TOP, curves

from workflow_scripts.describe import drawn_study
from workflow_scripts.study import Study
from xling.report import published
from xling.report.models import CKA_MODELS
from xling.report.names import PAIRS
from xling.report.records import KINDS, LayerPair

REFERENCE = ROOT / "results/reference/demo-full"
STUDY = drawn_study(Study(yaml.safe_load((REFERENCE / "config.yaml").read_text(encoding="utf-8"))))
MATRICES = [
    LayerPair(pair, model, a, b, (0.9 - 0.06 * place - 0.18 * step) * math.exp(-abs(a - b) / TOP))
    for (place, pair), (step, model), a, b in product(enumerate(PAIRS), enumerate(CKA_MODELS), range(3), range(3))
]
RECORDS: dict[str, list[Any]] = {name: list(getattr(curves(), name)) for name in KINDS}  # by figure
RECORDS |= {"figure3": [*published.table1().cells], "figure7": [*published.figure7()], "cka_matrix": MATRICES}


def metrics(*languages):
    """Return the lines of a model's metrics.jsonl."""
    made: list[dict[str, Any]] = []
    for update in range(0, 1001, 250):
        done, layers = update / 1000, range(TOP + 1)
        if update:
            losses = dict.fromkeys(languages, 7.4 - 4.8 * done)
            made.append({"kind": "train", "update": update, "losses": losses, "lr": 0.006 * (1 - done)})
        losses = {code: 7.5 - 4.5 * done + 0.1 * place for place, code in enumerate(languages)}
        point: dict[str, Any] = {"kind": "validation", "update": update, "loss": losses}
        point["unigram_entropy"] = dict.fromkeys(languages, 5.0)
        if len(languages) == 2:
            scores = [0.002 + 0.2 * done * math.exp(-((2 * layer / TOP - 0.6) ** 2)) for layer in layers]
            point["retrieval"] = {"-".join(languages): scores, "-".join(reversed(languages)): scores}
            point |= {"cka": [0.3 + 0.6 * done - 0.01 * layer for layer in layers], "sentences": 500}
        made.append(point)
    return made


def write_model(folder, name, share=0.4):
    """Write a model's metrics and, of a bilingual one, the audit of its anchors."""
    languages = name.split(".")[0].split("-")
    (folder / name).mkdir(parents=True)
    lines = [json.dumps(line) for line in metrics(*languages)]
    (folder / name / "metrics.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if len(languages) == 2:
        running = {code: {"tokens": 1000, "shared": round(1000 * share), "share": share} for code in languages}
        audit = {"languages": languages, "running_tokens": running, "used_by_both": round(300 * share)}
        (folder / name / "anchors.json").write_text(json.dumps(audit), encoding="utf-8")
