"""Draw one figure of a study.

python -m xling.report.figures figure5 --records figure5.csv --out-dir figures
python -m xling.report.figures figure1 --study study.json --out-dir figures
"""

import argparse
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from xling.core.errors import run
from xling.report import published, style
from xling.report.claims.render import read_claims
from xling.report.figures.bars import anchors, figure3, figure4a
from xling.report.figures.forest import forest
from xling.report.figures.heat_maps import cka_matrix, figure7
from xling.report.figures.kept import kept
from xling.report.figures.layers import figure4b, figure5, figure6, figure8
from xling.report.figures.schematic import figure1, figure2
from xling.report.figures.study import read_study
from xling.report.figures.training import training, updates
from xling.report.records import KINDS, Cell, LayerPair, Setting, read_records, some_records

# Each function has the name of its figure and returns it with the rows of its CSV file; `training` yields several with
# their names. The parameters of a function that are in FLAGS are the flags of its figure.
DRAWING: tuple[Callable[..., Any], ...] = (
    *(figure1, figure2, figure3, figure4a, figure4b, figure5, figure6, figure7, figure8),
    *(anchors, cka_matrix, forest, kept, training, updates),
)
FIGURES = {draw.__name__: draw for draw in DRAWING}
RECORDED: dict[str, type[Any]] = {**KINDS, "cka_matrix": LayerPair, "kept": Cell, "updates": Cell}
FLAGS: dict[str, dict[str, Any]] = {
    "records": {"type": Path, "required": True, "help": "what was measured, see xling.report.records"},
    "study": {"type": Path, "required": True, "help": "what the study is, see xling.report.figures.study"},
    "settings": {"type": Path, "default": published.SETTINGS, "help": "what each setting is (else as in the paper)"},
    "laser": {"action": "store_true", "help": "draw the level that the paper gives for LASER"},
    "metrics": {"type": Path, "required": True, "nargs": "+", "help": "metrics.jsonl in the models' folders"},
    "audits": {"type": Path, "required": True, "nargs": "+", "help": "anchors.json in the models' folders"},
    "claims": {"type": Path, "required": True, "help": "verdicts, made by python -m xling.report.claims"},
}


def inputs(figure: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a drawing function, given its flags: most files are read."""
    readers: dict[str, Callable[[Path], Any]] = {
        "records": lambda path: some_records(path, RECORDED[figure]),
        "settings": lambda path: read_records(path, Setting),
        "study": read_study,
        "claims": read_claims,
    }
    return {name: readers[name](value) if name in readers else value for name, value in given.items()}


def main() -> None:
    """Draw a figure, or the training curves, of a study."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m xling.report.figures", description=__doc__, formatter_class=how)
    figures = parser.add_subparsers(dest="figure", required=True, metavar="FIGURE")
    for name, draw in sorted(FIGURES.items()):
        own = figures.add_parser(name)
        own.add_argument("--out-dir", type=Path, required=True)
        for flag in (flag for flag in signature(draw).parameters if flag in FLAGS):
            own.add_argument(f"--{flag}", **FLAGS[flag])
    given = vars(parser.parse_args())
    name, folder = given.pop("figure"), given.pop("out_dir")
    with style.styled():
        made = FIGURES[name](**inputs(name, given))
        for title, figure, rows in made if name == "training" else [(name, *made)]:
            if rows is None:
                style.save_images(figure, folder, title, ["svg"])
            else:
                style.save_figure(figure, folder, title, rows)


if __name__ == "__main__":
    run(main)
