"""Boxes of the schematic figures: parts of an encoder, coloured by whose they are."""

from matplotlib.axes import Axes
from matplotlib.patches import Ellipse, Rectangle

from xling.report import style

EDGE = 0.8  # points


Place = tuple[float, float]


def box(axes: Axes, corner: Place, size: Place, owner: str, text: str, parts: int = 1) -> None:
    """Draw a part of a model; several layers in one box are divided by thin lines."""
    (x, y), (width, height) = corner, size
    colour = style.pale(style.SHARING_COLOURS[owner])
    axes.add_patch(Rectangle(corner, width, height, facecolor=colour, edgecolor="none", zorder=0.5))
    for part in range(1, parts):
        level = y + height * part / parts
        axes.plot([x, x + width], [level, level], color="white", linewidth=0.7, solid_capstyle="butt", zorder=0.8)
    axes.add_patch(Rectangle(corner, width, height, facecolor="none", edgecolor=style.BLACK, linewidth=EDGE))
    background = {"facecolor": colour, "edgecolor": "none", "pad": 0.8} if parts > 1 else None
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=6, bbox=background)


def vocabulary(axes: Axes, centre: Place, size: Place, owner: str) -> None:
    """Draw the set of a language's subwords."""
    colour = style.SHARING_COLOURS[owner]
    face = style.pale(colour)
    axes.add_patch(Ellipse(centre, *size, facecolor=face, edgecolor=style.BLACK, linewidth=EDGE, alpha=0.75))


def bare(axes: Axes, width: float, height: float) -> None:
    """Leave only a drawing area of this size."""
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)


def layers_text(first: int, last: int) -> str:
    """Return what a box of layers is called."""
    return f"layer {first}" if first == last else f"layers {first}-{last}"
