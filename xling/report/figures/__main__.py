"""Draw one figure of a study.

python -m xling.report.figures figure5 --records figure5.csv --out-dir figures
python -m xling.report.figures figure1 --study study.json --out-dir figures
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import published, style
from xling.report.claims.render import read_claims
from xling.report.figures.bars import anchor_plot, figure3, figure4a, read_audit
from xling.report.figures.forest import forest
from xling.report.figures.heat_maps import cka_matrix, figure7
from xling.report.figures.kept import kept
from xling.report.figures.layers import SERIES, contextual_figure, figure4b, figure6
from xling.report.figures.schematic import comparisons, figure1, figure2
from xling.report.figures.study import Study, model_name, read_metrics, read_study, split_name
from xling.report.figures.training import Trained, emergence, loss_records, model_figure, overview, structures
from xling.report.figures.updates import transfer_by_updates
from xling.report.means import cell_means, cka_means, contextual_means, sentence_means, word_means
from xling.report.records import KINDS, Cell, LayerPair, Setting, read_records, some_records

SCREEN_DPI = 130  # for the PNG of one model's training, which is read on a screen; the SVG and PDF are for print
Drawn = tuple[str, Figure, Any]  # name, figure, and the records that it shows (None: no CSV, screen resolution)

RECORDED: dict[str, tuple[Callable[[Any], Any], Callable[..., Figure]]] = {
    "figure3": (cell_means, figure3),
    "figure4a": (word_means, figure4a),
    "figure4b": (word_means, figure4b),
    "figure5": (contextual_means, partial(contextual_figure, series=SERIES["figure5"])),
    "figure6": (sentence_means, figure6),
    "figure7": (cka_means, figure7),
    "figure8": (contextual_means, partial(contextual_figure, series=SERIES["figure8"])),
    "cka_matrix": (list, cka_matrix),
}  # by figure: a function that takes the means of the records, and one that draws them


FLAGS: dict[str, dict[str, Any]] = {
    "--records": {"type": Path, "required": True, "help": "what was measured, see xling.report.records"},
    "--study": {"type": Path, "required": True, "help": "what the study is, see xling.report.figures.study"},
    "--settings": {"type": Path, "default": published.SETTINGS, "help": "what each setting is (else as in the paper)"},
    "--laser": {"action": "store_true", "help": "draw the level that the paper gives for LASER"},
    "--metrics": {"type": Path, "required": True, "nargs": "+", "help": "metrics.jsonl in the models' folders"},
    "--audits": {"type": Path, "required": True, "nargs": "+", "help": "anchors.json in the models' folders"},
    "--claims": {"type": Path, "required": True, "help": "verdicts, made by python -m xling.report.claims"},
    "--out-dir": {"type": Path, "required": True},
}
FIGURES = {
    **{name: ["--records"] for name in RECORDED},
    "figure1": ["--study"],
    "figure2": ["--study"],
    "figure3": ["--records", "--settings"],
    "figure6": ["--records", "--laser"],
    "kept": ["--records", "--settings"],
    "training": ["--study", "--metrics"],
    "anchors": ["--study", "--audits"],
    "forest": ["--claims"],
    "updates": ["--records", "--study"],
}  # the flags of each figure


def drawn(args: argparse.Namespace) -> Iterator[Drawn]:
    """Yield the figures of a command; `training` yields one figure per model and one or two for all models."""
    match args.figure:
        case "figure1":
            study = read_study(args.study)
            yield "figure1", figure1(study), study.settings
        case "figure2":
            study = read_study(args.study)
            yield "figure2", figure2(study), comparisons(study)
        case "anchors":
            study = read_study(args.study)
            records = [record for path in args.audits for record in read_audit(path, study)]
            yield "anchors", anchor_plot(records, study), records
        case "training":
            yield from _training(
                read_study(args.study), {model_name(path): read_metrics(path) for path in args.metrics}
            )
        case "forest":
            yield "forest", *forest(read_claims(args.claims))
        case "kept":
            yield "kept", *kept(some_records(args.records, Cell), read_records(args.settings, Setting))
        case "updates":
            yield "updates", *transfer_by_updates(some_records(args.records, Cell), read_study(args.study))
        case name:
            means, draw = RECORDED[name]
            records = means(some_records(args.records, KINDS.get(name, LayerPair)))
            further: dict[str, Any] = {"laser": args.laser} if "laser" in args else {}
            further |= {"settings": read_records(args.settings, Setting)} if "settings" in args else {}
            yield name, draw(records, **further), records


def _training(study: Study, trained: Trained) -> Iterator[Drawn]:
    for name, metrics in trained.items():
        languages, setting = split_name(name)
        title = f"{study.label(setting)}, {study.pair(languages)}"
        yield f"training/{name}", model_figure(metrics, title, study.shown), None
    yield "training", overview(trained, study), loss_records(trained)
    if found := structures(trained):
        yield "emergence", emergence(trained, study), found


def main() -> None:
    """Draw a figure, or the training curves, of a study."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m xling.report.figures", description=__doc__, formatter_class=how)
    figures = parser.add_subparsers(dest="figure", required=True, metavar="FIGURE")
    for name in sorted(FIGURES):
        own = figures.add_parser(name)
        for flag in ("--out-dir", *FIGURES[name]):
            own.add_argument(flag, **FLAGS[flag])
    args = parser.parse_args()
    with style.styled():
        for name, figure, records in drawn(args):
            if records is None:
                style.save_images(figure, args.out_dir, name, style.FORMATS, SCREEN_DPI)
            else:
                style.save_figure(figure, args.out_dir, name, records)


if __name__ == "__main__":
    run(main)
