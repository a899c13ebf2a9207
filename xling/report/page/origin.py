"""Provenance for the template: what ran, where, from which code and data, and what it took."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.log import duration
from xling.report.page.tables import Table, data_table

KEYS = {"study", "config", "config_hash", "commit", "changed", "collected", "python", "versions"}
KEYS |= {"machine", "stages", "models", "data"}
STAGES = {
    "Stage": "{stage}",
    "Jobs": "{jobs}",
    "Attempts": "{attempts}",
    "Wall (s)": "{wall:.1f}",
    "CPU (s)": "{cpu:.1f}",
    "GPU (s)": "{gpu:.1f}",
    "Peak memory (MB)": "{memory:.0f}",
}
MODELS = {
    "Model": "{model}",
    "Updates": "{updates}",
    "Attempts": "{attempts}",
    "Wall (s)": "{seconds:.1f}",
    "Device": "{device}",
    "Host": "{host}",
    "Commit": "{commit:.10}",
}
DATA = {"File": "{file}", "Bytes": "{bytes}", "SHA-256": "{sha256}"}
Provenance = Mapping[str, Any]


def read_provenance(path: Path) -> dict[str, Any]:
    """Return where a study's results come from."""
    value = read_json(path)
    if not isinstance(value, dict) or not value.keys() >= KEYS:
        missing = sorted(KEYS - set(value if isinstance(value, dict) else ()))
        raise InputError(path, f"not a study's provenance: {', '.join(missing)} missing")
    return value


def origin(known: Provenance) -> dict[str, Any]:
    """Return everything that is known of where the results come from."""
    stages = [stage | {"stage": stage["stage"].replace("_", " ")} for stage in known["stages"]]
    gone = {"bytes": "", "sha256": "no longer there"}
    files = [item | {key: item[key] or text for key, text in gone.items()} for item in known["data"]]
    machine, commits = known["machine"], sorted({model["commit"][:10] for model in known["models"]})
    facts = {
        "Study": known["study"],
        "Configuration hash": known["config_hash"],
        "Commit": known["commit"] + (", with changes that were not committed" if known["changed"] else ""),
        "Models trained at": ", ".join(commits) if commits != [known["commit"][:10]] else "",
        "Collected": known["collected"],
        "Machine": f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']:.1f} GiB of memory",
        "System": f"{machine['system']}, Python {known['python']}",
        "Trained on": ", ".join(sorted({model["device"] for model in known["models"]})),
    }
    total = {key: sum(stage[key] for stage in stages) for key in ("jobs", "wall", "cpu", "gpu")}
    graphics = f", {duration(total['gpu'])} of GPU time" if total["gpu"] else ", no GPU"
    times = (
        f"{total['jobs']} jobs: {duration(total['wall'])} of wall time added up over jobs, "
        f"{duration(total['cpu'])} of processor time{graphics}. "
        "Training counts all its attempts in wall and GPU time; the rest is of the attempt that succeeded."
    )
    return {
        "facts": facts,
        "times": times if stages else "No stage has recorded its time.",
        "stages": _table(STAGES, stages, "time by stage"),
        "models": _table(MODELS, known["models"], "trained models"),
        "versions": data_table(("Package", "Version"), sorted(known["versions"].items()), "versions"),
        "data": _table(DATA, files, "raw data"),
        "config": yaml.safe_dump(known["config"], sort_keys=True, allow_unicode=True, width=100),
    }


def _table(columns: Mapping[str, str], items: Iterable[Provenance], label: str) -> Table:
    return data_table(columns, [[shown.format(**item) for shown in columns.values()] for item in items], label)
