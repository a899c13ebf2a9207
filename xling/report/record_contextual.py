"""Collect the jobs of Figures 5 and 8 into records, each score beside its floor.

python -m xling.report.record_contextual --result en.mono.s1=a.json --result en.untrained.s1=b.json … \
    --hash en.mono.s1=H … --figure5 figure5.csv --figure8 figure8.csv

A floor is of the same kind as its score: monolingual encoders beside monolingual ones, one encoder with the vocabulary
of both languages beside such a one, and each shown in the same way, with a map or without.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling.align.contextual_scores import by_seed, pool
from xling.core.cli import named, named_paths
from xling.core.errors import InputError, XlingError, run
from xling.core.log import log_to_stderr
from xling.core.results import read_result
from xling.report.estimate import Estimate, in_points, seed_reach, with_seeds
from xling.report.records import BI_MLM, BI_MLM_ALIGN, MLM_ALIGN, ContextualScore, write_records

Result = Mapping[str, Any]
Found = dict[tuple[str, str, str, int], list[tuple[str, Any]]]
KEYS = ("untrained", "models", "source", "trainings")


def read_job(path: Path, config: str) -> Result:
    """Read a job's result, which must be of this configuration."""
    result: Result = read_result(path, config)
    if any(key not in result for key in KEYS):
        raise InputError(path, "not the result of a contextual transfer job", fix="run the job again")
    return result


def series_of(result: Result, way: str) -> str:
    """Return which curve a training belongs to: one model for both languages is the bilingual one."""
    if len(set(result["models"].values())) > 1:
        return MLM_ALIGN
    return BI_MLM_ALIGN if way == "aligned" else BI_MLM


def by_curve(results: Iterable[Result]) -> Found:
    """Return what every seed measured, by task, language, series and layer; the source language is in no figure."""
    found: Found = defaultdict(list)
    for result in results:
        for training in result["trainings"]:
            for code in (code for code in training["scores"] if code != result["source"]):
                key = (training["task"], code, series_of(result, training["way"]), training["layer"])
                found[key].append((training["way"], training["scores"][code]))
    return found


def seed_reaches(found: Found) -> dict[tuple[str, str], float]:
    """Return how far one seed may be off, by task and language, from all its curves and layers together."""
    columns: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for (task, code, *_), scores in found.items():
        columns[task, code].append(by_seed(task, [score for _, score in scores]))
    return {column: seed_reach(scores) for column, scores in columns.items()}


def records(results: Sequence[Result]) -> list[ContextualScore]:
    """Return every trained encoder's scores with their floors: the same series of untrained ones at the same layer."""
    trained = by_curve(result for result in results if not result["untrained"])
    untrained = by_curve(result for result in results if result["untrained"])
    reaches, made = seed_reaches(trained), []
    for (task, code, series, layer), found in trained.items():
        floor = untrained.get((task, code, series, layer))
        if floor is None:
            raise XlingError(f"{task} {code} layer {layer}: no untrained {series} beside it (run that job again)")
        # Means over seeds, with the interval of their test items.
        own, base = (pool(task, [score for _, score in one], one[0][0], code, layer) for one in (found, floor))
        items = Estimate(own["score"], own["low"], own["high"])
        ends = in_points(with_seeds(items, reaches[task, code], len(found)))
        made.append(ContextualScore(task, code, series, layer, own["score"], base["score"], *ends))
    return made


def main() -> None:
    """Write the records of both figures."""
    args = parse_args()
    results, hashes = named_paths(args.result, "--result", "JOB=FILE"), named(args.hash, "--hash", "JOB=HASH")
    if set(results) != set(hashes):
        raise XlingError("--result and --hash must name the same jobs")
    found = records([read_job(path, hashes[name]) for name, path in results.items()])
    for path, shown in ((args.figure5, (MLM_ALIGN, BI_MLM)), (args.figure8, (BI_MLM, BI_MLM_ALIGN))):
        own = sorted(
            (score for score in found if score.series in shown),
            key=lambda x: (x.task, x.language, shown.index(x.series), x.layer),
        )
        write_records(path, ContextualScore, own)
        log_to_stderr(__name__).info("%s: %d records", path, len(own))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--result", action="append", required=True, metavar="JOB=FILE")
    parser.add_argument("--hash", action="append", required=True, metavar="JOB=HASH", help="refuse any other")
    parser.add_argument("--figure5", type=Path, required=True)
    parser.add_argument("--figure8", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
