"""Comparisons of encoders beside each other: CKA and sentence retrieval, layer by layer.

python -m xling.report.encoder_curves --comparison NAME=compare.json --comparison … --out-dir DIR

Reads what `xling compare` wrote. Encoders differ in how many layers they have: a curve goes up the first one's layers,
and the second one's stand beside them at the same depth.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.figure import Figure

from xling.core.cli import named_paths
from xling.core.errors import InputError, run
from xling.core.io import read_json
from xling.report import style
from xling.report.layer_curves import UNTRAINED as DASHED
from xling.report.layer_curves import Curve, Panel, Point, draw_grid, level

COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.BLACK)
MARKERS = ("o", "^", "D", "s", "v", "P", "X")
NOTE = (
    "Layers of the first encoder of a comparison (0: embeddings), the second one's at the same depth. "
    "Below: solid after an orthogonal map, dashed without one (none where the widths differ). Dotted: chance."
)


@dataclass(frozen=True)
class EncoderLayer:
    """Two layers at the same depth of a comparison: CKA, and how many percent of the sentences are found."""

    KEY: ClassVar = ("comparison", "layer")
    comparison: str
    layer: int
    right_layer: int
    cka: float
    plain: float | None
    mapped: float
    chance: float


def read_comparison(name: str, path: Path) -> list[EncoderLayer]:
    """Return the layers of a comparison; shares become percent."""
    result = read_json(path)
    if not isinstance(result, dict) or not {"layers", "chance"} <= set(result):
        raise InputError(path, "no result of `xling compare`")
    return [_layer(name, row, result["chance"]) for row in result["layers"]]


def _layer(name: str, row: Mapping[str, Any], chance: float) -> EncoderLayer:
    plain = None if row["plain"] is None else 100 * row["plain"]
    return EncoderLayer(name, row["left"], row["right"], row["cka"], plain, 100 * row["mapped"], 100 * chance)


def encoder_curves(records: Sequence[EncoderLayer]) -> Figure:
    """Return the figure: CKA above, retrieval below, a colour a comparison."""
    layers = sorted({record.layer for record in records})
    chance = level("chance", max(record.chance for record in records), layers, style.GREY)
    similar = Panel("similarity", tuple(_curves(records, "cka")))
    found = (*_curves(records, "mapped"), *_curves(records, "plain", DASHED), chance)
    rows = [[similar], [Panel("sentence retrieval", found)]]
    return draw_grid(rows, 2.6, ["linear CKA", "P@1 (%)"], NOTE)


def _curves(records: Sequence[EncoderLayer], value: str, dashes: Any = "-") -> Iterator[Curve]:
    names = dict.fromkeys(record.comparison for record in records)
    for name, colour, marker in zip(names, cycle(COLOURS), cycle(MARKERS), strict=False):
        own = [record for record in records if record.comparison == name]
        known = tuple(Point(record.layer, y) for record in own if (y := getattr(record, value)) is not None)
        if known:
            yield Curve(name if dashes == "-" else "", known, colour, marker if dashes == "-" else "", dashes)


def main() -> None:
    """Draw all comparisons of a study."""
    args = parse_args()
    files = named_paths(args.comparison, "--comparison", "NAME=PATH")
    records = [layer for name, path in files.items() for layer in read_comparison(name, path)]
    with style.styled():
        style.save_figure(encoder_curves(records), args.out_dir, "encoders", records)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparison", action="append", required=True, metavar="NAME=PATH", help="a compare.json")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
