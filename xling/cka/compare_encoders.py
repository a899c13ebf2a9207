"""CKA for all pairs of a study, every layer of one encoder with every layer of the other: Figure 7 (section 5.2).

    python -m xling.cka.compare_encoders --plan '{…}' --out cka.json

The plan lists what is compared, seed by seed: {"set": "parallel", "comparisons": [{"pair": "en-fr", "model": "random",
"seeds": [[{"folder": "states/en.mono.s1", "kind": "trained", "language": "en"}, {"folder": "states/fr.mono.s1",
"kind": "untrained", "language": "fr"}]]}]}. The result is the mean over seeds.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xling.align.plan import plan_list, plan_object, plan_parser, read_plan
from xling.align.represent_encoder import states_file
from xling.align.states import States, check_parallel, read_states
from xling.cka.run import compare
from xling.core.errors import run
from xling.core.io import write_json
from xling.core.log import log_to_stderr

Record = dict[str, Any]
Side = Mapping[str, str]


def open_side(side: Side, name: str) -> States:
    """Open one side's states of the sentences."""
    return read_states(states_file(Path(side["folder"]), side["kind"], name, side["language"]))


def matrix(sides: Sequence[Side], name: str) -> NDArray[np.float64]:
    """Return CKA of every layer of one side (rows) with every layer of the other."""
    left, right = (open_side(side, name) for side in sides)
    check_parallel(left, right)
    return np.array(compare(left, right, every_pair=True).matrix())


def describe(comparison: Mapping[str, Any], name: str) -> Record:
    """Return a comparison's layers, their average and the matrix, averaged over its seeds."""
    seeds = np.stack([matrix(sides, name) for sides in comparison["seeds"]])
    mean = seeds.mean(axis=0)
    layers = {f"L{layer}": float(value) for layer, value in enumerate(np.diag(mean))}
    averages = [float(np.mean(np.diag(one))) for one in seeds]
    scores = {"cka": layers | {"AVER": float(np.mean(averages))}, "matrix": mean.tolist(), "by_seed": averages}
    return {"pair": comparison["pair"], "model": comparison["model"]} | scores


def read_comparisons(text: str) -> dict[str, Any]:
    """Return the plan, in which every comparison must name two sides for each seed."""
    plan = read_plan(text, "set", "comparisons")
    for number, comparison in enumerate(plan_list(plan["comparisons"], "--plan: comparisons")):
        place = f"--plan: comparisons[{number}]"
        for sides in plan_list(plan_object(comparison, place, "pair", "model", "seeds")["seeds"], f"{place}.seeds"):
            for side in plan_list(sides, f"{place}.seeds", 2):
                plan_object(side, f"{place}.seeds", "folder", "kind", "language")
    return plan


def main() -> None:
    """Compare all pairs and write the result."""
    args = plan_parser(__doc__).parse_args()
    log, plan = log_to_stderr(__name__), read_comparisons(args.plan)
    records = []
    for comparison in plan["comparisons"]:
        records.append(describe(comparison, plan["set"]))
        log.info("%s %s: AVER %.3f", comparison["pair"], comparison["model"], records[-1]["cka"]["AVER"])
    write_json(args.out, {"records": records, "config": args.config_hash})


if __name__ == "__main__":
    run(main)
