"""The common style of all figures: colours for colour-blind readers, text that prints well, reproducible files.

The colours are those of Okabe and Ito (2008). A language or model has the same colour in every figure. Lines also have
different markers, so a print in grey can be read. Figures are saved as PNG, PDF and SVG, and their numbers as CSV.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from PIL import Image

from xling.core.io import atomic_path, write_text

BLACK, GREY, LIGHT = "#000000", "#6e6e6e", "#d9d9d9"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
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
    "fastText": BLACK,  # not green: green-blind readers confuse it with the grey of untrained encoders
    "random": GREY,
    "untrained": GREY,
}
SHARING_COLOURS = {"shared": PURPLE, "source": ORANGE, "target": SKY}  # by owner of a part of a model: Figures 1 and 2
SPARE_COLOURS, SPARE_MARKERS = (PURPLE, "#8c6d1f", "#5b5b8c", GREY), ("v", "X", "<", ">")  # for further languages
HEAT_MAP = "YlGnBu"  # lightness changes in one direction only: also readable in grey and for colour-blind readers

PAGE_WIDTH = 7.1  # inches: the text width of a two-column page
DOTS_PER_INCH = 200
FORMATS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}
DOTTED = (0, (1, 1.5))  # the line style of a reference level, such as chance or unigram entropy
DASHES = (0, (4, 3))  # the line style of the level of Default
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}  # alignment of a text
LABEL = 6.5  # points: the size of labels at the ends of lines
LABEL_GAP = 1.2 * LABEL / 72  # inches between two labels
LETTER = 0.55 * LABEL / 72  # inches: the mean width of a letter, a little wider than in DejaVu Sans
MARGIN = 0.06  # inches between the end of a line and its label
Label = tuple[str, float, str]  # the name of a line, the y coordinate of its end, and its colour
Size = tuple[float, float]  # of a panel, in inches


def new_figure(width: float = PAGE_WIDTH, height: float = 4.0, fitted: bool = True) -> Figure:
    """Return an empty figure that needs no display; `fitted` fits the panels to their labels, which takes time."""
    figure = Figure(figsize=(width, height), layout="constrained" if fitted else None)
    FigureCanvasAgg(figure)
    return figure


def styled() -> Any:
    """Return the context in which every figure is drawn and saved; it overrides the user's matplotlibrc."""
    look: dict[Any, Any] = dict(mpl.rc_params_from_file(Path(__file__).with_name("figures.mplstyle")))
    return mpl.rc_context({**look, "backend": "agg"})


def light_grid(axes: Axes, axis: str) -> None:
    """Draw thin guide lines behind the data."""
    axes.grid(visible=True, axis=axis, color=LIGHT, linewidth=0.5)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


def bare(axes: Axes, width: float, height: float) -> None:
    """Hide the axes and leave only a drawing area of this size."""
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(0, height))


def group_colour(group: str) -> str:
    """Return the colour of a group of settings; all groups that the paper lacks have the same colour."""
    return GROUP_COLOURS.get(group, PURPLE)


def pale(colour: str) -> str:
    """Return a mixture of one part of a colour and two parts of white."""
    red, green, blue = to_rgb(colour)
    return to_hex(((red + 2) / 3, (green + 2) / 3, (blue + 2) / 3))


def luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of an RGB colour (WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink(colour: str) -> str:
    """Return a colour for text, darkened if necessary until its contrast on white is at least 4.5 (WCAG 2)."""
    parts = to_rgb(colour)
    while 1.05 / (luminance(parts) + 0.05) < 4.5:
        parts = (0.95 * parts[0], 0.95 * parts[1], 0.95 * parts[2])
    return to_hex(parts)


def ink_on(colour: Sequence[float]) -> str:
    """Return black or white, whichever has the stronger contrast (WCAG 2) on an RGB background."""
    light = luminance(colour) + 0.05
    return BLACK if light / 0.05 >= 1.05 / light else "#ffffff"


def language_look(language: str, among: Sequence[str] = ()) -> tuple[str, str]:
    """Return the colour and marker of a language; languages that the paper lacks get spare ones in sorted order."""
    if language in LANGUAGE_COLOURS:
        return LANGUAGE_COLOURS[language], LANGUAGE_MARKERS[language]
    place = sorted({*among, language} - {*LANGUAGE_COLOURS}).index(language) % len(SPARE_COLOURS)
    return SPARE_COLOURS[place], SPARE_MARKERS[place]


def reach(values: Any, lows: Any, highs: Any) -> np.ndarray:
    """Return the lengths of the error bars below and above each value, as two rows; NaN if no interval is known.

    If a value is outside its interval, the bar that would point away from the interval has length 0.
    """
    value, low, high = (np.atleast_1d(np.asarray(given, dtype=float)) for given in (values, lows, highs))
    return np.maximum([value - low, high - value], 0.0)


def fitting(size: float, text: str, letters: int) -> float:
    """Return a font size at which a text is no wider than a number of letters at the given size."""
    return size * min(1.0, letters / max(len(text), 1))


def footnote(figure: Figure, text: str) -> None:
    """Write a note below all panels."""
    letters = int(21 * figure.get_figwidth())  # that fit in a line in DejaVu Sans at this size, with some to spare
    lines = [line for part in text.split("\n") for line in wrap(part, letters)]
    figure.supxlabel("\n".join(lines), fontsize=6.5, color=ink(GREY), x=0.01, ha="left", ma="left")


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near the wanted positions, in the same order, at least `gap` apart, within bounds if they fit.

    Labels that would touch form a block around the mean of their wanted positions, which is isotonic regression.
    """
    from scipy.optimize import isotonic_regression  # imported late: takes a third of the time of a small figure

    order, steps = np.argsort(wanted, kind="stable"), gap * np.arange(len(wanted))
    lowest = isotonic_regression(np.asarray(wanted)[order] - steps).x if len(wanted) else steps
    placed = np.empty(len(wanted))
    placed[order] = np.minimum(np.maximum(lowest, low), high - steps[-1:]) + steps
    return [float(place) for place in placed]


def room_for(labels: Iterable[str], width: float) -> float:
    """Return the share of the width of a panel (in inches) that the labels need."""
    longest = max(map(len, labels), default=0)
    return min((1.5 * MARGIN + longest * LETTER) / width, 0.6) if longest else 0.0


def label_ends(
    axes: Axes, labels: Sequence[Label], size: Size, span: tuple[float, float], room: float | None = None
) -> None:
    """Write labels to the right of lines that span the x range `span`; `size` is the size of the panel in inches.

    The y limits must be set before. The x limits are widened to give the share `room` (default: as needed) to labels.
    """
    low, high = axes.get_ylim()
    gap = LABEL_GAP / size[1] * (high - low)
    places = spread([y for _, y, _ in labels], gap, low + gap / 2, high - gap / 2)
    left, right = span
    edge = 0.03 * (right - left) or 0.5
    full = (right - left + 2 * edge) / (
        1 - (room_for([text for text, _, _ in labels], size[0]) if room is None else room)
    )
    axes.set_xlim(left - edge, left - edge + full)
    axes.spines["bottom"].set_zorder(4)  # drawn over the white background of nearby labels, which would hide the axis
    x = right + edge + MARGIN / size[0] * full
    for (text, end, colour), y in zip(labels, places, strict=True):
        if abs(y - end) > gap / 2:  # moved away from the end of its line
            guide = [(right + edge / 2, end), (x, y)]
            axes.add_collection(LineCollection([guide], colors=colour, linewidths=0.5, clip_on=False), autolim=False)
        white = {"facecolor": "white", "edgecolor": "none", "pad": 0.3}  # hides the guide line behind the text
        axes.text(x, y, text, ha="left", va="center", fontsize=LABEL, color=ink(colour), bbox=white)


def save_figure(figure: Figure, folder: Path, name: str, records: Any) -> None:
    """Write name.png, name.pdf and name.svg, and the records (or data frame) that the figure shows as name.csv."""
    save_images(figure, folder, name, FORMATS)
    table = pd.DataFrame(records, dtype=object).map(lambda value: "" if value is None else value)
    with write_text(folder / f"{name}.csv") as handle:
        table.to_csv(handle, index=False, na_rep="nan", lineterminator="\n")


def save_images(figure: Figure, folder: Path, name: str, suffixes: Iterable[str]) -> None:
    """Write a figure in the given formats, reproducibly; the layout is computed once for all formats."""
    if figure.get_layout_engine() is not None:
        figure.set_dpi(DOTS_PER_INCH)
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # "none" would lay it out again for every format
    for suffix in suffixes:
        with atomic_path(folder / f"{name}.{suffix}") as temporary:
            figure.savefig(temporary, format=suffix, dpi=DOTS_PER_INCH, metadata=FORMATS[suffix])
            if suffix == "png":  # a palette of 256 colours reduces the file to a third
                with Image.open(temporary) as picture:
                    # median cut, the default, would merge rare colours, such as those of two languages
                    whole, way = picture.convert("RGB"), Image.Quantize.MAXCOVERAGE
                    few = whole.quantize(256, method=way, kmeans=4, dither=Image.Dither.NONE)
                few.save(temporary, format="PNG", optimize=True)
