"""The anchor audit as a plot: the share of each language's running text that both languages share, setting by setting.

python -m xling.report.anchor_plot --study study.json --audits models/*/anchors.json --out-dir figures
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from xling.core.errors import InputError, run
from xling.core.io import read_json
from xling.report import style
from xling.report.names import NOT_RUN, PAIRS, in_order, pair_title
from xling.report.study_file import StudyFile, model_name, read_study

BAR, ROW = 0.36, 0.24  # share of a row; inches
NOTE = (
    "An anchor is a subword that both languages use and look up in the same embedding. Beside the bars: how many "
    "different anchors there are."
)


@dataclass(frozen=True)
class Anchors:
    """How much of one language's training text a model shares with the other."""

    KEY: ClassVar = ("model", "language")
    model: str
    setting: str
    pair: str
    language: str
    tokens: int
    shared: int
    share: float
    anchors: int


def read_audit(path: Path, study: StudyFile) -> list[Anchors]:
    """Read a model's anchors.json: one record a language."""
    name, value = model_name(path), read_json(path)
    try:
        running: Mapping[str, Mapping[str, Any]] = value["running_tokens"]
        return [
            Anchors(
                str(name),
                study.label(name.setting),
                study.pair(name).replace("′", "'"),
                study.written(language),
                int(running[language]["tokens"]),
                int(running[language]["shared"]),
                float(running[language]["share"]),
                int(value["used_by_both"]),
            )
            for language in name.languages
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"no audit of anchors: {error}", fix="make it with xling.bpe.audit_anchors") from None


def anchor_plot(records: Sequence[Anchors], study: StudyFile) -> Figure:
    """Return the figure: a panel a pair, a row a setting, a bar a language; of several seeds the first."""
    settings = in_order((r.setting for r in records), [known.label for known in study.settings])
    pairs = in_order((r.pair for r in records), PAIRS)
    figure = style.new_figure(height=0.95 + ROW * len(settings))
    panels = figure.subplots(1, len(pairs), sharex=True, sharey=True, squeeze=False)[0]
    top = max(100 * max(record.share for record in records), 1.0)
    for pair, axes in zip(pairs, panels, strict=True):
        _panel(axes, [record for record in records if record.pair == pair], settings, top)
        axes.set_title(pair_title(pair), loc="left")
    panels[0].set_yticks(range(len(settings)), settings)
    panels[0].set_ylim(len(settings) - 0.4, -0.6)
    panels[len(pairs) // 2].set_xlabel("running subwords that are anchors (%)")
    handles = [Patch(color=style.language_look(code)[0], label=pair_title(code)) for code in _languages(records)]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), frameon=False, fontsize=7)
    style.footnote(figure, NOTE)
    return figure


def _languages(records: Sequence[Anchors]) -> list[str]:
    return in_order((record.language for record in records), style.LANGUAGE_COLOURS)


def _panel(axes: Axes, records: Sequence[Anchors], settings: Sequence[str], top: float) -> None:
    style.light_grid(axes, "x")
    axes.set_xlim(0, 1.45 * top)
    ticks = MaxNLocator(3, steps=[1, 2, 5, 10]).tick_values(0, top)
    axes.set_xticks([tick for tick in ticks if 0 <= tick <= 1.1 * top])
    axes.tick_params(axis="y", length=0)
    for row, setting in enumerate(settings):
        here = [record for record in records if record.setting == setting]
        first = [record for record in here if record.model == here[0].model]
        look: dict[str, Any] = {"va": "center", "fontsize": 6.5, "color": style.ink(style.GREY)}
        if not first:
            axes.text(0.03 * top, row, NOT_RUN, style="italic", **look)
            continue
        for step, record in enumerate(first):
            colour = style.language_look(record.language)[0]
            axes.barh(row + (step - 0.5) * BAR, 100 * record.share, BAR, color=colour)
        longest = 100 * max(record.share for record in first)
        axes.text(longest + 0.03 * top, row, f"{first[0].anchors:,}", **look)


def main() -> None:
    """Draw the anchors of a study."""
    args = _arguments()
    study = read_study(args.study)
    records = [record for path in args.audits for record in read_audit(path, study)]
    with style.styled():
        style.save_figure(anchor_plot(records, study), args.out_dir, "anchors", records)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, required=True, help="what the study is, see xling.report.study_file")
    parser.add_argument("--audits", type=Path, required=True, nargs="+", help="anchors.json in the models' folders")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
