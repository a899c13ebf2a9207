"""A kept study's report can be made again from its records, and comes out as it was."""

import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from xling.report.__main__ import commands

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "results/reference/demo-full"
DRAWING = ("xling.report.figures", "xling.report.paper_figures")  # seconds each, and tested by themselves


def test_tables_verdicts_and_page_of_a_reference_run_come_out_again(tmp_path: Path, call: Callable[..., Any]) -> None:
    copy = Path(shutil.copytree(REFERENCE, tmp_path / "study", ignore=shutil.ignore_patterns("*.html", "contextual*")))
    made = [f"tables/{name}.{suffix}" for name in ("table1", "table1-compared") for suffix in ("csv", "md", "tex")]
    for name in made:
        (copy / name).write_text("old")
    (tmp_path / "paper").mkdir()
    figures = []
    for module, *arguments in commands(copy, [ROOT / "docs/choices.md"]):
        if module in DRAWING:
            figures.append(arguments[0])
            continue
        command = import_module(module)
        main = command.main if hasattr(command, "main") else import_module(f"{module}.__main__").main
        assert call(main, *arguments).code == 0
    assert figures[:-1] == [
        "forest",
        *(f"figure{n}" for n in ("3", "4a", "4b", "5", "6", "7", "8")),
        "cka_matrix",
        "kept",
    ]
    for name in (*made, "claims.md"):
        assert (copy / name).read_bytes() == (REFERENCE / name).read_bytes()
    assert "demo-full: what the study found" in (copy / "report.html").read_text(encoding="utf-8")
