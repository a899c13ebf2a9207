"""Labels at the end of the lines they belong to, kept apart from each other: no legend to look up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from xling.report import style

SIZE = 6.5  # points
LINE = 1.2 * SIZE / 72  # inches that a label needs from the next
LETTER = 0.55 * SIZE / 72  # inches: the mean width of a letter, a little more than DejaVu Sans has
BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.3}  # no guide line through a word
MARGIN = 0.06  # inches between a line's end and its label


@dataclass(frozen=True)
class Label:
    """What a line is called, and where it ends on the y axis."""

    text: str
    y: float
    colour: str


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places near the wanted ones, in the same order, at least a gap apart and within bounds if they fit.

    Labels that would touch form a block around the mean of the places they want.
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))

    def bottom(block: Sequence[int]) -> float:
        return sum(wanted[i] for i in block) / len(block) - gap * (len(block) - 1) / 2

    blocks: list[list[int]] = []
    for i in order:
        blocks.append([i])
        while len(blocks) > 1 and bottom(blocks[-2]) + gap * (len(blocks[-2]) - 1) + gap > bottom(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    placed = {i: bottom(block) + gap * step for block in blocks for step, i in enumerate(block)}
    for i in order:  # push up from the lower bound, then down from the upper one
        placed[i] = max(placed[i], low)
        low = placed[i] + gap
    for i in reversed(order):
        placed[i] = min(placed[i], high)
        high = placed[i] - gap
    return [placed[i] for i in range(len(order))]


def room_for(labels: Sequence[Label], width: float) -> float:
    """Return which share of a panel's width (inches) the labels take."""
    longest = max((len(label.text) for label in labels), default=0)
    return min((MARGIN + longest * LETTER) / width, 0.6) if longest else 0.0


def label_ends(
    axes: Axes, labels: Sequence[Label], size: style.Size, span: tuple[float, float], room: float | None = None
) -> None:
    """Write labels to the right of the lines, which lie between the two ends of `span`; size is the panel's in inches.

    The y limits must be set already; the x limits are widened to make room, equally in panels with the same `room`.
    """
    low, high = axes.get_ylim()
    gap = LINE / size[1] * (high - low)
    places = spread([label.y for label in labels], gap, low + gap / 2, high - gap / 2)
    left, right = span
    edge = 0.03 * (right - left) or 0.5
    full = (right - left + 2 * edge) / (1 - (room_for(labels, size[0]) if room is None else room))
    axes.set_xlim(left - edge, left - edge + full)
    axes.spines["bottom"].set_zorder(4)  # over the background of labels near it, which would cut the axis
    x = right + edge + MARGIN / size[0] * full / 2
    for label, y in zip(labels, places, strict=True):
        look: dict[str, Any] = {"fontsize": SIZE, "color": style.ink(label.colour), "bbox": BACKGROUND}
        axes.text(x, y, label.text, ha="left", va="center", **look)
