"""Descriptions of a study's settings: the left columns of Table 1, and the data for the figures."""

from typing import TYPE_CHECKING, Any

from workflow_scripts.config import Config
from workflow_scripts.grid import Grid

if TYPE_CHECKING:
    from workflow_scripts.study import Study

DEFAULT, OTHER = "default", "Other"
AS_DEFAULT = "-"
DOMAINS = {"wiki": "Wiki-Wiki", "crawl": "Wiki-CC"}
SEPARATED = {True: "Emb", "tokens": "Tokens"}
SOFTMAX = {"shared": "shared", "per-language": "lang-specific"}
SHARED = {False: "shared", True: "separate", "tokens": "tokens"}


def settings_rows(study: Grid) -> list[dict[str, str]]:
    """Return a row of Table 1 for each setting; a dash means the same as in Default (xling.report.records.Setting)."""
    config, default, rows = study.config, _columns(study, DEFAULT), []
    for name in config["study"]["settings"]:
        own = _columns(study, name)
        shown = {key: AS_DEFAULT if name != DEFAULT and own[key] == default[key] else own[key] for key in own}
        grouped = name == DEFAULT or {"group", "like"} & config["settings"][name].keys()
        group = study.settings[name]["group"] if grouped else OTHER
        rows.append({"setting": config["settings"][name]["label"], "group": group, **shown})
    return rows


def drawn_study(study: "Study") -> dict[str, Any]:
    """Return the settings, layers and languages that figures need."""
    chosen = study.config["study"]
    names = dict.fromkeys([*chosen["settings"], *(cell.split(".", 1)[1] for cell in chosen["extra"])])
    updates = {name: {"updates": length} for name, length in study.differing_updates.items()}
    return {
        "records": [_drawn_setting(study, name) | updates.get(name, {}) for name in names],
        "layers": study.config["model"]["layers"],
        "source": study.source,
        "languages": chosen["languages"],
        "pairs": chosen["pairs"],
        "shown": {code: study.alignment.shown(code) for code in study.languages if study.original(code) != code},
    }


def _drawn_setting(study: Grid, name: str) -> dict[str, Any]:
    setting = study.settings[name]
    return {
        "name": name,
        "label": setting["label"],
        "group": setting["group"],
        "domain": setting["domain"],
        "merges": merges(study.config, setting["bpe"]),
        "anchors": setting["anchors"],
        "embeddings": SHARED[setting["separate"]["embeddings"]],
        "separate_layers": setting["separate"]["layers"],
        "softmax": SHARED[setting["softmax"] != "shared"],
    }


def _columns(study: Grid, name: str) -> dict[str, str]:
    setting = study.settings[name]
    separate = setting["separate"]
    anchors = "0" if setting["anchors"] == "none" else str(setting["anchors"])
    apart = [SEPARATED[separate["embeddings"]]] if separate["embeddings"] else []
    apart += [f"L1-{separate['layers']}".removesuffix("-1")] if separate["layers"] else []
    return {
        "domain": DOMAINS[setting["domain"]],
        "merges": merges(study.config, setting["bpe"]),
        # The star, as in the paper: there are effectively no anchors, because each language has its own embeddings.
        "anchors": "0*" if separate["embeddings"] else anchors,
        "share": f"Sep {' + '.join(apart)}" if apart else "all",
        "softmax": SOFTMAX[setting["softmax"]],
    }


def merges(config: Config, bpe: str) -> str:
    """Return the number of merges as in Table 1: once for a joint vocabulary, otherwise once per language."""
    number = config["bpe"]["joint_merges" if bpe == "joint" else "language_merges"]
    text = f"{number // 1000}k" if number and number % 1000 == 0 else str(number)
    return text if bpe == "joint" else f"{text}/{text}"
