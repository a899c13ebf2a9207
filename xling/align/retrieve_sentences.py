"""Sentence retrieval for all languages of a study: Figure 6 (section 5.1.3).

    python -m xling.align.retrieve_sentences --plan '{…}' --out sentences.json

The plan names the source language, and for each other one the folders of states that belong together, seed by seed, the
set that the map is fitted on and the set that is searched:
{"source": "en", "languages": {"fr": {"seeds": [{"en": "states/en.mono.s1", "fr": "states/fr.mono.s1"}],
"fit": "parallel", "test": "tatoeba-fr"}}}
"""

from collections.abc import Mapping, Sequence
from typing import Any

from xling.align.intervals import Hits, summarise
from xling.align.plan import plan_parser, read_language_plan, seed_states
from xling.align.represent_encoder import TRAINED, UNTRAINED
from xling.align.sentences import map_pair, retrieval_hits
from xling.align.states import States, check_parallel
from xling.core.errors import InputError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr
from xling.model.device import local_device

DIRECTIONS = ("en-x", "x-en")
Record = dict[str, Any]


def evaluate(source: str, target: str, plan: Mapping[str, Any], kind: str, device: str) -> list[Record]:
    """Return the scores of every layer, with and without the map, in both directions."""
    codes = (source, target)
    tests, fits = (list(seed_states(plan["seeds"], kind, plan[key], codes)) for key in ("test", "fit"))
    for test, fit in zip(tests, fits, strict=True):
        check_sets(test, fit)
    about = {"language": target, "encoders": kind, "chance": 1 / tests[0][0].rows}
    series = []
    for layer in range(tests[0][0].layers):
        plain = [hits(test, layer, device) for test in tests]
        mapped = [hits(test, layer, device, fit) for test, fit in zip(tests, fits, strict=True)]
        for space, seeds in (("plain", plain), ("mapped", mapped)):
            for direction, found in zip(DIRECTIONS, zip(*seeds, strict=True), strict=True):
                series.append((about | {"direction": direction, "layer": layer, "space": space}, found))
    scores = summarise([found for _, found in series], *codes)
    return [own | score for (own, _), score in zip(series, scores, strict=True)]


def hits(test: Sequence[States], layer: int, device: str, fit: Sequence[States] = ()) -> tuple[Hits, Hits]:
    """Return which sentences are found in each direction, after mapping where there is a set to fit it on."""
    left, right = (side.read(layer) for side in test)
    if fit:
        left, right = map_pair(left, right, *(side.read(layer) for side in fit))
    return retrieval_hits(left, right, device)


def check_sets(test: Sequence[States], fit: Sequence[States]) -> None:
    """Refuse sides that do not belong together."""
    for left, right in (test, fit):
        check_parallel(left, right)
    if fit[0].layers != test[0].layers:
        raise InputError(fit[0].path, f"{fit[0].layers} layers, but {test[0].path} has {test[0].layers}")


def main() -> None:
    """Evaluate all languages and write the result."""
    parser = plan_parser(__doc__)
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    args = parser.parse_args()
    log, device = log_to_stderr(__name__), local_device(args.device).type
    plan = read_language_plan(args.plan, "fit", "test")
    records: list[Record] = []
    for target, about in plan["languages"].items():
        for kind in (TRAINED, UNTRAINED):
            found = evaluate(plan["source"], target, about, kind, device)
            best = max(found, key=lambda record: float(record["p1"]))
            log.info("%s %s: best P@1 %.3f at layer %d, %s", target, kind, *(best[k] for k in ("p1", "layer", "space")))
            records += found
    write_json(args.out, {"records": records, "config": args.config_hash})


if __name__ == "__main__":
    run(main)
