"""One look for every figure: colours that colour-blind readers can tell apart, text that survives print, stable bytes.

Colours are those of Okabe and Ito (2008). A thing has the same colour in every figure; lines also differ in marker, so
that a grey print can be read. Figures are saved as PNG, PDF and SVG, with the numbers they show as CSV.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from xling.core.io import atomic_path
from xling.report.record_files import write_records

BLACK, GREY, LIGHT = "#000000", "#6e6e6e", "#d9d9d9"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

LANGUAGE_COLOURS = {"en": BLACK, "en'": SKY, "fr": BLUE, "de": ORANGE, "ru": VERMILION, "zh": GREEN}
LANGUAGE_MARKERS = {"en": "o", "en'": "P", "fr": "o", "de": "s", "ru": "^", "zh": "D"}
GROUP_COLOURS = {
    "": GREY,
    "Domain Similarity (§4.1)": ORANGE,
    "Anchor Points (§4.2)": SKY,
    "Parameter Sharing (§4.3)": BLUE,
}
MODEL_COLOURS = {
    "bilingual": BLUE,
    "biMLM": BLUE,
    "biMLM align": SKY,
    "monolingual": VERMILION,
    "MLM align": VERMILION,
    "BERT": VERMILION,
    "fastText": BLACK,  # not green: green-blind readers take it for the grey of untrained
    "random": GREY,
    "untrained": GREY,
}
TASK_COLOURS = {"xnli": PURPLE, "ner": ORANGE, "parsing": GREEN, "pos": SKY}
HEAT_MAP = "YlGnBu"  # one direction of lightness: reads the same in grey and for colour-blind readers

PAGE_WIDTH = 7.1  # inches: the text width of a two-column page
DOTS_PER_INCH = 200
FORMATS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}
SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so every machine draws the same
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,  # embedded as TrueType
    "svg.fonttype": "path",  # drawn as shapes: no font needed where it is shown
    "svg.hashsalt": "xling",
}


def new_figure(width: float = PAGE_WIDTH, height: float = 4.0) -> Figure:
    """Return an empty figure; it belongs to nobody's window and needs no display."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def styled() -> Any:
    """Return the context in which every figure is drawn and saved."""
    defaults: dict[Any, Any] = dict(mpl.rcParamsDefault)
    return mpl.rc_context({**defaults, **SETTINGS, "backend": "agg"})  # whatever a user's own matplotlibrc says


def light_grid(axes: Axes, axis: str) -> None:
    """Draw thin guide lines behind the data."""
    axes.grid(visible=True, axis=axis, color=LIGHT, linewidth=0.5)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


def pale(colour: str) -> str:
    """Return a colour mixed with two parts of white."""
    red, green, blue = to_rgb(colour)
    return to_hex(((red + 2) / 3, (green + 2) / 3, (blue + 2) / 3))


def reach(value: float, low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return how far an error bar goes down and up; an interval need not hold the value itself."""
    if low is None or high is None:
        return None
    return max(value - low, 0.0), max(high - value, 0.0)


def ink_on(colour: Sequence[float]) -> str:
    """Return black or white, whichever has the stronger contrast (WCAG 2) on a background of red, green and blue."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return BLACK if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def save_figure(figure: Figure, folder: Path, name: str, records: Sequence[Any]) -> None:
    """Write name.png, name.pdf and name.svg, and the records that the figure shows as name.csv."""
    for suffix, metadata in FORMATS.items():
        with atomic_path(folder / f"{name}.{suffix}") as temporary:
            figure.savefig(temporary, format=suffix, dpi=DOTS_PER_INCH, metadata=metadata)
    write_records(folder / f"{name}.csv", type(records[0]), records)
