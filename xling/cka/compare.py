"""Two encoders on the same sentences: CKA of every layer with every other, and retrieval with and without a map.

Shapes: n pairs of sentences; a list of (n, d) matrices, one a layer, on each side. The map is fitted on three pairs in
four and the others are looked for, so that no sentence helps to find itself; or it is fitted on all pairs, and those of
a set of their own are looked for. Where the widths differ, the narrower side is filled up with zeros, so that the map
turns it into the wider space; without a map nothing can be compared there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xling.align.sentences import retrieve, retrieve_mapped
from xling.core.errors import InputError
from xling.core.io import numbered_lines
from xling.data.parallel import read_aligned, read_multiway
from xling.model.similarity import BLOCK, CkaStream

Matrix = NDArray[np.floating]
HELD_OUT = 4  # one pair in so many is looked for
FEWEST = 8


@dataclass(frozen=True, slots=True)
class LayerPair:
    """One layer of the left encoder beside the layer of the right one at the same depth."""

    left: int
    right: int
    cka: float
    plain: float | None  # share of held-out sentences found by cosine, both directions; none where widths differ
    mapped: float


def cka_matrix(left: Sequence[Matrix], right: Sequence[Matrix]) -> list[list[float]]:
    """Return CKA of every layer on the left (rows) with every layer on the right.

    Row by row: the products of all pairs at once would take gigabytes for large encoders.
    """
    return [_row(layer, right) for layer in left]


def layer_pairs(
    left: Sequence[Matrix],
    right: Sequence[Matrix],
    matrix: Sequence[Sequence[float]],
    tested: tuple[Sequence[Matrix], Sequence[Matrix]] | None = None,
) -> list[LayerPair]:
    """Return CKA and retrieval of layers at the same depth; `tested` has both sides of a set to be looked for."""
    found = []
    for i, j in same_depth(len(left), len(right)):
        test = None if tested is None else (tested[0][i], tested[1][j])
        found.append(LayerPair(i, j, matrix[i][j], *retrieval(left[i], right[j], test)))
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
    plain = retrieve(x, y)["mean"] if x.shape[1] == y.shape[1] else None
    width = max(x.shape[1], y.shape[1])
    left_test, right_test, left_fit, right_fit = (_widened(side, width) for side in (x, y, *fit))
    return plain, retrieve_mapped(left_test, right_test, left_fit, right_fit)["mean"]


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


def _widened(side: Matrix, width: int) -> Matrix:
    return np.pad(side, ((0, 0), (0, width - side.shape[1])))


def _row(left: Matrix, right: Sequence[Matrix]) -> list[float]:
    stream = CkaStream(1, len(right), every_pair=True)
    for start in range(0, len(left), BLOCK):
        stream.add([left[start : start + BLOCK]], [layer[start : start + BLOCK] for layer in right])
    return stream.matrix()[0]


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
