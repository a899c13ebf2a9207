"""Provenance for the template: what the study is, the time by stage, and the trained models."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
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


def stage_table(known: Provenance) -> Table:
    """Return the time that each stage took."""
    stages = [stage | {"stage": stage["stage"].replace("_", " ")} for stage in known["stages"]]
    return data_table(STAGES, _texts(STAGES, stages), "time by stage")


def model_table(known: Provenance, files: Files) -> Table:
    """Return the trained models with their training time, and links to their files if there are any."""
    names = [model["model"] for model in known["models"]]
    folders = {(name, "Model"): files.address(files.models / name) for name in names} if files.models else {}
    models = data_table(MODELS, _texts(MODELS, known["models"]), "trained models", addresses=folders)
    links = [files.of_model(name) for name in names]
    if not any(links):
        return models
    rows = [("", [*cells, own]) for own, (_, cells) in zip(links, models.rows, strict=True)]
    return models._replace(columns=[*models.columns, Column("Files", "", "text")], rows=rows)


def _texts(columns: Mapping[str, str], items: Iterable[Provenance]) -> list[list[str]]:
    return [[shown.format(**item) for shown in columns.values()] for item in items]
