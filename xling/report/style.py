"""One look for every figure: colours that colour-blind readers can tell apart, text that survives print, stable bytes.

Colours are those of Okabe and Ito (2008). A thing has the same colour in every figure; lines also differ in marker, so
that a grey print can be read. Figures are saved as PNG, PDF and SVG, with the numbers they show as CSV.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from PIL import Image

from xling.core.io import atomic_path
from xling.report.records import write_records

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
    "fastText": BLACK,  # not green: green-blind readers take it for the grey of untrained
    "random": GREY,
    "untrained": GREY,
}
SHARING_COLOURS = {"shared": PURPLE, "source": ORANGE, "target": SKY}  # whose a part of a model is: Figures 1 and 2
SPARE_COLOURS, SPARE_MARKERS = (PURPLE, "#8c6d1f", "#5b5b8c", GREY), ("v", "X", "<", ">")  # languages of other studies
HEAT_MAP = "YlGnBu"  # one direction of lightness: reads the same in grey and for colour-blind readers

Size = tuple[float, float]  # of a panel, in inches
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


def new_figure(width: float = PAGE_WIDTH, height: float = 4.0, fitted: bool = True) -> Figure:
    """Return an empty figure that needs no display; fitting its panels to their labels takes time."""
    figure = Figure(figsize=(width, height), layout="constrained" if fitted else None)
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


def bare(axes: Axes, width: float, height: float) -> None:
    """Leave only a drawing area of this size."""
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)


def group_colour(group: str) -> str:
    """Return the colour of a group of settings; groups that the paper lacks share one."""
    return GROUP_COLOURS.get(group, PURPLE)


def pale(colour: str) -> str:
    """Return a colour mixed with two parts of white."""
    red, green, blue = to_rgb(colour)
    return to_hex(((red + 2) / 3, (green + 2) / 3, (blue + 2) / 3))


def ink(colour: str) -> str:
    """Return a colour for text: darkened, where it must be, until it has WCAG 2's contrast of 4.5 on white."""
    parts = to_rgb(colour)
    while 1.05 / (_luminance(parts) + 0.05) < 4.5:
        parts = (0.95 * parts[0], 0.95 * parts[1], 0.95 * parts[2])
    return to_hex(parts)


def language_look(language: str, among: Sequence[str] = ()) -> tuple[str, str]:
    """Return a language's colour and marker; languages that the paper lacks get spare ones, in order of their names."""
    if language in LANGUAGE_COLOURS:
        return LANGUAGE_COLOURS[language], LANGUAGE_MARKERS[language]
    others = sorted({*among, language} - {*LANGUAGE_COLOURS})
    place = others.index(language) % len(SPARE_COLOURS)
    return SPARE_COLOURS[place], SPARE_MARKERS[place]


def reach(value: float, low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return how far an error bar goes down and up; an interval need not hold the value itself."""
    if low is None or high is None:
        return None
    return max(value - low, 0.0), max(high - value, 0.0)


def ink_on(colour: Sequence[float]) -> str:
    """Return black or white, whichever has the stronger contrast (WCAG 2) on a background of red, green and blue."""
    luminance = _luminance(colour)
    return BLACK if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def fitting(size: float, text: str, letters: int) -> float:
    """Return a font size at which a text takes no more room than so many letters do."""
    return size * min(1.0, letters / max(len(text), 1))


def footnote(figure: Figure, text: str) -> None:
    """Say below all panels what the reader must know to read them."""
    letters = int(21 * figure.get_figwidth())  # of DejaVu Sans at this size, with some to spare
    lines = [line for part in text.split("\n") for line in wrap(part, letters)]
    figure.supxlabel("\n".join(lines), fontsize=6.5, color=ink(GREY), x=0.01, ha="left", ma="left")


def save_figure(figure: Figure, folder: Path, name: str, records: Sequence[Any], kind: type[Any] | None = None) -> None:
    """Write name.png, name.pdf and name.svg, and the records that the figure shows, if any of a kind, as name.csv."""
    save_images(figure, folder, name, FORMATS)
    write_records(folder / f"{name}.csv", kind or type(records[0]), records)


def save_images(figure: Figure, folder: Path, name: str, suffixes: Iterable[str], dpi: int = DOTS_PER_INCH) -> None:
    """Write a figure in some of the formats, the same bytes every time; it is laid out once for all of them."""
    if figure.get_layout_engine() is not None:
        figure.set_dpi(dpi)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    for suffix in suffixes:
        with atomic_path(folder / f"{name}.{suffix}") as temporary:
            figure.savefig(temporary, format=suffix, dpi=dpi, metadata=FORMATS[suffix])
            if suffix == "png":
                _lighten(temporary)


def _lighten(path: Path) -> None:
    """Write a picture with 256 colours of its own, a third of its bytes: a page holds dozens."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, format="PNG", optimize=True)


def _luminance(colour: Sequence[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
