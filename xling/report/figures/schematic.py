"""Figures 1 and 2, drawn from the description of a study: the parts shared in each setting, and the comparisons."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Patch, Rectangle

from xling.report import style
from xling.report.figures.study import Sharing, Study
from xling.report.names import pair_title

EDGE = 0.8  # points
COLUMNS = 5  # of Figure 1
LONG = 17  # letters of a label that fit above a panel
HEIGHT = 2.75  # inches per row
WIDE, TALL = 10.0, 17.8  # the drawing area of a panel
LEFT, RIGHT, HALF, GAP = 0.4, 9.6, 4.4, 0.4
EMBEDDINGS, BLOCK, SOFTMAX = (5.9, 1.6), (7.7, 6.6), (14.5, 1.6)  # lower edge and height
OVERLAPS = {"none": 4.8, "all": 3.3, "extra": 1.9}  # distance between the centres of the two vocabularies
ANCHORS = {"none": "no anchors", "all": "natural anchors", "extra": "extra anchors"}
DOMAINS = {"wiki": "Wiki", "crawl": "CC"}

PAGE = 100.0  # the width of Figure 2's drawing area
STACK, FIRST, SECOND = 17.0, 2.0, 34.0  # width of an encoder, and x positions of the two encoders
ONE, ALL, WORDS = 54.5, 57.0, 58.5  # x positions of the brackets around one layer and around all, and of the text
COMPARISONS = (
    ("Figure 4a", "words", "rows of the embedding matrix", "map, translate words"),
    ("Figure 4b", "words in context", "mean over all occurrences", "map, translate words"),
    ("Figure 5", "aligned words", "first subword in its sentence", "map, then task layers"),
    ("Figure 6", "sentences", "mean of the subwords", "map, retrieve translations"),
    ("Figure 7", "sentences", "mean of the subwords", "CKA, no map"),
)  # of section 5: figure, items, vectors, measure; Figure 4a is at the embeddings, the others are at all layers
NOTE = (
    "W: the orthogonal map between the two encoders' vectors at one layer, found on translations. "
    "Bilingual and untrained encoders are compared in the same places."
)
Place = tuple[float, float]


def figure1(study: Study) -> tuple[Figure, Sequence[Sharing]]:
    """Return Figure 1 and its settings: one panel per setting, from the text at the bottom to the softmax on top."""
    rows = -(-len(study.settings) // COLUMNS)
    columns = min(COLUMNS, len(study.settings))
    figure = style.new_figure(width=style.PAGE_WIDTH * max(columns, 3) / COLUMNS, height=0.4 + HEIGHT * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        style.bare(axes, WIDE, TALL)
        if place < len(study.settings):
            _setting(axes, study.settings[place], study)
    names = {"shared": "shared by both languages", "source": f"{study.source} only", "target": "other language only"}
    handles = [
        Patch(facecolor=style.pale(style.SHARING_COLOURS[owner]), edgecolor=style.BLACK, linewidth=0.6, label=name)
        for owner, name in names.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    return figure, study.settings


def _setting(axes: Axes, setting: Sharing, study: Study) -> None:
    """Draw a model from its softmax down to the two vocabularies, which overlap by the anchors."""
    colour = style.group_colour(setting.group)
    axes.plot([LEFT, RIGHT], [TALL - 0.15, TALL - 0.15], color=colour, linewidth=2.5, solid_capstyle="butt")
    size = style.fitting(8, setting.label, LONG)
    axes.text(LEFT, TALL - 0.9, setting.label, ha="left", va="center", fontsize=size, fontweight="bold")
    _part(axes, SOFTMAX, setting.softmax, "softmax")
    (low, height), own = BLOCK, setting.separate_layers
    border = height * own / study.layers
    for sharing, bottom, tall, first, last in (
        ("separate", low, border, 1, own),
        ("shared", low + border, height - border, own + 1, study.layers),
    ):
        if first <= last:
            text = f"layer {first}" if first == last else f"layers {first}-{last}"
            _part(axes, (bottom, tall), sharing, text, last - first + 1)
    if setting.embeddings == "tokens":  # shared positions above separate tokens
        low, height = EMBEDDINGS[0], EMBEDDINGS[1] / 2
        _part(axes, (low, height), "separate", "tokens")
        _part(axes, (low + height, height), "shared", "positions")
    else:
        _part(axes, EMBEDDINGS, setting.embeddings, "embeddings")
    middle, apart = WIDE / 2, OVERLAPS[setting.anchors]
    for owner, side in (("source", -1), ("target", 1)):
        face, centre = style.pale(style.SHARING_COLOURS[owner]), (middle + side * apart / 2, 4.4)
        axes.add_patch(Ellipse(centre, 4.4, 2.2, facecolor=face, edgecolor=style.BLACK, linewidth=EDGE, alpha=0.75))
    domain = DOMAINS.get(setting.domain, setting.domain)
    source = f"Wiki ({study.source}), {domain} (other)"
    for y, text in ((2.6, ANCHORS[setting.anchors]), (1.5, f"BPE merges: {setting.merges}"), (0.4, source)):
        axes.text(middle, y, text, fontsize=6, **style.CENTRED)


def _part(axes: Axes, place: Place, sharing: str, text: str, parts: int = 1) -> None:
    """Draw a part of a model: one box if its languages share it, otherwise one box per language."""
    low, height = place
    if sharing == "shared":
        _box(axes, (LEFT, low), (RIGHT - LEFT, height), "shared", text, parts)
        return
    _box(axes, (LEFT, low), (HALF, height), "source", text, parts)
    _box(axes, (LEFT + HALF + GAP, low), (HALF, height), "target", text, parts)


def _box(axes: Axes, corner: Place, size: Place, owner: str, text: str, parts: int = 1) -> None:
    """Draw a box with a text; thin lines divide the layers in a box."""
    (x, y), (width, height) = corner, size
    colour = style.pale(style.SHARING_COLOURS[owner])
    axes.add_patch(Rectangle(corner, width, height, facecolor=colour, edgecolor="none", zorder=0.5))
    for part in range(1, parts):
        level = y + height * part / parts
        axes.plot([x, x + width], [level, level], color="white", linewidth=0.7, solid_capstyle="butt", zorder=0.8)
    axes.add_patch(Rectangle(corner, width, height, facecolor="none", edgecolor=style.BLACK, linewidth=EDGE))
    background = {"facecolor": colour, "edgecolor": "none", "pad": 0.8} if parts > 1 else None
    axes.text(x + width / 2, y + height / 2, text, fontsize=6, bbox=background, **style.CENTRED)


def figure2(study: Study) -> tuple[Figure, pd.DataFrame]:
    """Return Figure 2 and its comparisons: two encoders, and an arrow for the map at every layer (0: embeddings)."""
    top = study.layers
    low = [14.0 + 10.0 * layer for layer in range(top + 3)]  # lower edges of the layers, from the embeddings up
    figure = style.new_figure(height=max(1.0 + 0.24 * (top + 2), 3.4))
    axes = figure.subplots()
    style.bare(axes, PAGE, low[top + 2])
    others = ", ".join(pair_title(study.written(code)) for code in study.languages if code != study.source)
    parts = ["0: embeddings", *(f"layer {n}" for n in range(1, top + 1)), "softmax"]
    names = (FIRST, "source", f"{study.source} encoder"), (SECOND, "target", f"other encoder\n({others})")
    for left, owner, name in names:
        for layer, text in enumerate(parts):
            _box(axes, (left, low[layer]), (STACK, 9), owner, text)
        axes.text(left + STACK / 2, 11, name, ha="center", va="top", fontsize=7.5, fontweight="bold")
    look = {"arrowstyle": "<->", "linewidth": 0.8, "shrinkA": 1, "shrinkB": 1}
    background = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    for layer in range(top + 1):
        y, middle = low[layer] + 4.5, (FIRST + STACK + SECOND) / 2
        axes.annotate("", xy=(FIRST + STACK, y), xytext=(SECOND, y), arrowprops=look)
        axes.text(middle, y, f"$W_{{{layer}}}$", fontsize=7, bbox=background, **style.CENTRED)
    for x, high in ((ONE, low[0] + 9), (ALL, low[top] + 9)):
        axes.plot([x - 1, x, x, x - 1], [low[0], low[0], high, high], color=style.BLACK, linewidth=1)
    first, *others_up = COMPARISONS
    step = (low[top] + 9 - low[1]) / len(others_up)
    places = [(one, low[1] + step * (place + 0.5), f"layers 0-{top}") for place, one in enumerate(reversed(others_up))]
    for (number, compared, vectors, measure), y, layers in [*places, (first, low[0] + 4.5, "layer 0")]:
        axes.text(WORDS, y, f"{number}: {compared}, {layers}", va="bottom", fontsize=7.5, fontweight="bold")
        axes.text(WORDS, y, f"{vectors}; {measure}", va="top", fontsize=7)
    style.footnote(figure, NOTE)
    table = pd.DataFrame(COMPARISONS, columns=["figure", "compared", "vectors", "measure"])
    return figure, table.assign(first_layer=0, last_layer=[0, *[top] * len(others_up)])
