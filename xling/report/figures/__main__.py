"""Draw one figure of a study.

python -m xling.report.figures figure5 --records figure5.csv --out-dir figures
python -m xling.report.figures figure1 --study study.json --out-dir figures
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from xling.core.cli import named_paths
from xling.core.errors import run
from xling.report import published, style
from xling.report.figures.bars import anchor_plot, figure3, figure4a, read_audit
from xling.report.figures.heat_maps import cka_matrix, figure7
from xling.report.figures.layers import SERIES, contextual_figure, encoder_curves, figure4b, figure6, read_comparison
from xling.report.figures.metrics import read_metrics
from xling.report.figures.schematic import comparisons, figure1, figure2
from xling.report.figures.study import model_name, read_study
from xling.report.figures.training import emergence, loss_records, model_figure, overview, structures
from xling.report.means import cell_means, cka_means, contextual_means, sentence_means, word_means
from xling.report.records import (
    Cell,
    CkaScore,
    ContextualScore,
    LayerPair,
    SentenceScore,
    Setting,
    WordScore,
    read_records,
    some_records,
)

SCREEN_DPI = 130  # of one model's training: one of many, looked at on a screen; the SVG beside it is for print

MEANS: dict[type[Any], Callable[[Any], list[Any]]] = {
    Cell: cell_means,
    WordScore: word_means,
    ContextualScore: contextual_means,
    SentenceScore: sentence_means,
    CkaScore: cka_means,
}


@dataclass(frozen=True)
class Drawn:
    """A figure to save under a name, with the records that it shows; without any only for the screen."""

    name: str
    figure: Figure
    records: Sequence[Any] = ()


def _from_records(kind: type[Any], draw: Callable[..., Figure], args: argparse.Namespace) -> Iterator[Drawn]:
    records = some_records(args.records, kind)
    if kind in MEANS:
        records = MEANS[kind](records)
    yield Drawn(args.figure, draw(records), records)


def _schematic(args: argparse.Namespace) -> Iterator[Drawn]:
    study = read_study(args.study)
    if args.figure == "figure1":
        yield Drawn("figure1", figure1(study), study.settings)
    else:
        yield Drawn("figure2", figure2(study), comparisons(study))


def _figure3(args: argparse.Namespace) -> Iterator[Drawn]:
    settings = read_records(args.settings, Setting) if args.settings else published.settings()
    yield from _from_records(Cell, partial(figure3, settings=settings), args)


def _figure6(args: argparse.Namespace) -> Iterator[Drawn]:
    yield from _from_records(SentenceScore, partial(figure6, laser=args.laser), args)


def _training(args: argparse.Namespace) -> Iterator[Drawn]:
    study, trained = read_study(args.study), {model_name(path): read_metrics(path) for path in args.metrics}
    for name, metrics in trained.items():
        title = f"{study.label(name.setting)}, {study.pair(name)}"
        yield Drawn(f"training/{name}", model_figure(metrics, title, study.shown))
    yield Drawn("training", overview(trained, study), loss_records(trained))
    if found := structures(trained):
        yield Drawn("emergence", emergence(found, study), found)


def _anchors(args: argparse.Namespace) -> Iterator[Drawn]:
    study = read_study(args.study)
    records = [record for path in args.audits for record in read_audit(path, study)]
    yield Drawn("anchors", anchor_plot(records, study), records)


def _encoders(args: argparse.Namespace) -> Iterator[Drawn]:
    files = named_paths(args.comparison, "--comparison", "NAME=PATH")
    records = [layer for name, path in files.items() for layer in read_comparison(name, path)]
    yield Drawn("encoders", encoder_curves(records), records)


RECORDED: dict[str, tuple[type[Any], Callable[..., Figure]]] = {
    "figure4a": (WordScore, figure4a),
    "figure4b": (WordScore, figure4b),
    "figure7": (CkaScore, figure7),
    "cka_matrix": (LayerPair, cka_matrix),
    **{name: (ContextualScore, partial(contextual_figure, series=series)) for name, series in SERIES.items()},
}
FIGURES: dict[str, Callable[[argparse.Namespace], Iterator[Drawn]]] = {
    "figure1": _schematic,
    "figure2": _schematic,
    "figure3": _figure3,
    "figure6": _figure6,
    "training": _training,
    "anchors": _anchors,
    "encoders": _encoders,
    **{name: partial(_from_records, *how) for name, how in RECORDED.items()},
}

FLAGS = {
    "figure1": ["--study"],
    "figure2": ["--study"],
    "figure3": ["--records", "--settings"],
    "figure6": ["--records", "--laser"],
    "training": ["--study", "--metrics"],
    "anchors": ["--study", "--audits"],
    "encoders": ["--comparison"],
}  # of all others: --records
ARGUMENTS: dict[str, dict[str, Any]] = {
    "--records": {"type": Path, "required": True, "help": "what was measured, see xling.report.records"},
    "--study": {"type": Path, "required": True, "help": "what the study is, see xling.report.figures.study"},
    "--settings": {"type": Path, "help": "what each setting is (default: the paper's rows)"},
    "--laser": {"action": "store_true", "help": "draw the level that the paper gives for LASER"},
    "--metrics": {"type": Path, "required": True, "nargs": "+", "help": "metrics.jsonl in the models' folders"},
    "--audits": {"type": Path, "required": True, "nargs": "+", "help": "anchors.json in the models' folders"},
    "--comparison": {"action": "append", "required": True, "metavar": "NAME=PATH", "help": "a compare.json"},
    "--out-dir": {"type": Path, "required": True},
}


def main() -> None:
    """Draw a figure, or the training curves, of a study."""
    args = _arguments()
    with style.styled():
        for drawn in FIGURES[args.figure](args):
            if drawn.records:
                style.save_figure(drawn.figure, args.out_dir, drawn.name, drawn.records)
            else:
                style.save_images(drawn.figure, args.out_dir, drawn.name, ("png", "svg"), SCREEN_DPI)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m xling.report.figures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    figures = parser.add_subparsers(dest="figure", required=True, metavar="FIGURE")
    for name in sorted(FIGURES):
        own = figures.add_parser(name)
        for flag in ("--out-dir", *FLAGS.get(name, ["--records"])):
            own.add_argument(flag, **ARGUMENTS[flag])
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
