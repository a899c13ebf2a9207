"""What the drawings need to know of a study, as xling.report.figures.study describes it."""

import json
from typing import Any

from workflow_scripts.grid import setting_of
from workflow_scripts.study import Study

SHARED = {False: "shared", True: "separate", "tokens": "tokens"}


def drawn_study(study: Study) -> str:
    """Return the study's settings, layers and languages as one line of JSON; nothing of its training."""
    chosen = study.config["study"]
    names = dict.fromkeys([*chosen["settings"], *(cell.split(".", 1)[1] for cell in chosen["extra"])])
    value = {
        "records": [_setting(study, name) for name in names],
        "layers": study.config["model"]["layers"],
        "source": chosen["source"],
        "languages": chosen["languages"],
        "pairs": chosen["pairs"],
        "shown": {code: f"{study.original(code)}'" for code in study.languages if study.original(code) != code},
    }
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _setting(study: Study, name: str) -> dict[str, Any]:
    setting = setting_of(study.config, name)
    return {
        "name": name,
        "label": setting["label"],
        "group": setting["group"],
        "domain": setting["domain"],
        "merges": _merges(study, setting["bpe"]),
        "anchors": setting["anchors"],
        "embeddings": SHARED[setting["separate"]["embeddings"]],
        "separate_layers": setting["separate"]["layers"],
        "softmax": SHARED[setting["softmax"] != "shared"],
    }


def _merges(study: Study, bpe: str) -> str:
    """Return the number of merges as Table 1 writes it: once for a joint vocabulary, else for each language."""
    if bpe == "joint":
        return thousands(study.config["bpe"]["joint_merges"])
    return "/".join([thousands(study.config["bpe"]["language_merges"])] * 2)


def thousands(number: int) -> str:
    """Return a number in thousands where it is round."""
    return f"{number // 1000}k" if number and number % 1000 == 0 else str(number)
