"""Everything that a report is made from, made up: for tests of the page."""

import json
from pathlib import Path
from typing import Any

from xling.report import published
from xling.report.claims.render import judged
from xling.report.page.files import Files
from xling.report.records import Results

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60" viewBox="0 0 120 60">'
    '<rect width="120" height="60" fill="#fff"/><circle cx="60" cy="30" r="20" fill="#0072B2"/></svg>'
)
TABLE = """Group,Model,Domain,XNLI (Acc) fr,XNLI (Acc) zh,XNLI (Acc) Δ
,Default,Wiki-Wiki,73.6,68.3,0.0
Anchor Points (§4.2),No anchors,-,72.1,67.6,-1.1
Anchor Points (§4.2),Extra anchors,-,9.5,not run,+2.0 (fr)
"""
COMPARED = """Group,Model,Language,ours score,paper score,ours - paper score
XNLI (Acc),Default,fr,"70.0 [68.0, 72.0]",73.6,-3.6
XNLI (Acc),No anchors,fr,not run,72.1,
"""
NUMBERS = "layer,pair,cka\nL0,en-fr,0.6123456789\nL1,en-fr,0.5\n"


def provenance() -> dict[str, Any]:
    """Return the provenance of a study of one model."""
    model = {"model": "en-fr.default.s1", "updates": 1250, "commit": "a" * 40, "versions": {"torch": "2.13.0"}}
    model |= {"device": "CPU x86_64", "host": "node1", "attempts": 2, "seconds": 61.5}
    stage = {"stage": "train_bpe", "jobs": 2, "attempts": 2, "wall": 12.0, "cpu": 9.5, "gpu": 0.0, "memory": 88.0}
    return {
        "study": "demo",
        "config": {"study": {"name": "demo"}, "pretrain": {"updates": 1250}},
        "config_hash": "0123456789abcdef",
        "collected": "2026-11-15T06:00:00Z",
        "commit": "b" * 40,
        "changed": True,
        "python": "3.11.7",
        "versions": {"numpy": "2.4.6", "torch": "2.13.0"},
        "machine": {"host": "vm", "processor": "Some CPU", "cores": 2, "memory_gib": 23.5, "system": "Linux"},
        "stages": [stage, stage | {"stage": "pretrain", "jobs": 10, "wall": 4000.0}],
        "models": [model],
        "data": [{"file": "muse/en-fr.txt", "bytes": 12, "sha256": "c" * 64}],
    }


def verdicts(results: Results | None = None) -> dict[str, Any]:
    """Return the verdicts on some results: the paper's own numbers, unless others are given."""
    return judged(published.results() if results is None else results, "0123456789abcdef")


def write_sources(folder: Path, claims: Any = None, origin: Any = None, choices: str = "# Choices\n\nOne.\n") -> Files:
    """Write the files of a report with three figures, and return where they are."""
    for name in ("forest", "figure3", "figure7"):
        path = folder / f"figures/{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SVG, encoding="utf-8")
        path.with_suffix(".csv").write_text(NUMBERS, encoding="utf-8")
    (folder / "paper").mkdir(exist_ok=True)
    (folder / "paper/figure3.svg").write_text(SVG, encoding="utf-8")
    texts = {"table1.csv": TABLE, "table1-compared.csv": COMPARED, "choices.md": choices}
    texts |= {"claims.json": json.dumps(claims or verdicts()), "provenance.json": json.dumps(origin or provenance())}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Files(
        page=folder,
        title="Study demo",
        claims=folder / "claims.json",
        provenance=folder / "provenance.json",
        tables=(folder / "table1.csv", folder / "table1-compared.csv"),
        figures=(folder / "figures",),
        paper_figures=(folder / "paper",),
        choices=(folder / "choices.md",),
    )
