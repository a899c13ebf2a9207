"""Sentence retrieval by cosine, both directions, every layer (Figure 6, section 5.1.3).

    python -m xling.align.sentences --left eng.safetensors --right fra.safetensors \\
        --fit-left xnli.en.safetensors --fit-right xnli.fr.safetensors --out result.json

Row i of one side translates row i of the other. Without the map vectors are compared as they are; with it both sides
are normalised, and the left one mapped, as fitted on another parallel set. The map is orthogonal: carrying the right
side back would give the same cosines.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xling.align.csls import cosine_search
from xling.align.intervals import Hits
from xling.align.mapping import fit_alignment
from xling.align.normalise import Matrix, unit_length
from xling.align.states import States, check_parallel, read_states
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr

Scores = dict[str, float]


def retrieve(left: Matrix, right: Matrix, device: str = "cpu") -> Scores:
    """Return P@1 of finding row i of the other side by cosine, in both directions."""
    forward, backward = (float(hits.mean()) for hits in retrieval_hits(left, right, device))
    return {"left_to_right": forward, "right_to_left": backward, "mean": (forward + backward) / 2}


def retrieval_hits(left: Matrix, right: Matrix, device: str = "cpu") -> tuple[Hits, Hits]:
    """Return for each row whether row i of the other side is the nearest by cosine, in both directions."""
    if len(left) != len(right):
        raise XlingError(f"retrieval needs pairs: {len(left)} sentences on the left, {len(right)} on the right")
    x, y = unit_length(left), unit_length(right)
    gold = np.arange(len(x))
    forward, backward = (cosine_search(*sides, 1, device).indices[:, 0] == gold for sides in ((x, y), (y, x)))
    return forward, backward


def retrieve_mapped(left: Matrix, right: Matrix, fit_left: Matrix, fit_right: Matrix, device: str = "cpu") -> Scores:
    """Return P@1 after normalising and mapping as another parallel set says."""
    return retrieve(*map_pair(left, right, fit_left, fit_right), device)


def map_pair(left: Matrix, right: Matrix, fit_left: Matrix, fit_right: Matrix) -> tuple[Matrix, Matrix]:
    """Return both sides normalised, and the left one mapped, as fitted on another parallel set."""
    alignment = fit_alignment(_single(fit_left), _single(fit_right))
    return alignment.map_source(_single(left)), alignment.normalise_target(_single(right))


def _single(vectors: Matrix) -> Matrix:
    return vectors.astype(np.float32)


def evaluate_layer(layer: int, sides: Sequence[States], fit: Sequence[States], device: str) -> dict[str, Scores]:
    """Return the scores of a layer, with the map too where there is a set to fit it on."""
    left, right = (side.read(layer) for side in sides)
    scores = {"plain": retrieve(left, right, device)}
    if fit:
        scores["mapped"] = retrieve_mapped(left, right, fit[0].read(layer), fit[1].read(layer), device)
    return scores


def open_pair(left: Path, right: Path) -> tuple[States, States]:
    """Open the states of both sides of a parallel set."""
    states = read_states(left), read_states(right)
    check_parallel(*states)
    return states


def main() -> None:
    """Evaluate sentence retrieval and write the result."""
    args = parse_args()
    log = log_to_stderr(__name__)
    if (args.fit_left is None) != (args.fit_right is None):
        raise XlingError("--fit-left and --fit-right go together")
    sides = open_pair(args.left, args.right)
    fit = open_pair(args.fit_left, args.fit_right) if args.fit_left else ()
    if fit and fit[0].layers != sides[0].layers:
        raise InputError(args.fit_left, f"{fit[0].layers} layers, but {args.left} has {sides[0].layers}")
    layers = {}
    for layer in range(sides[0].layers) if args.layers is None else args.layers:
        layers[f"L{layer}"] = evaluate_layer(layer, sides, fit, args.device)
        log.info("L%d: %s", layer, {name: round(scores["mean"], 4) for name, scores in layers[f"L{layer}"].items()})
    rows = sides[0].rows
    result = {"layers": layers, "chance": 1 / rows, "sentences": rows, "config": args.config_hash}
    write_json(args.out, result | {"fitted_on": fit[0].rows if fit else 0})


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Sentence retrieval by cosine.")
    parser.add_argument("--left", type=Path, required=True, help="states of the sentences of one language")
    parser.add_argument("--right", type=Path, required=True, help="states of their translations, row by row")
    parser.add_argument("--fit-left", type=Path, help="states of another parallel set that the map is fitted on")
    parser.add_argument("--fit-right", type=Path)
    parser.add_argument("--layers", type=int, nargs="+", help="layers to evaluate (default: all)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
