"""Sentence retrieval by cosine in both directions at every layer: Figure 6 (section 5.1.3).

    python -m xling.align.retrieve_sentences --plan plan.json --out sentences.json

The plan names the source language, the seed of the models and, for each target language, the folders of hidden
states, the sentence set that the map is fitted on, and the sentence set that is searched:
{"source": "en", "seed": 1, "config": "…", "languages": {"fr": {"states": {"en": "states/en.mono.s1",
"fr": "states/fr.mono.s1"}, "fit": "parallel", "test": "tatoeba-fr"}}}

`config` is a hash that is copied into the result. In each sentence set, row i in one language is the translation of
row i in the other; the two languages are the sides of the set. Vectors are compared twice: unchanged, and after both
sides are normalised and an orthogonal map is applied to the source side. The map and the means that normalising
subtracts are computed from the set `fit`, not from the set that is searched. As the map is orthogonal, mapping the
target side onto the source instead would give the same cosines.
"""

from typing import Any

import numpy as np

from xling.align.mapping import Matrix, map_pair, unit_length
from xling.align.plan import Compared, ComparisonPlan, plan_parser
from xling.align.search import cosine_search
from xling.align.states import TRAINED, UNTRAINED, check_layers, check_parallel
from xling.core.errors import run
from xling.core.io import read_json, write_json
from xling.core.log import log_to_stderr
from xling.core.records import read_record, record
from xling.core.stats import Hits, summarise
from xling.model.device import local_device

Result = dict[str, Any]


@record
class Language(Compared):
    """A target language, the sentence set that the map is fitted on, and the sentence set that is searched."""

    fit: str
    test: str


@record
class Plan(ComparisonPlan):
    """The inputs for all target languages."""

    languages: dict[str, Language]


def retrieval_hits(left: Matrix, right: Matrix, device: str = "cpu") -> tuple[Hits, Hits]:
    """Return for each row i, in both directions, whether row i of the other side is its nearest neighbour by cosine."""
    x, y = unit_length(left), unit_length(right)
    gold = np.arange(len(x))
    forward, backward = (cosine_search(*sides, 1, device).indices[:, 0] == gold for sides in ((x, y), (y, x)))
    return forward, backward


def evaluate(source: str, target: str, plan: Language, kind: str, device: str) -> list[Result]:
    """Return the scores at every layer, with and without the map, in both directions."""
    test, fit = (plan.sides(kind, name, (source, target)) for name in (plan.test, plan.fit))
    check_parallel(*test)
    check_parallel(*fit)
    check_layers(fit[0], test[0])
    series: list[tuple[Result, Hits]] = []
    for layer in range(test[0].layers):
        about = {"language": target, "encoders": kind, "chance": 1 / test[0].rows, "layer": layer}
        left, right, *fitted = (side.read(layer).astype(np.float32) for side in (*test, *fit))
        for space, (x, y) in (("plain", (left, right)), ("mapped", map_pair(left, right, *fitted))):
            for direction, hits in zip(("en-x", "x-en"), retrieval_hits(x, y, device), strict=True):
                series.append((about | {"direction": direction, "space": space}, hits))
    return summarise(series, source, target)


def main() -> None:
    """Evaluate all languages of a plan and write the result."""
    args = plan_parser(__doc__).parse_args()
    plan, device = read_record(Plan, read_json(args.plan), args.plan), local_device(args.device).type
    records: list[Result] = []
    for target, own in plan.languages.items():
        for kind in (TRAINED, UNTRAINED):
            found = evaluate(plan.source, target, own, kind, device)
            best = max(found, key=lambda record: float(record["p1"]))
            about = (best[key] for key in ("p1", "layer", "space"))
            log_to_stderr(__name__).info("%s %s: best P@1 %.3f at layer %d, %s", target, kind, *about)
            records += found
    write_json(args.out, {"records": records, "config": plan.config})


if __name__ == "__main__":
    run(main)
