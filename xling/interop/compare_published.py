"""Compare any two encoders on your own parallel sentences: a small table, JSON, CSV and a heat map.

xling compare MODEL_A MODEL_B --parallel FILE [FILE] [--languages en fr] [--retrieve FILE [FILE]] --out DIR

MODEL is a folder (ours, exported or Hugging Face's) or a name on the hub. FILE is `sentence<TAB>sentence`, a table with
language codes in its header (then name two), or two files, line by line. With --retrieve the map is fitted on all of
--parallel and the sentences of that set, as Tatoeba's, are looked for.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from xling.cka.compare import HELD_OUT, LayerPair, Matrix, cka_matrix, layer_pairs, read_pairs
from xling.core.cli import positive
from xling.core.errors import XlingError, run
from xling.core.io import atomic_path, write_json, write_text
from xling.core.log import log_to_stderr
from xling.interop.encoders import SENTENCES, AnyEncoder, open_encoder
from xling.model.device import local_device
from xling.report import style

INCH = 0.34  # of a cell
MARGIN = 1.3


def compare(
    encoders: Sequence[AnyEncoder], pairs: Sequence[tuple[str, str]], tested: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    """Return how alike the layers of two encoders are on pairs of sentences; those of `tested` are looked for."""
    left, right = _states(encoders, pairs)
    matrix = cka_matrix(left, right)
    rows = layer_pairs(left, right, matrix, _states(encoders, tested) if tested else None)
    looked_for = len(tested) or len(pairs) // HELD_OUT
    return {
        "models": [encoder.name for encoder in encoders],
        "sentences": len(pairs),
        "fitted": len(pairs) if tested else len(pairs) - looked_for,
        "looked_for": looked_for,
        "chance": 1 / looked_for,
        "widths": [layers[0].shape[1] for layers in (left, right)],
        "matrix": matrix,
        "layers": [asdict(row) for row in rows],
    }


def _states(encoders: Sequence[AnyEncoder], pairs: Sequence[tuple[str, str]]) -> tuple[list[Matrix], list[Matrix]]:
    left, right = (encoder.sentence_means([pair[side] for pair in pairs]) for side, encoder in enumerate(encoders))
    return left, right


def table(result: dict[str, Any]) -> str:
    """Return the layers of a comparison as text in columns."""
    head = f"{'layers':<10}{'CKA':>8}{'found':>8}{'mapped':>8}"
    rows = [
        f"{row['left']:>2} - {row['right']:<5}{row['cka']:>8.3f}{_share(row['plain']):>8}{_share(row['mapped']):>8}"
        for row in result["layers"]
    ]
    told = f"{result['sentences']} pairs; {result['looked_for']} looked for, by chance {_share(result['chance'])}"
    return "\n".join([head, *rows, told])


def cautions(result: dict[str, Any]) -> list[str]:
    """Return what a reader should know of numbers from few sentences."""
    width, fitted = max(result["widths"]), result["fitted"]
    if fitted >= width:
        return []
    return [f"{fitted} pairs for vectors {width} wide are few: CKA comes out too high, and the map fits badly"]


def heat_map(result: dict[str, Any]) -> Figure:
    """Return the matrix of CKA as a picture, the left encoder's layers from top to bottom."""
    matrix = result["matrix"]
    rows, columns = len(matrix), len(matrix[0])
    figure = style.new_figure(MARGIN + INCH * columns, MARGIN + INCH * rows)
    axes = figure.subplots()
    colours = mpl.colormaps[style.HEAT_MAP]
    axes.imshow(matrix, cmap=colours, vmin=0, vmax=1)
    for i, line in enumerate(matrix):
        for j, value in enumerate(line):
            axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6, color=style.ink_on(colours(value)))
    axes.set_xticks(range(columns), [f"L{j}" for j in range(columns)])
    axes.set_yticks(range(rows), [f"L{i}" for i in range(rows)])
    axes.set_xlabel(_short(result["models"][1]))
    axes.set_ylabel(_short(result["models"][0]))
    axes.set_title("linear CKA")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def write_all(result: dict[str, Any], folder: Path) -> None:
    """Write compare.json, layers.csv, matrix.csv and matrix.png."""
    names = [field.name for field in fields(LayerPair)]
    _write_csv(folder / "layers.csv", [names, *(astuple(LayerPair(**row)) for row in result["layers"])])
    heads = ["", *(f"L{number}" for number in range(len(result["matrix"][0])))]
    _write_csv(folder / "matrix.csv", [heads, *([f"L{i}", *row] for i, row in enumerate(result["matrix"]))])
    with style.styled(), atomic_path(folder / "matrix.png") as temporary:
        heat_map(result).savefig(temporary, format="png", dpi=style.DOTS_PER_INCH, metadata=style.FORMATS["png"])
    write_json(folder / "compare.json", result)


def _write_csv(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    with write_text(path) as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _short(name: str) -> str:
    return "/".join(Path(name).parts[-2:])


def main(argv: Sequence[str] | None = None) -> None:
    """Compare two encoders, print a table and write everything."""
    args = parse_args(argv)
    for name in ("parallel", "retrieve"):
        if len(files := getattr(args, name)) > 2:
            raise XlingError(f"--{name} takes one file or two, not {len(files)}")
    pairs = read_pairs(args.parallel, args.languages, args.sentences)
    tested = read_pairs(args.retrieve, args.languages, args.sentences) if args.retrieve else ()
    languages = args.languages or (None, None)
    device = str(local_device("auto")) if args.device == "auto" else args.device
    encoders = [
        open_encoder(args.model_a, languages[0], args.vocab_a, args.tokeniser_a, device),
        open_encoder(args.model_b, languages[1], args.vocab_b, args.tokeniser_b, device),
    ]
    result = compare(encoders, pairs, tested) | {"config": args.config_hash}
    write_all(result, args.out)
    print(table(result))
    for caution in cautions(result):
        log_to_stderr(__name__).warning(caution)


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="xling compare", description=__doc__.split("\n")[0])
    parser.add_argument("model_a", help="folder of a model, or a name on the Hugging Face hub")
    parser.add_argument("model_b")
    parser.add_argument("--parallel", type=Path, nargs="+", required=True, help="one file or two")
    parser.add_argument("--languages", nargs=2, metavar=("A", "B"), help="columns of a table; languages of the models")
    for side in "ab":
        parser.add_argument(f"--vocab-{side}", type=Path, help="vocabulary of a model of ours that was not exported")
        parser.add_argument(f"--tokeniser-{side}", metavar="JSON", help="its tokeniser (default: split at spaces)")
    parser.add_argument("--sentences", type=positive, default=SENTENCES, help="read at most so many pairs")
    parser.add_argument("--retrieve", type=Path, nargs="+", default=(), help="a set whose sentences are looked for")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto (default)")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--out", type=Path, required=True, help="folder of compare.json, the CSV files and matrix.png")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
