"""Compare any two encoders on parallel sentences; the output is a small table, JSON, CSV and a heat map.

xling compare MODEL_A MODEL_B [--parallel FILE [FILE]] [--languages en fr] [--out DIR]

MODEL is a folder (of our model, an exported model or a Hugging Face model) or a name on the hub. By default, two models
of ours are compared on the parallel sentences of their studies: the first model in its first language, and the second
model in its last language. FILE has lines of `sentence<TAB>sentence`, or is a table with language codes in its header
(then --languages selects two columns). Two files must have corresponding lines.

CKA compares every layer with every other. Layers at the same depth are also compared by sentence retrieval, with and
without an orthogonal map. The map is fitted on three pairs in four, and only the other pairs are retrieved, so no
sentence helps to find itself. If the widths differ, the narrower vectors are padded with zeros before they are mapped,
and there is no retrieval without a map. Shapes: n pairs of sentences; on each side one (n, d) matrix per layer.
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

from xling.align.mapping import Matrix, map_pair
from xling.align.retrieve_sentences import retrieval_hits
from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import numbered_lines, read_json, write_json, write_text
from xling.core.log import log_to_stderr
from xling.data.parallel import read_aligned, read_multiway
from xling.interop.encoders import SENTENCES, AnyEncoder, open_any_encoder
from xling.interop.trained import in_study, refuse_misspelt
from xling.model.device import local_device
from xling.model.similarity import cka_matrix
from xling.report import style

HELD_OUT = 4  # every fourth pair is held out from the fit of the map and used for retrieval
FEWEST = 8  # pairs that are needed at least
INCH, MARGIN, BAR = 0.34, 1.3, 0.7  # inches: a cell of the heat map, the margins, the colour bar


def compare(encoders: Sequence[AnyEncoder], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the similarity of the layers of two encoders on pairs of sentences.

    `matrix` has the CKA of all pairs of layers, and `layers` the CKA and retrieval of layers at the same depth. `plain`
    and `mapped` are the shares of sentences found by cosine without and with a map, averaged over both directions;
    `plain` is None if the widths differ.
    """
    left, right = (encoder.sentence_means([pair[side] for pair in pairs]) for side, encoder in enumerate(encoders))
    looked_for = len(pairs) // HELD_OUT
    # Row by row: with all pairs of layers at once, the products would take gigabytes for large encoders.
    matrix, layers = [row for layer in left for row in cka_matrix([layer], right)], []
    for i, j in same_depth(len(left), len(right)):
        plain, mapped = retrieval(left[i], right[j])
        layers.append({"left": i, "right": j, "cka": matrix[i][j], "plain": plain, "mapped": mapped})
    return {
        "models": [encoder.name for encoder in encoders],
        "languages": [encoder.language for encoder in encoders],
        "sentences": len(pairs),
        "fitted": len(pairs) - looked_for,
        "looked_for": looked_for,
        "chance": 1 / looked_for,
        "widths": [side[0].shape[1] for side in (left, right)],
        "matrix": matrix,
        "layers": layers,
    }


def same_depth(left: int, right: int) -> list[tuple[int, int]]:
    """Return each layer of the left encoder with the layer of the right encoder at the nearest relative depth."""
    share = (right - 1) / max(left - 1, 1)
    return [(layer, round(layer * share)) for layer in range(left)]


def retrieval(left: Matrix, right: Matrix) -> tuple[float | None, float]:
    """Return the shares of held-out sentences found by cosine without and with a map, averaged over both directions."""
    held = np.arange(len(left)) % HELD_OUT == HELD_OUT - 1
    plain = _found(left[held], right[held]) if left.shape[1] == right.shape[1] else None
    width = max(left.shape[1], right.shape[1])
    x, y = (np.pad(side, ((0, 0), (0, width - side.shape[1]))) for side in (left, right))
    return plain, _found(*map_pair(x[held], y[held], x[~held], y[~held]))


def _found(left: Matrix, right: Matrix) -> float:
    forward, backward = (float(hits.mean()) for hits in retrieval_hits(left, right))
    return (forward + backward) / 2


def read_pairs(paths: Sequence[Path], languages: Sequence[str] | None, most: int) -> list[tuple[str, str]]:
    """Return the first `most` pairs of sentences of a two-column file, a table with languages, or two files."""
    header = next(iter(numbered_lines(paths[0])), (1, ""))[1].split("\t")
    if len(paths) == 2:
        rows: Iterator[tuple[str, ...]] = read_aligned(paths)
    elif languages is not None and set(languages) <= set(header):
        rows = read_multiway(paths[0], languages)
    else:
        rows = _two_columns(paths[0])
    pairs = [(row[0], row[1]) for row in islice(rows, most)]
    if len(pairs) < FEWEST:
        raise InputError(paths[0], f"{len(pairs)} pairs of sentences, at least {FEWEST} are needed")
    return pairs


def _two_columns(path: Path) -> Iterator[tuple[str, ...]]:
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 2:
            fix = "or name the columns of a table with --languages"
            raise InputError(path, f"{len(cells)} columns, expected sentence<TAB>sentence", line=number, fix=fix)
        if not all(cell.strip() for cell in cells):
            raise InputError(path, "an empty side where a sentence was expected", line=number)
        yield tuple(cells)


def table(result: dict[str, Any]) -> str:
    """Return the layers of a comparison as a table in plain text."""
    lines = [f"{'layers':<10}{'CKA':>8}{'found':>8}{'mapped':>8}"]
    for row in result["layers"]:
        shares = ("" if row[key] is None else f"{100 * row[key]:.1f}%" for key in ("plain", "mapped"))
        lines.append(f"{row['left']:>2} - {row['right']:<5}{row['cka']:>8.3f}{next(shares):>8}{next(shares):>8}")
    pairs, looked_for, chance = (result[key] for key in ("sentences", "looked_for", "chance"))
    return "\n".join([*lines, f"{pairs} pairs; {looked_for} looked for, by chance {100 * chance:.1f}%"])


def caution(result: dict[str, Any]) -> str | None:
    """Return a warning if there are too few sentences for reliable numbers."""
    width, fitted = max(result["widths"]), result["fitted"]
    few = f"{fitted} pairs for vectors {width} wide are few: CKA comes out too high, and the map fits badly"
    return few if fitted < width else None


def heat_map(result: dict[str, Any]) -> Figure:
    """Return the CKA matrix as a figure; its rows are the layers of the left encoder, from top to bottom."""
    matrix = np.array(result["matrix"])
    rows, columns = matrix.shape
    figure = style.new_figure(MARGIN + BAR + INCH * columns, MARGIN + INCH * rows)
    axes, colours = figure.subplots(), mpl.colormaps[style.HEAT_MAP]
    image = axes.imshow(matrix, cmap=colours, vmin=0, vmax=1)
    figure.colorbar(image, ax=axes, label="linear CKA", shrink=0.8)
    for (i, j), value in np.ndenumerate(matrix):
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6, color=style.ink_on(colours(value)))
    axes.set_xticks(range(columns), [f"L{j}" for j in range(columns)])
    axes.set_yticks(range(rows), [f"L{i}" for i in range(rows)])
    beside, below = axis_names(result["models"], result["languages"])
    axes.set(xlabel=f"layers of {below}", ylabel=f"layers of {beside}")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def axis_names(models: Sequence[str], languages: Sequence[str | None]) -> list[str]:
    """Return the axis labels: a short name of each model that distinguishes the two, with its language."""
    short = [Path(name).name if Path(name).exists() else name for name in models]
    if short[0] == short[1] and models[0] != models[1]:
        short = ["/".join(Path(name).absolute().parts[-3:]) for name in models]
    return [f"{name} ({code})" if code else name for name, code in zip(short, languages, strict=True)]


def write_all(result: dict[str, Any], folder: Path) -> None:
    """Write compare.json, layers.csv, matrix.csv, matrix.png and matrix.svg."""
    matrix = pd.DataFrame(result["matrix"]).rename(index=lambda i: f"L{i}", columns=lambda j: f"L{j}")
    for name, frame in (("layers", pd.DataFrame(result["layers"])), ("matrix", matrix)):
        with write_text(folder / f"{name}.csv") as handle:
            frame.to_csv(handle, index=name == "matrix")
    with style.styled():
        style.save_images(heat_map(result), folder, "matrix", ("png", "svg"))
    write_json(folder / "compare.json", result, sealed=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Compare two encoders, print a table and write all files."""
    args = parse_args(argv)
    if len(args.parallel) > 2:
        raise XlingError(f"--parallel takes one file or two, not {len(args.parallel)}")
    models, tokenised, fix = (args.model_a, args.model_b), not args.parallel, "name sentences with --parallel"
    if tokenised:
        args.languages = args.languages or first_and_last(*models)
        own = zip(models, args.languages, strict=True)
        args.parallel = [in_study(Path(name), f"parallel/{code}.txt", fix) for name, code in own]
    pairs = read_pairs(args.parallel, args.languages, args.sentences)
    device = str(local_device("auto")) if args.device == "auto" else args.device
    asked = zip(models, args.languages or (None, None), strict=True)
    encoders = [open_any_encoder(name, code, device, tokenised) for name, code in asked]
    result = compare(encoders, pairs)
    names = axis_names(result["models"], result["languages"])
    out = args.out or Path("-vs-".join(Path(name).absolute().name for name in models))
    write_all(result, out)
    print("rows: {}, columns: {}".format(*names), table(result), f"Picture: {out / 'matrix.png'}", sep="\n")
    if warning := caution(result):
        log_to_stderr(__name__).warning(warning)


def first_and_last(left: str, right: str) -> list[str]:
    """Return the first language of the left model and the last language of the right model; both must be ours."""
    known = []
    for name in (left, right):
        refuse_misspelt(Path(name))
        if not (path := Path(name) / "model.json").is_file():
            fix = "name a file of sentences with --parallel"
            raise XlingError(f"{name}: {fix}: this is no model of ours (no model.json)")
        known.append(read_json(path)["languages"])
    return [known[0][0], known[1][-1]]


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="xling compare", description=__doc__.split("\n")[0])
    parser.add_argument("model_a", help="folder of a model, or a name on the Hugging Face hub")
    parser.add_argument("model_b")
    parser.add_argument("--parallel", type=Path, nargs="+", default=(), help="one file or two (default: the studies')")
    parser.add_argument("--languages", nargs=2, metavar=("A", "B"), help="columns of a table; languages of the models")
    parser.add_argument("--sentences", type=positive, default=SENTENCES, help="read at most this many pairs")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto (default)")
    parser.add_argument("--out", type=Path, help="folder of the JSON, CSV and picture files (default: A-vs-B, here)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
