"""Training curves: a figure for each model, all models of a study in one, and what their languages have in common.

A model's figure has its losses with the unigram entropy as the level that needs no context, the learning rate, and
(two languages) retrieval and CKA of parallel sentences by layer. The overview has the validation loss of every model as
a share of its unigram entropy. The third, emergence, is of bilingual models only.

python -m xling.report.training --study study.json --metrics models/*/metrics.jsonl --out-dir figures
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import style
from xling.report.by_setting import Line, Measure, draw_settings
from xling.report.emergence import emergence, structures
from xling.report.metrics_file import Metrics, read_metrics
from xling.report.model_curves import model_figure
from xling.report.study_file import ModelName, StudyFile, model_name, read_study

OVERVIEW = "training"  # also the folder of the models' own figures
DPI = 130  # one of many, looked at on a screen: the SVG beside it is for print
NOTE = (
    "Dotted: as good as knowing how frequent each subword is. Pale: Default, same pair. "
    "Losses are means over a model's languages."
)
Trained = Mapping[ModelName, Metrics]


@dataclass(frozen=True)
class ValidationLoss:
    """A point of the overview."""

    KEY: ClassVar = ("model", "language", "update")
    model: str
    language: str
    update: int
    loss: float
    unigram_entropy: float


def overview(trained: Trained, study: StudyFile) -> Figure:
    """Return the validation losses of all models, a panel a setting and a line a model."""
    lines = tuple(Line(name, tuple(shares(metrics))) for name, metrics in trained.items())
    return draw_settings([Measure("Validation loss as a share of the unigram entropy", lines, 1.0)], study, NOTE)


def shares(metrics: Metrics) -> list[tuple[int, float]]:
    """Return the validation loss as a share of the unigram entropy, both summed over languages, at each validation."""
    return [(point.update, sum(point.losses.values()) / sum(point.entropy.values())) for point in metrics.validations]


def loss_records(trained: Trained) -> list[ValidationLoss]:
    """Return the numbers of the overview, language by language."""
    return [
        ValidationLoss(str(name), language, point.update, loss, point.entropy[language])
        for name, metrics in trained.items()
        for point in metrics.validations
        for language, loss in point.losses.items()
    ]


def read_all(paths: Sequence[Path]) -> dict[ModelName, Metrics]:
    """Read the metrics of several models by the names of their folders."""
    return {model_name(path): read_metrics(path) for path in paths}


def main() -> None:
    """Draw the training of every model of a study."""
    args = _arguments()
    study, trained = read_study(args.study), read_all(args.metrics)
    with style.styled():
        for name, metrics in trained.items():
            figure = model_figure(metrics, f"{study.label(name.setting)}, {study.pair(name)}", study.shown)
            style.save_images(figure, args.out_dir / OVERVIEW, str(name), ("png", "svg"), DPI)
        style.save_figure(overview(trained, study), args.out_dir, OVERVIEW, loss_records(trained))
        found = structures(trained)
        if found:
            style.save_figure(emergence(found, study), args.out_dir, "emergence", found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, required=True, help="what the study is, see xling.report.study_file")
    parser.add_argument("--metrics", type=Path, required=True, nargs="+", help="metrics.jsonl in the models' folders")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
