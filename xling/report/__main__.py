"""Rebuild the tables, figures, verdicts and page of a stored study from its records.

python -m xling.report results/reference/mini --choices docs/choices.md docs/data.md

Figures that are not drawn from records (training, anchors and the schematic figures) stay as they are. Nothing is
trained, and no file is changed unless all commands succeed.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xling.core.errors import XlingError, run
from xling.core.io import read_json
from xling.report.records import KINDS

PAGE = "xling.report.page"
TABLES = ("table1", "examples", "table1-compared", "transfer")  # in the order in which the page shows them
MADE = ("tables/*.csv", "tables/*.md", "tables/*.tex", "figures/*.csv", "figures/*.svg", "claims.*", "report.html")


def commands(folder: Path, choices: Sequence[Path]) -> Iterator[list[Any]]:
    """Yield the commands that build the report in the folder of a study, each as a module with its arguments."""
    claims, provenance = read_json(folder / "claims.json"), read_json(folder / "provenance.json")
    records, tables, figures = (folder / name for name in ("records", "tables", "figures"))
    items, settings = records / "items.npz", ["--settings", records / "settings.csv"]
    table1 = ["--cells", records / "figure3.csv", *settings, "--examples", tables / "examples.csv"]
    yield ["xling.report.table1", *table1, "--out-dir", tables]
    about = ["--config-hash", claims["config"], *(["--paper-scale"] if claims["paper_scale"] else [])]
    about += ["--items", items] if items.exists() else []
    out = ["--out-json", folder / "claims.json", "--out-md", folder / "claims.md"]
    yield ["xling.report.claims", "--results", records, *about, *out]
    yield ["xling.report.figures", "forest", "--claims", folder / "claims.json", "--out-dir", figures]
    laser = [] if provenance["config"]["data"]["origin"] == "generated" else ["--laser"]
    further: dict[str, list[Any]] = {"figure3": settings, "figure6": laser}
    for path in (records / f"{name}.csv" for name in (*KINDS, "cka_matrix")):
        if path.exists():
            own = [path.stem, "--records", path, *further.get(path.stem, [])]
            yield ["xling.report.figures", *own, "--out-dir", figures]
    yield ["xling.report.figures", "kept", "--records", records / "figure3.csv", *settings, "--out-dir", figures]
    paper = folder.parent / "paper"  # not stored, so the page must not link to it
    yield ["xling.report.paper_figures", "--out-dir", paper]
    page = ["--title", f"{provenance['study']}: what the study found", "--claims", folder / "claims.json"]
    page += ["--tables", *(tables / f"{name}.csv" for name in TABLES), "--figures", figures]
    page += ["--paper-figures", paper, "--provenance", folder / "provenance.json", "--choices", *choices]
    page += ["--kept-scores", folder / "transfer.jsonl"]
    yield [PAGE, *page, "--out", folder / "report.html"]


def main() -> None:
    """Build everything in a copy of the study's folder, then copy the files back."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path, help="folder of a kept study, as workflow_scripts.reference makes it")
    parser.add_argument("--choices", type=Path, nargs="*", default=[], help="Markdown for the page, as docs/choices.md")
    args = parser.parse_args()
    with TemporaryDirectory() as name:
        copy = Path(shutil.copytree(args.kept, Path(name) / "study"))
        for command in commands(copy, args.choices):
            if command[0] == PAGE:  # it must not link to pictures that are not stored
                for path in (path for path in copy.glob("figures/*") if path.suffix in (".png", ".pdf")):
                    path.unlink()
            done = subprocess.run([sys.executable, "-m", *map(str, command)], check=False)  # noqa: S603
            if done.returncode:
                raise XlingError(f"{args.kept}: {command[0]} failed; nothing was changed")
        for path in (path for pattern in MADE for path in copy.glob(pattern)):
            shutil.copyfile(path, args.kept / path.relative_to(copy))


if __name__ == "__main__":
    run(main)
