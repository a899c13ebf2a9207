"""CKA of every layer of one encoder with every layer of another: Figure 7 (section 5.2).

    python -m xling.cka.compare_encoders --plan plan.json --out cka.json
    python -m xling.cka.compare_encoders --left en.safetensors --right fr.safetensors --out cka.json

The plan lists what is compared, seed by seed; the result has the mean over seeds, and each seed's layers:
{"set": "parallel", "config": "…", "comparisons": [{"pair": "en-fr", "model": "random",
"seeds": [[{"folder": "states/en.mono.s1", "kind": "trained", "language": "en"},
{"folder": "states/fr.mono.s1", "kind": "untrained", "language": "fr"}]]}]}
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xling.align.plan import parse_plan_or_pair, plan_parser, read_plan
from xling.align.states import States, open_parallel, states_file
from xling.core.errors import InputError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr
from xling.model.similarity import BLOCK, CkaStream

Record = dict[str, Any]


def compare(left: States, right: States, every_pair: bool = True) -> CkaStream:
    """Stream two files of states of the same sentences, each read once."""
    if left.rows < 2:
        raise InputError(left.path, "CKA needs at least two sentences")
    stream = CkaStream(left.layers, right.layers, every_pair)
    for start in range(0, left.rows, BLOCK):
        blocks = ([side.read(layer, start, start + BLOCK) for layer in range(side.layers)] for side in (left, right))
        stream.add(*blocks)
    return stream


def average(comparison: Mapping[str, Any], name: str) -> Record:
    """Return a comparison's layers, their average and the matrix, averaged over its seeds."""
    matrices = []
    for sides in comparison["seeds"]:
        left, right = (states_file(Path(side["folder"]), side["kind"], name, side["language"]) for side in sides)
        matrices.append(np.array(compare(*open_parallel(left, right)).matrix()))
    mean = np.stack(matrices).mean(axis=0)
    layers = {f"L{layer}": float(value) for layer, value in enumerate(np.diag(mean))}
    averages = [float(np.mean(np.diag(one))) for one in matrices]
    return {
        "pair": comparison["pair"],
        "model": comparison["model"],
        "cka": layers | {"AVER": float(np.mean(averages))},
        "matrix": mean.tolist(),
        "by_seed": averages,
        "layers_by_seed": [np.diag(one).tolist() for one in matrices],
    }


def read_comparisons(path: Path) -> dict[str, Any]:
    """Return the plan, in which every comparison must name two sides for each seed."""
    plan = read_plan(path)
    plan.object("set", "comparisons", "config")
    for comparison in plan["comparisons"].list():
        comparison.object("pair", "model", "seeds")
        for seed in comparison["seeds"].list():
            for side in seed.list(2):
                side.object("folder", "kind", "language")
    return plan.object()


def compare_study(path: Path) -> Record:
    """Return the records of all comparisons of a plan."""
    plan, records = read_comparisons(path), []
    for comparison in plan["comparisons"]:
        records.append(average(comparison, plan["set"]))
        found = comparison["pair"], comparison["model"], records[-1]["cka"]["AVER"]
        log_to_stderr(__name__).info("%s %s: AVER %.3f", *found)
    return {"records": records, "config": plan["config"]}


def compare_pair(left: Path, right: Path) -> Record:
    """Return the comparison of two files of states."""
    sides = open_parallel(left, right)
    stream = compare(*sides)
    return {"cka": stream.layerwise(), "matrix": stream.matrix(), "sentences": sides[0].rows}


def main() -> None:
    """Compare all pairs of a study, or one pair of files, and write the result."""
    args = parse_plan_or_pair(plan_parser(__doc__, required=False))
    write_json(args.out, compare_study(args.plan) if args.plan else compare_pair(args.left, args.right))


if __name__ == "__main__":
    run(main)
