"""Provenance for the template: what ran, where, from which code and data, and what it took."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report.page.tables import data_table

KEYS = {"study", "config", "config_hash", "commit", "changed", "collected", "python", "versions"}
KEYS |= {"machine", "stages", "models", "data"}
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
    stages = [
        (
            stage["stage"].replace("_", " "),
            str(stage["jobs"]),
            str(stage["attempts"]),
            *(f"{stage[key]:.1f}" for key in ("wall", "cpu", "gpu")),
            f"{stage['memory']:.0f}",
        )
        for stage in known["stages"]
    ]
    models = [
        (
            model["model"],
            str(model["updates"]),
            str(model["attempts"]),
            f"{model['seconds']:.1f}",
            model["device"],
            model["host"],
            model["commit"][:10],
        )
        for model in known["models"]
    ]
    files = [(item["file"], str(item["bytes"] or ""), item["sha256"] or "no longer there") for item in known["data"]]
    stage_titles = ("Stage", "Jobs", "Attempts", "Wall (s)", "CPU (s)", "GPU (s)", "Peak memory (MB)")
    model_titles = ("Model", "Updates", "Attempts", "Wall (s)", "Device", "Host", "Commit")
    return {
        "facts": _facts(known),
        "times": _times(known["stages"]),
        "stages": data_table(stage_titles, stages, "time by stage"),
        "models": data_table(model_titles, models, "trained models"),
        "versions": data_table(("Package", "Version"), sorted(known["versions"].items()), "versions"),
        "data": data_table(("File", "Bytes", "SHA-256"), files, "raw data"),
        "config": yaml.safe_dump(known["config"], sort_keys=True, allow_unicode=True, width=100),
    }


def duration(seconds: float) -> str:
    """Return a time in the units that people use."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _facts(known: Provenance) -> list[tuple[str, str]]:
    machine = known["machine"]
    commits = sorted({model["commit"][:10] for model in known["models"]})
    return [
        ("Study", known["study"]),
        ("Configuration hash", known["config_hash"]),
        ("Commit", known["commit"] + (", with changes that were not committed" if known["changed"] else "")),
        ("Models trained at", ", ".join(commits) if commits != [known["commit"][:10]] else ""),
        ("Collected", known["collected"]),
        ("Machine", f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']:.1f} GiB of memory"),
        ("System", f"{machine['system']}, Python {known['python']}"),
        ("Trained on", ", ".join(sorted({model["device"] for model in known["models"]}))),
    ]


def _times(stages: Sequence[Provenance]) -> str:
    if not stages:
        return "No stage has recorded its time."
    total = {key: sum(stage[key] for stage in stages) for key in ("jobs", "wall", "cpu", "gpu")}
    graphics = f", {duration(total['gpu'])} of GPU time" if total["gpu"] else ", no GPU"
    return (
        f"{total['jobs']} jobs: {duration(total['wall'])} of wall time added up over jobs, "
        f"{duration(total['cpu'])} of processor time{graphics}. "
        "Training counts all its attempts in wall and GPU time; the rest is of the attempt that succeeded."
    )
