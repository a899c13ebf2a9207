"""CKA of every layer of one encoder with every layer of another: Figure 7 (section 5.2).

    python -m xling.cka.compare_encoders --plan plan.json --out cka.json

The plan lists the encoders to compare, which all have the same seed:
{"source": "en", "seed": 1, "set": "parallel", "config": "…", "comparisons": [{"pair": "en-fr", "model": "random",
"sides": [{"folder": "states/en.mono.s1", "kind": "trained", "language": "en"},
{"folder": "states/fr.mono.s1", "kind": "untrained", "language": "fr"}]}]}
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from xling.align.plan import plan_parser
from xling.align.states import States, check_parallel, states_file
from xling.core.errors import run
from xling.core.io import read_json, write_json
from xling.core.log import log_to_stderr
from xling.core.records import read_record, record
from xling.model.similarity import BLOCK, CkaStream


@record
class Side:
    """The hidden states of an encoder in one language."""

    folder: Path
    kind: str
    language: str


@record
class Comparison:
    """A pair of encoders."""

    pair: str
    model: str
    sides: tuple[Side, Side]


@record
class Plan:
    """All comparisons, on one set of sentences; `config` is a hash that is copied into the result."""

    set: str
    seed: int
    comparisons: Annotated[tuple[Comparison, ...], Field(min_length=1)]
    config: str
    source: str = ""


def compare(left: States, right: States) -> list[list[float]]:
    """Return the CKA of every layer pair of two files of hidden states of the same sentences; each is read once."""
    check_parallel(left, right)
    stream = CkaStream(left.layers, right.layers)
    for start in range(0, left.rows, BLOCK):
        blocks = ([side.read(layer, start, start + BLOCK) for layer in range(side.layers)] for side in (left, right))
        stream.add(*blocks)
    return stream.matrix()


def similarity(comparison: Comparison, name: str) -> dict[str, Any]:
    """Return the CKA of a comparison: every layer with every layer, each layer with its counterpart, and their mean."""
    left, right = (States(states_file(side.folder, side.kind, name, side.language)) for side in comparison.sides)
    matrix = compare(left, right)
    layers = np.diag(matrix).tolist()
    cka = {f"L{layer}": value for layer, value in enumerate(layers)} | {"AVER": float(np.mean(layers))}
    return {"pair": comparison.pair, "model": comparison.model, "cka": cka, "matrix": matrix}


def main() -> None:
    """Compute all comparisons of a plan and write the result."""
    args = plan_parser(__doc__).parse_args()
    plan, records = read_record(Plan, read_json(args.plan), args.plan), []
    for comparison in plan.comparisons:
        records.append(similarity(comparison, plan.set))
        found = comparison.pair, comparison.model, records[-1]["cka"]["AVER"]
        log_to_stderr(__name__).info("%s %s: AVER %.3f", *found)
    write_json(args.out, {"records": records, "config": plan.config})


if __name__ == "__main__":
    run(main)
