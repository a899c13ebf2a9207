"""Provenance for the template: the jobs, the machine, the code and data, and the time."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.core.log import duration
from xling.report.names import TASKS
from xling.report.page.files import Files
from xling.report.page.tables import Column, Table, data_table

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
MODELS = {"Model": "{model}", "Wall (s)": "{seconds:.1f}"}
Provenance = Mapping[str, Any]


def read_provenance(path: Path) -> dict[str, Any]:
    """Read the provenance of the results of a study."""
    value = read_json(path)
    if not isinstance(value, dict) or not value.keys() >= KEYS:
        missing = sorted(KEYS - set(value if isinstance(value, dict) else ()))
        raise InputError(path, f"not a study's provenance: {', '.join(missing)} missing")
    return value


def study_facts(known: Provenance) -> dict[str, str]:
    """Return a short description of the study: its languages, tasks and settings, and the amount of training."""
    config = known["config"]
    chosen = config.get("study", {})
    languages = config.get("languages", {})
    names = {code: f"{own['name']} ({code})" for code, own in languages.items() if own.get("name")}
    pairs = [pair.split("-") for pair in chosen.get("pairs", [])]
    labels = [config["settings"][name]["label"] for name in chosen.get("settings", [])]
    updates = sorted({model["updates"] for model in known["models"]})
    trained = f"{len(known['models'])} models, {' or '.join(f'{n:,}' for n in updates)} updates each" if updates else ""
    seeds = {model["model"].rpartition(".s")[2] for model in known["models"]}
    return {
        "From": names.get(chosen.get("source"), chosen.get("source", "")),
        "To": ", ".join(names.get(pair[-1], pair[-1]) for pair in pairs),
        "Tasks": ", ".join(TASKS.get(task, task) for task in chosen.get("tasks", [])),
        "Settings": ", ".join(labels),
        "Trained": f"{trained}, {len(seeds)} {'seed' if len(seeds) == 1 else 'seeds'}" if trained else "",
    }


def origin(known: Provenance, files: Files) -> dict[str, Any]:
    """Return the provenance in the form that the template needs."""
    stages = [stage | {"stage": stage["stage"].replace("_", " ")} for stage in known["stages"]]
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
    names = [model["model"] for model in known["models"]]
    folders = {(name, "Model"): files.address(files.models / name) for name in names} if files.models else {}
    models = _table(MODELS, known["models"], "trained models", folders)
    if any(links := [files.of_model(name) for name in names]):
        rows = [("", [*cells, own]) for own, (_, cells) in zip(links, models.rows, strict=True)]
        models = models._replace(columns=[*models.columns, Column("Files", "", "text")], rows=rows)
    return {
        "facts": facts,
        "times": times if stages else "No stage has recorded its time.",
        "stages": _table(STAGES, stages, "time by stage"),
        "models": models,
        "files": len(known["data"]),
        "versions": len(known["versions"]),
    }


def _table(
    columns: Mapping[str, str],
    items: Iterable[Provenance],
    label: str,
    addresses: Mapping[tuple[str, str], str] | None = None,
) -> Table:
    rows = [[shown.format(**item) for shown in columns.values()] for item in items]
    return data_table(columns, rows, label, addresses=addresses)
