"""Figure 1: what the two languages share in each setting, and what each has for itself."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from xling.report import style
from xling.report.blocks import bare, box, layers_text, vocabulary
from xling.report.study_file import Sharing, StudyFile

COLUMNS = 5
LONG = 17  # letters of a label that fit above a panel
HEIGHT = 2.75  # inches a row
WIDE, TALL = 10.0, 17.8  # the drawing area of a panel
LEFT, RIGHT, HALF, GAP = 0.4, 9.6, 4.4, 0.4
EMBEDDINGS, BLOCK, SOFTMAX = (5.9, 1.6), (7.7, 6.6), (14.5, 1.6)  # lower edge and height
OVERLAPS = {"none": 4.8, "all": 3.3, "extra": 1.9}  # how far apart the centres of the two vocabularies are
ANCHORS = {"none": "no anchors", "all": "natural anchors", "extra": "extra anchors"}
DOMAINS = {"wiki": "Wiki", "crawl": "CC"}


def figure1(study: StudyFile) -> Figure:
    """Return the figure: a panel a setting, from the text at the bottom to the softmax on top."""
    rows = -(-len(study.settings) // COLUMNS)
    columns = min(COLUMNS, len(study.settings))
    figure = style.new_figure(width=style.PAGE_WIDTH * max(columns, 3) / COLUMNS, height=0.4 + HEIGHT * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        bare(axes, WIDE, TALL)
        if place < len(study.settings):
            _setting(axes, study.settings[place], study)
    names = {"shared": "shared by both languages", "source": f"{study.source} only", "target": "other language only"}
    handles = [
        Patch(facecolor=style.pale(style.SHARING_COLOURS[owner]), edgecolor=style.BLACK, linewidth=0.6, label=name)
        for owner, name in names.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    return figure


def _setting(axes: Axes, setting: Sharing, study: StudyFile) -> None:
    colour = style.GROUP_COLOURS.get(setting.group, style.PURPLE)
    axes.plot([LEFT, RIGHT], [TALL - 0.15, TALL - 0.15], color=colour, linewidth=2.5, solid_capstyle="butt")
    size = style.fitting(8, setting.label, LONG)
    axes.text(LEFT, TALL - 0.9, setting.label, ha="left", va="center", fontsize=size, fontweight="bold")
    _part(axes, SOFTMAX, setting.softmax, "softmax")
    _layers(axes, setting.separate_layers, study.layers)
    _embeddings(axes, setting.embeddings)
    _text(axes, setting, study.source)


def _part(axes: Axes, place: tuple[float, float], sharing: str, text: str, parts: int = 1) -> None:
    low, height = place
    if sharing == "shared":
        box(axes, (LEFT, low), (RIGHT - LEFT, height), "shared", text, parts)
        return
    box(axes, (LEFT, low), (HALF, height), "source", text, parts)
    box(axes, (LEFT + HALF + GAP, low), (HALF, height), "target", text, parts)


def _embeddings(axes: Axes, sharing: str) -> None:
    """Draw the embeddings in one piece, or the shared positions on top of each language's own tokens."""
    if sharing != "tokens":
        _part(axes, EMBEDDINGS, sharing, "embeddings")
        return
    low, height = EMBEDDINGS[0], EMBEDDINGS[1] / 2
    _part(axes, (low, height), "separate", "tokens")
    _part(axes, (low + height, height), "shared", "positions")


def _layers(axes: Axes, separate: int, layers: int) -> None:
    low, height = BLOCK
    border = height * separate / layers
    if separate:
        _part(axes, (low, border), "separate", layers_text(1, separate), separate)
    if separate < layers:
        rest = layers - separate
        _part(axes, (low + border, height - border), "shared", layers_text(separate + 1, layers), rest)


def _text(axes: Axes, setting: Sharing, source: str) -> None:
    """Draw the two vocabularies, overlapping by the anchors, and say what they are made from."""
    middle, apart = WIDE / 2, OVERLAPS[setting.anchors]
    for owner, side in (("source", -1), ("target", 1)):
        vocabulary(axes, (middle + side * apart / 2, 4.4), (4.4, 2.2), owner)
    domain = DOMAINS.get(setting.domain, setting.domain)
    for y, text in (
        (2.6, ANCHORS[setting.anchors]),
        (1.5, f"BPE merges: {setting.merges}"),
        (0.4, f"Wiki ({source}), {domain} (other)"),
    ):
        axes.text(middle, y, text, ha="center", va="center", fontsize=6)
