"""Provenance on the page: what ran, where, from which code and data, and what it took."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from xling.report.html.markup import Html, el, fact, join
from xling.report.html.tables import Table, data_table

Provenance = Mapping[str, Any]


def origin_section(known: Provenance) -> Html:
    """Return everything that is known of where the results come from."""
    return join(
        el("dl", [fact(term, text) for term, text in _facts(known) if text], class_="facts"),
        el("h3", "Time by stage"),
        el("p", _times(known["stages"])),
        data_table(_stages(known["stages"]), "time by stage") if known["stages"] else None,
        el("h3", "Models"),
        data_table(_models(known["models"]), "trained models") if known["models"] else el("p", "None was trained."),
        _folded("Software versions", data_table(Table(("Package", "Version"), _pairs(known["versions"])), "versions")),
        _folded("Data: sizes and hashes", _data(known["data"])),
        _folded("Configuration", el("pre", el("code", _yaml(known["config"])), tabindex="0")),
    )


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


def _stages(stages: Sequence[Provenance]) -> Table:
    head = ("Stage", "Jobs", "Attempts", "Wall (s)", "CPU (s)", "GPU (s)", "Peak memory (MB)")
    rows = [
        (
            stage["stage"].replace("_", " "),
            str(stage["jobs"]),
            str(stage["attempts"]),
            *(f"{stage[key]:.1f}" for key in ("wall", "cpu", "gpu")),
            f"{stage['memory']:.0f}",
        )
        for stage in stages
    ]
    return Table(head, rows)


def _models(models: Sequence[Provenance]) -> Table:
    head = ("Model", "Updates", "Attempts", "Wall (s)", "Device", "Host", "Commit")
    rows = [
        (
            model["model"],
            str(model["updates"]),
            str(model["attempts"]),
            f"{model['seconds']:.1f}",
            model["device"],
            model["host"],
            model["commit"][:10],
        )
        for model in models
    ]
    return Table(head, rows)


def _data(files: Sequence[Provenance]) -> Html:
    if not files:
        return el("p", "No raw data was read.")
    rows = [(item["file"], str(item["bytes"] or ""), item["sha256"] or "no longer there") for item in files]
    return data_table(Table(("File", "Bytes", "SHA-256"), rows), "raw data")


def _pairs(values: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(values.items())


def _yaml(config: Any) -> str:
    return yaml.safe_dump(config, sort_keys=True, allow_unicode=True, width=100)


def _folded(title: str, content: Html) -> Html:
    return el("details", el("summary", title), content)
