"""Compare any two encoders on parallel sentences: a small table, JSON, CSV and a heat map.

xling compare MODEL_A MODEL_B --parallel FILE [FILE] [--languages en fr] [--retrieve FILE [FILE]] --out DIR

MODEL is a folder (ours, exported or Hugging Face's), a name on the hub, or a file of states of these sentences that
`xling import` wrote. FILE is `sentence<TAB>sentence`, a table with language codes in its header (then name two), or two
files, line by line.

CKA compares every layer with every other; layers at the same depth are also compared by sentence retrieval, with and
without a map. The map is fitted on three pairs in four and the others are looked for, so that no sentence helps to find
itself; with --retrieve it is fitted on all of --parallel, and the sentences of that set, as Tatoeba's, are looked for.
Where the widths differ, the narrower side is padded with zeros, so that the map turns it into the wider space; without
a map nothing can be compared there. Shapes: n pairs of sentences; on each side one (n, d) matrix per layer.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from xling.align.mapping import map_pair
from xling.align.retrieve_sentences import retrieval_hits
from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import atomic_path, numbered_lines, write_json, write_text
from xling.core.log import log_to_stderr
from xling.data.parallel import read_aligned, read_multiway
from xling.interop.encoders import SENTENCES, Matrix, Opened, open_any_encoder
from xling.model.device import local_device
from xling.model.similarity import BLOCK, CkaStream
from xling.report import style

HELD_OUT = 4  # every fourth pair is looked for
FEWEST = 8  # pairs
INCH, MARGIN = 0.34, 1.3  # of a cell of the heat map, and around it
Pairs = Sequence[tuple[str, str]]
Sides = tuple[Sequence[Matrix], Sequence[Matrix]]


def compare(encoders: Sequence[Opened], pairs: Pairs, tested: Pairs = ()) -> dict[str, Any]:
    """Return how alike the layers of two encoders are on pairs of sentences; those of `tested` are looked for."""
    left, right = _states(encoders, pairs)
    matrix = cka_matrix(left, right)
    looked_for = len(tested) or len(pairs) // HELD_OUT
    return {
        "models": [encoder.name for encoder in encoders],
        "sentences": len(pairs),
        "fitted": len(pairs) if tested else len(pairs) - looked_for,
        "looked_for": looked_for,
        "chance": 1 / looked_for,
        "widths": [layers[0].shape[1] for layers in (left, right)],
        "matrix": matrix,
        "layers": layer_pairs(left, right, matrix, _states(encoders, tested) if tested else None),
    }


def _states(encoders: Sequence[Opened], pairs: Pairs) -> Sides:
    left, right = (encoder.sentence_means([pair[side] for pair in pairs]) for side, encoder in enumerate(encoders))
    return left, right


def cka_matrix(left: Sequence[Matrix], right: Sequence[Matrix]) -> list[list[float]]:
    """Return CKA of every layer on the left (rows) with every layer on the right.

    Row by row: the products of all pairs at once would take gigabytes for large encoders.
    """
    rows = []
    for layer in left:
        stream = CkaStream(1, len(right), every_pair=True)
        for start in range(0, len(layer), BLOCK):
            stream.add([layer[start : start + BLOCK]], [other[start : start + BLOCK] for other in right])
        rows += stream.matrix()
    return rows


def layer_pairs(
    left: Sequence[Matrix], right: Sequence[Matrix], matrix: Sequence[Sequence[float]], tested: Sides | None = None
) -> list[dict[str, Any]]:
    """Return CKA and retrieval of layers at the same depth; `tested` has both sides of a set to be looked for.

    `plain` and `mapped` are the share of sentences found by cosine, both directions averaged; `plain` is None where
    widths differ.
    """
    found = []
    for i, j in same_depth(len(left), len(right)):
        plain, mapped = retrieval(left[i], right[j], None if tested is None else (tested[0][i], tested[1][j]))
        found.append({"left": i, "right": j, "cka": matrix[i][j], "plain": plain, "mapped": mapped})
    return found


def same_depth(left: int, right: int) -> list[tuple[int, int]]:
    """Return each layer on the left with the one on the right that is as far up, from the embeddings to the top."""
    share = (right - 1) / max(left - 1, 1)
    return [(layer, round(layer * share)) for layer in range(left)]


def retrieval(left: Matrix, right: Matrix, tested: tuple[Matrix, Matrix] | None = None) -> tuple[float | None, float]:
    """Return the share of sentences found by cosine without a map and with one, both directions averaged."""
    held = np.arange(len(left)) % HELD_OUT == HELD_OUT - 1
    fit = (left, right) if tested else (left[~held], right[~held])
    x, y = tested or (left[held], right[held])
    plain = _found(x, y) if x.shape[1] == y.shape[1] else None
    width = max(x.shape[1], y.shape[1])
    x, y, fit_x, fit_y = (np.pad(side, ((0, 0), (0, width - side.shape[1]))) for side in (x, y, *fit))
    return plain, _found(*map_pair(x, y, fit_x, fit_y))


def _found(left: Matrix, right: Matrix) -> float:
    forward, backward = (float(hits.mean()) for hits in retrieval_hits(left, right))
    return (forward + backward) / 2


def read_pairs(paths: Sequence[Path], languages: Sequence[str] | None, most: int) -> list[tuple[str, str]]:
    """Return the first pairs of sentences of one file with two columns, of a table with languages, or of two files."""
    if len(paths) == 2:
        rows: Iterator[tuple[str, ...]] = read_aligned(paths)
    elif languages is not None and _has_header(paths[0], languages):
        rows = read_multiway(paths[0], languages)
    else:
        rows = _two_columns(paths[0])
    pairs = [(row[0], row[1]) for row in islice(rows, most)]
    if len(pairs) < FEWEST:
        raise InputError(paths[0], f"{len(pairs)} pairs of sentences, at least {FEWEST} are needed")
    return pairs


def _has_header(path: Path, languages: Sequence[str]) -> bool:
    first = next(iter(numbered_lines(path)), (1, ""))[1].split("\t")
    return all(code in first for code in languages)


def _two_columns(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 2:
            fix = "or name the columns of a table with --languages"
            raise InputError(path, f"{len(cells)} columns, expected sentence<TAB>sentence", line=number, fix=fix)
        if not all(cell.strip() for cell in cells):
            raise InputError(path, "an empty side where a sentence was expected", line=number)
        yield cells[0], cells[1]


def table(result: dict[str, Any]) -> str:
    """Return the layers of a comparison as text in columns."""
    head = f"{'layers':<10}{'CKA':>8}{'found':>8}{'mapped':>8}"
    rows = [
        f"{row['left']:>2} - {row['right']:<5}{row['cka']:>8.3f}{_share(row['plain']):>8}{_share(row['mapped']):>8}"
        for row in result["layers"]
    ]
    last = f"{result['sentences']} pairs; {result['looked_for']} looked for, by chance {_share(result['chance'])}"
    return "\n".join([head, *rows, last])


def caution(result: dict[str, Any]) -> str | None:
    """Return a warning where the numbers come from few sentences."""
    width, fitted = max(result["widths"]), result["fitted"]
    few = f"{fitted} pairs for vectors {width} wide are few: CKA comes out too high, and the map fits badly"
    return few if fitted < width else None


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
    names = [[f"L{i}" for i in range(size)] for size in (len(result["matrix"]), len(result["matrix"][0]))]
    matrix = pd.DataFrame(result["matrix"], *names)
    for name, frame in (("layers", pd.DataFrame(result["layers"])), ("matrix", matrix)):
        with write_text(folder / f"{name}.csv") as handle:
            frame.to_csv(handle, index=name == "matrix")
    with style.styled(), atomic_path(folder / "matrix.png") as temporary:
        heat_map(result).savefig(temporary, format="png", dpi=style.DOTS_PER_INCH, metadata=style.FORMATS["png"])
    write_json(folder / "compare.json", result)


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
        open_any_encoder(args.model_a, languages[0], args.vocab_a, args.tokeniser_a, device),
        open_any_encoder(args.model_b, languages[1], args.vocab_b, args.tokeniser_b, device),
    ]
    result = compare(encoders, pairs, tested)
    write_all(result, args.out)
    print(table(result))
    if warning := caution(result):
        log_to_stderr(__name__).warning(warning)


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="xling compare", description=__doc__.split("\n")[0])
    parser.add_argument("model_a", help="folder of a model, a name on the Hugging Face hub, or a file of states")
    parser.add_argument("model_b")
    parser.add_argument("--parallel", type=Path, nargs="+", required=True, help="one file or two")
    parser.add_argument("--languages", nargs=2, metavar=("A", "B"), help="columns of a table; languages of the models")
    for side in "ab":
        parser.add_argument(f"--vocab-{side}", type=Path, help="vocabulary of a model of ours that was not exported")
        parser.add_argument(f"--tokeniser-{side}", type=Path, help="JSON of its tokeniser (default: split at spaces)")
    parser.add_argument("--sentences", type=positive, default=SENTENCES, help="read at most this many pairs")
    parser.add_argument("--retrieve", type=Path, nargs="+", default=(), help="a set whose sentences are looked for")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto (default)")
    parser.add_argument("--out", type=Path, required=True, help="folder of compare.json, the CSV files and matrix.png")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
