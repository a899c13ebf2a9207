"""The left columns of Table 1 from a study's own settings: what each model is, a dash where it is as in Default."""

from typing import Any

from workflow_scripts.config import Config
from workflow_scripts.grid import setting_of

DEFAULT, OTHER = "default", "Other"
AS_DEFAULT = "-"
DOMAINS = {"wiki": "Wiki-Wiki", "crawl": "Wiki-CC"}
SEPARATED = {True: "Emb", "tokens": "Tokens"}
SOFTMAX = {"shared": "shared", "per-language": "lang-specific"}


def settings_rows(config: Config) -> list[dict[str, str]]:
    """Return a row for each setting of the study, with the fields of xling.report.records.Setting."""
    default = _columns(config, DEFAULT)
    rows = []
    for name in config["study"]["settings"]:
        own = _columns(config, name)
        told = {key: AS_DEFAULT if name != DEFAULT and own[key] == default[key] else own[key] for key in own}
        group = config["settings"][name].get("group", "" if name == DEFAULT else OTHER)
        rows.append({"setting": config["settings"][name]["label"], "group": group, **told})
    return rows


def _columns(config: Config, name: str) -> dict[str, str]:
    setting = setting_of(config, name)
    return {
        "domain": DOMAINS[setting["domain"]],
        "merges": _merges(config, setting["bpe"]),
        "anchors": _anchors(setting),
        "share": _shared(setting["separate"]),
        "softmax": SOFTMAX[setting["softmax"]],
    }


def _merges(config: Config, bpe: str) -> str:
    if bpe == "joint":
        return _thousands(config["bpe"]["joint_merges"])
    own = _thousands(config["bpe"]["language_merges"])
    return f"{own}/{own}"


def _thousands(number: int) -> str:
    return f"{number // 1000}k" if number % 1000 == 0 else str(number)


def _anchors(setting: dict[str, Any]) -> str:
    """The paper's star: none in effect, because each language has its own embeddings."""
    if setting["separate"]["embeddings"]:
        return "0*"
    return "0" if setting["anchors"] == "none" else str(setting["anchors"])


def _shared(separate: dict[str, Any]) -> str:
    layers = separate["layers"]
    parts = [SEPARATED[separate["embeddings"]]] if separate["embeddings"] else []
    parts += ["L1" if layers == 1 else f"L1-{layers}"] if layers else []
    return f"Sep {' + '.join(parts)}" if parts else "all"
