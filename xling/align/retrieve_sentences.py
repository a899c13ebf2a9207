"""Sentence retrieval by cosine, both directions, every layer: Figure 6 (section 5.1.3).

    python -m xling.align.retrieve_sentences --plan plan.json --out sentences.json
    python -m xling.align.retrieve_sentences --left eng.safetensors --right fra.safetensors \\
        --fit-left xnli.en.safetensors --fit-right xnli.fr.safetensors --out result.json

The plan names the source language, and for each other one the folders of states that belong together, seed by seed, the
set that the map is fitted on and the set that is searched:
{"source": "en", "config": "…", "languages": {"fr": {"seeds": [{"en": "states/en.mono.s1", "fr": "states/fr.mono.s1"}],
"fit": "parallel", "test": "tatoeba-fr"}}}

Row i of one side translates row i of the other. Without the map vectors are compared as they are; with it both sides
are normalised, and the left one mapped, as fitted on another parallel set. The map is orthogonal: carrying the right
side back would give the same cosines.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xling.align.csls import cosine_search
from xling.align.intervals import Hits, summarise
from xling.align.mapping import map_pair
from xling.align.normalise import Matrix, unit_length
from xling.align.plan import parse_plan_or_pair, plan_parser, read_language_plan
from xling.align.states import TRAINED, UNTRAINED, States, check_parallel, open_parallel, seed_states
from xling.core.errors import InputError, XlingError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr
from xling.model.device import local_device

DIRECTIONS = ("en-x", "x-en")
Record = dict[str, Any]
Scores = dict[str, float]


def retrieve(left: Matrix, right: Matrix, device: str = "cpu") -> Scores:
    """Return P@1 of finding row i of the other side by cosine, in both directions."""
    forward, backward = (float(hits.mean()) for hits in retrieval_hits(left, right, device))
    return {"left_to_right": forward, "right_to_left": backward, "mean": (forward + backward) / 2}


def retrieve_mapped(left: Matrix, right: Matrix, fit_left: Matrix, fit_right: Matrix, device: str = "cpu") -> Scores:
    """Return P@1 after normalising and mapping as another parallel set says."""
    return retrieve(*map_pair(left, right, fit_left, fit_right), device)


def retrieval_hits(left: Matrix, right: Matrix, device: str = "cpu") -> tuple[Hits, Hits]:
    """Return for each row whether row i of the other side is the nearest by cosine, in both directions."""
    if len(left) != len(right):
        raise XlingError(f"retrieval needs pairs: {len(left)} sentences on the left, {len(right)} on the right")
    x, y = unit_length(left), unit_length(right)
    gold = np.arange(len(x))
    forward, backward = (cosine_search(*sides, 1, device).indices[:, 0] == gold for sides in ((x, y), (y, x)))
    return forward, backward


def evaluate(source: str, target: str, plan: Mapping[str, Any], kind: str, device: str) -> list[Record]:
    """Return the scores of every layer, with and without the map, in both directions."""
    codes = (source, target)
    tests, fits = (list(seed_states(plan["seeds"], kind, plan[key], codes)) for key in ("test", "fit"))
    for test, fit in zip(tests, fits, strict=True):
        check_sets(test, fit)
    about = {"language": target, "encoders": kind, "chance": 1 / tests[0][0].rows}
    series = []
    for layer in range(tests[0][0].layers):
        plain, mapped = [], []
        for test, fit in zip(tests, fits, strict=True):
            left, right, fit_left, fit_right = (side.read(layer).astype(np.float32) for side in (*test, *fit))
            plain.append(retrieval_hits(left, right, device))
            mapped.append(retrieval_hits(*map_pair(left, right, fit_left, fit_right), device))
        for space, seeds in (("plain", plain), ("mapped", mapped)):
            for direction, hits in zip(DIRECTIONS, zip(*seeds, strict=True), strict=True):
                series.append((about | {"direction": direction, "layer": layer, "space": space}, hits))
    scores = summarise([hits for _, hits in series], *codes)
    return [own | score for (own, _), score in zip(series, scores, strict=True)]


def check_sets(test: Sequence[States], fit: Sequence[States]) -> None:
    """Refuse sides that do not belong together."""
    for left, right in (test, fit):
        check_parallel(left, right)
    if fit[0].layers != test[0].layers:
        raise InputError(fit[0].path, f"{fit[0].layers} layers, but {test[0].path} has {test[0].layers}")


def retrieve_study(args: argparse.Namespace, device: str) -> Record:
    """Return the records of all languages of a plan."""
    plan, log = read_language_plan(args.plan, "fit", "test").value, log_to_stderr(__name__)
    records: list[Record] = []
    for target, about in plan["languages"].items():
        for kind in (TRAINED, UNTRAINED):
            found = evaluate(plan["source"], target, about, kind, device)
            best = max(found, key=lambda record: float(record["p1"]))
            log.info("%s %s: best P@1 %.3f at layer %d, %s", target, kind, *(best[k] for k in ("p1", "layer", "space")))
            records += found
    return {"records": records, "config": plan["config"]}


def retrieve_pair(args: argparse.Namespace, device: str) -> Record:
    """Return the scores of every layer of two files of states, with the map too where there is a set to fit it on."""
    if (args.fit_left is None) != (args.fit_right is None):
        raise XlingError("--fit-left and --fit-right go together")
    sides = open_parallel(args.left, args.right)
    fit = open_parallel(args.fit_left, args.fit_right) if args.fit_left else ()
    if fit:
        check_sets(sides, fit)
    layers: dict[str, dict[str, Scores]] = {}
    for layer in range(sides[0].layers):
        left, right = (side.read(layer).astype(np.float32) for side in sides)
        layers[f"L{layer}"] = {"plain": retrieve(left, right, device)}
        if fit:
            fit_left, fit_right = (side.read(layer).astype(np.float32) for side in fit)
            layers[f"L{layer}"]["mapped"] = retrieve_mapped(left, right, fit_left, fit_right, device)
    rows = sides[0].rows
    return {"layers": layers, "chance": 1 / rows, "sentences": rows, "fitted_on": fit[0].rows if fit else 0}


def main() -> None:
    """Evaluate a whole study, or one pair of files, and write the result."""
    args = parse_args()
    evaluated = retrieve_study if args.plan else retrieve_pair
    write_json(args.out, evaluated(args, local_device(args.device).type))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = plan_parser(__doc__, required=False)
    parser.add_argument("--fit-left", type=Path, help="states of another parallel set that the map is fitted on")
    parser.add_argument("--fit-right", type=Path)
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    return parse_plan_or_pair(parser)


if __name__ == "__main__":
    run(main)
